package redact

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// TestMatchesAcrossEscapesLeaveJSON: what is in a JSON document is searched as its readers decode it.
func TestMatchesAcrossEscapesLeaveJSON(t *testing.T) {
	s := &Set{}
	s.Add("u0041bcdef", `abcdefgh\`, `q"r"s\t`, "n31415926", `","x":`, "\\u0033secret", "\u0099control", "status")
	for document, want := range map[string]string{
		`["\u0041bcdef"]`:             `["\u0041bcdef"]`, // which is Abcdef
		`["\\u0041bcdef"]`:            `["***"]`,
		`["abcdefgh\"x"]`:             `["abcdefgh\"x"]`,
		`["abcdefgh\\","y"]`:          `["***","y"]`,
		`["q\u0022r\"s\\t"]`:          `["***"]`,
		`["\n31415926","b"]`:          `["\n31415926","b"]`,
		`["x","x":1]`:                 `["x","x":1]`,
		`["\",\"x\":"]`:               `["***"]`,
		`["\\u0033secret"]`:           `["***"]`,
		"[\"\u0099control<&\u009b\"]": `["***<&\u009b"]`,
		`{"status":"status of status","Status":1,"n31415926":2}`: `{"status":"*** of ***","***":1,"***":2}`,
		`["\ud83d\ude00 status \ud83d"]`:                         "[\"\U0001F600 *** \uFFFD\"]",
	} {
		if got := string(s.JSON([]byte(document))); got != want {
			t.Errorf("%s became %s, want %s", document, got, want)
		}
	}
}

// FuzzJSONStaysValid: of any valid document, the result is valid, the same but for secrets, and contains none that a reader can decode.
func FuzzJSONStaysValid(f *testing.F) {
	secrets := []string{"31415926", "u0041bcdef", `abcdefgh\`, `q"r"s\tuv`, `","x":12`, "\\u0033secret"}
	for _, text := range append(secrets, `\u0041bcdef`, `\`, "\x1b\u009b\xff", `"`) {
		quoted, _ := json.Marshal(map[string]any{text: []any{text, 1, nil, "x" + text + "y"}})
		f.Add(quoted)
	}
	f.Add([]byte(`["\u0041bcdef","abcdefgh\"x","\n31415926",{"\ud83d":31415926}]`))
	s := &Set{}
	s.Add(secrets...)
	f.Fuzz(func(t *testing.T, document []byte) {
		var before, after any
		if json.Unmarshal(document, &before) != nil {
			return
		}
		got := s.JSON(document)
		if err := json.Unmarshal(got, &after); err != nil || !isPrintable(strings.ReplaceAll(string(got), "\r", "")) { // between values, CR is a blank
			t.Fatalf("%s became %s: %v", document, got, err)
		}
		eachText(after, func(text string) {
			for _, secret := range secrets {
				if strings.Contains(text, secret) {
					t.Errorf("%s became %s", document, got)
				}
			}
		})
		if bytes.Count(got, []byte("***")) == 0 {
			one, _ := json.Marshal(before)
			if other, _ := json.Marshal(after); !bytes.Equal(one, other) {
				t.Errorf("%s became %s", document, got)
			}
		}
	})
}

// eachText calls f with each text of a JSON value, and with the names of fields.
func eachText(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, e := range v {
			eachText(e, f)
		}
	case map[string]any:
		for name, e := range v {
			f(name)
			eachText(e, f)
		}
	}
}
