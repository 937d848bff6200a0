package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestJSONStaysJSONOnScreens, whatever the secrets are.
func TestJSONStaysJSONOnScreens(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := (&process{stdout: &out, stderr: &out}).onScreens()
	w.hidden.Add("true", "31415926", `","b":`, "n271828182", `abcdefgh\`, "name", "null")
	shown := map[string]any{"name": "a name", "ok": true, "n": 31415926, "none": nil, "list": []string{"a", "b"}, "of": "x31415926", "text": "\n271828182", "quoted": `abcdefgh"`, "cut": `abcdefgh\`}
	if err := printJSON(w, shown); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got["name"] != "a ***" || got["ok"] != true || got["of"] != "x***" || got["quoted"] != `abcdefgh"` || got["cut"] != "***" {
		t.Errorf("%v %s", err, out.String())
	}
}
