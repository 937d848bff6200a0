package proxy

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestErrorBodies: whatever a message holds, a JSON decoder reads the same.
func TestErrorBodies(t *testing.T) {
	for _, text := range []string{
		"", "plain", `"quoted" \ and / <b>&`, "line\nand\ttab\x00\x1f\x7f", "中文 \U0001F600", "ends\u2028with\u2029", "not UTF-8: \xff\xe2", "\xe2\x80", "\ufffd",
	} {
		var doc struct {
			Code    int
			Message string
			Error   struct {
				Type      string
				Parameter *string
				RequestID string `json:"request_id"`
			}
		}
		f := &failure{status: 400, errorType: typeInvalid, parameter: text}
		b := f.appendJSON(nil, text, "some-id")
		want := strings.ToValidUTF8(text, "\ufffd")
		if err := json.Unmarshal(b, &doc); err != nil || doc.Code != 400 || doc.Message != want || doc.Error.Type != typeInvalid || doc.Error.RequestID != "some-id" {
			t.Errorf("%q: %s: %v", text, b, err)
		}
		if doc.Error.Parameter == nil != (text == "") || text != "" && *doc.Error.Parameter != want {
			t.Errorf("%q: parameter in %s", text, b)
		}
		if strings.ContainsAny(string(b), "\u2028\u2029\n") {
			t.Errorf("%q breaks the line of a script", b)
		}
	}
}
