package catalog

import (
	"fmt"
	"strings"
	"testing"
)

// TestUnreadableValuesHideNoOtherMistake: a file is compiled in spite of them, and what
// only follows from them is not told. That takes a value of the same shape: where a list
// stands in the place of a text, they are told alone.
func TestUnreadableValuesHideNoOtherMistake(t *testing.T) {
	const group = "group: expected one of"
	file := strings.Replace(whole, "group: text", "group: fun", 1)
	for _, row := range []struct {
		from, to string
		want     []string
	}{
		{"ttl: 1h}", "ttl: 7y, mop: 1}", []string{`cache.ttl: duration "7y"`, "unknown key mop in cache", group}},
		{"ttl: 1h}", "ttl: }", []string{"cache.ttl: expected a duration", group}},
		{"min: 1, max: 9", "min: one, max: 9", []string{"params[0].min: expected a whole number", group}},
		{"type: int, min: 1, max: 9", "type: string, max_len: two", []string{"params[0].max_len: expected a whole number", group}},
		{"ttl: 1h}", "ttl: 1h, jitter: half}", []string{"cache.jitter: expected a number", group}},
		{"role: form,", "role: form, required: maybe,", []string{"params[1].required: expected true or false", group}},
		{"version: 1", "version: one", []string{"version: expected a whole number", group}},
		{"computed: {}", "timeout: soon\n    computed: {}", []string{"sources[0].timeout: duration", group}},
		{"name: json,", "name: [json],", []string{"forms[0].name: expected a text"}},
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
