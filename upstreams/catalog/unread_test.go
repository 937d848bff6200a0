package catalog

import (
	"fmt"
	"strings"
	"testing"
)

// TestUnreadableValuesAreToldAlone: all of them, in one go. What compiling finds is told once they can be read.
func TestUnreadableValuesAreToldAlone(t *testing.T) {
	file := strings.Replace(whole, "group: text", "group: fun", 1)
	for _, row := range []struct {
		from, to string
		want     []string
	}{
		{"ttl: 1h}", "ttl: 7y, jitter: half, mop: 1}", []string{`cache.ttl: duration "7y"`, "cache.jitter: expected a number", "unknown key mop in cache"}},
		{"ttl: 1h}", "ttl: }", []string{"cache.ttl: expected a duration"}},
		{"computed: {}", "timeout: soon\n    computed: {}", []string{"sources[0].timeout: duration"}},
		{"name: json,", "name: [json],", []string{"forms[0].name: expected a text"}},
		{"ttl: 1h}", "ttl: 1h, mop: 1}", []string{"unknown key mop in cache", "group: expected one of"}},
	} {
		text := strings.Replace(file, row.from, row.to, 1)
		if text == file {
			t.Fatalf("the file has no %s", row.from)
		}
		_, err := loadText(t, text)
		for _, want := range row.want {
			if !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%s: no %q in\n%v", row.to, want, err)
			}
		}
		if got := strings.Count(fmt.Sprint(err), "\n") + 1; got != len(row.want) {
			t.Errorf("%s: %d mistakes, want %d:\n%v", row.to, got, len(row.want), err)
		}
	}
}

// TestAMisspeltKeyIsReadAsWhatIsMeant: nothing is told that only follows from it. Of a key that resembles none, it is told
// before what may follow.
func TestAMisspeltKeyIsReadAsWhatIsMeant(t *testing.T) {
	file := strings.NewReplacer("role: form,", "role: form, as: {x: text, js: json},", "example: text", "example: x").Replace(whole)
	for _, row := range []struct {
		from, to, first string
		alone           bool
	}{
		{"\nversion:", "\nvresion:", "unknown key vresion; did you mean version?", true},
		{"\nname:", "\nnme:", "unknown key nme; did you mean name?", true},
		{"\ngroup:", "\ngruop:", "unknown key gruop; did you mean group?", true},
		{"\nparams:", "\nparms:", "unknown key parms; did you mean params?", true},
		{"\ncache:", "\ncahce:", "unknown key cahce; did you mean cache?", true},
		{"\nforms:", "\nfomrs:", "unknown key fomrs; did you mean forms?", true},
		{"\nsources:", "\nsoruces:", "unknown key soruces; did you mean sources?", true},
		{"{name: text, text: ", "{nam: text, text: ", "unknown key nam in forms[1]; did you mean name?", true},
		{"type: int, min: 1", "typ: int, min: 1", "unknown key typ in params[0]; did you mean type?", true},
		{"\nforms:", "\nanswers:", "unknown key answers; expected one of version, ", false},
		{"forms:\n", "fomrs:\n  - {name: json, json: .}\nforms:\n", "unknown key fomrs; did you mean forms?", true},
		{"as: {x: text, js: json}", "as: {}", "param type: example \"x\" is not allowed; expected one of json, text", true},
		{"as: {x: text, js: json}", "as: {x: txt}", "param type: as: x: expected one of the forms json, text, got \"txt\"", true},
	} {
		text := strings.TrimPrefix(strings.Replace("\n"+file, row.from, row.to, 1), "\n")
		if text == file {
			t.Fatalf("the file has no %s", row.from)
		}
		_, err := loadText(t, text)
		mistakes := strings.Split(fmt.Sprint(err), "\n")
		if !strings.Contains(mistakes[0], row.first) || row.alone && len(mistakes) > 1 {
			t.Errorf("%q: want %q first, alone: %v, got\n%v", row.to, row.first, row.alone, err)
		}
		for _, line := range mistakes {
			if strings.HasSuffix(line, "expected one of ") || strings.Contains(line, "forms ,") {
				t.Errorf("%q: nothing is expected: %s", row.to, line)
			}
		}
	}
}
