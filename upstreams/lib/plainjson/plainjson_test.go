package plainjson

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestMarshal(t *testing.T) {
	v := map[string]any{"b": "<a href=\"x\">&</a>", "a": []any{"中文\u2028\n", 1.5, nil}}
	const line = `{"a":["中文\u2028\n",1.5,null],"b":"<a href=\"x\">&</a>"}`
	if got, err := Marshal(v); err != nil || string(got) != line {
		t.Errorf("%s %v", got, err)
	}
	const indented = "{\n  \"a\": [\n    \"中文\\u2028\\n\",\n    1.5,\n    null\n  ],\n  \"b\": \"<a href=\\\"x\\\">&</a>\"\n}\n"
	if got, err := MarshalIndent(v); err != nil || string(got) != indented {
		t.Errorf("%s %v", got, err)
	}
	for name, marshal := range map[string]func(any) ([]byte, error){"Marshal": Marshal, "MarshalIndent": MarshalIndent} {
		if got, err := marshal(func() {}); err == nil || len(got) > 0 {
			t.Errorf("%s of a function: %q, %v", name, got, err)
		}
	}
}

func FuzzAppendString(f *testing.F) {
	f.Add("plain")
	f.Add("\xe2\x80\xa8\"\\")
	f.Fuzz(func(t *testing.T, text string) {
		var back string
		if err := json.Unmarshal(AppendString(nil, text), &back); err != nil || back != strings.ToValidUTF8(text, "\ufffd") && !strings.Contains(back, "\ufffd") {
			t.Errorf("%q: %q %v", text, back, err)
		}
	})
}
