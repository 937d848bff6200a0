package admin

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"mime"
	"strings"
	"unicode/utf8"

	"sundry/upstreams/lib/redact"
)

// Bounds of what is shown of a body, in bytes.
const (
	maxPreview        = 32 << 10
	maxPicturePreview = 2 << 20
	maxIndented       = 256 << 10 // of JSON that is indented to be shown
)

// preview shows a body: the beginning of a text, JSON indented, a picture as base64.
// "cut" says that there is more, and hidden redacts what the cut may have divided; without "preview" and "picture" it cannot be shown.
func preview(contentType string, body []byte, hidden *redact.Redactor) map[string]any {
	typ, _, _ := mime.ParseMediaType(contentType)
	if strings.HasPrefix(typ, "image/") && len(body) <= maxPicturePreview {
		return map[string]any{"picture": base64.StdEncoding.EncodeToString(body)}
	}
	if typ == "application/json" && len(body) <= maxIndented {
		body = indented(body)
	}
	if text, ok := beginning(body, maxPreview); ok {
		if len(text) < len(body) {
			return map[string]any{"preview": hidden.Beginning(text), "cut": true}
		}
		return map[string]any{"preview": text, "cut": false}
	}
	return nil
}

// indented is JSON for people, with its numbers and texts as they are; what is not JSON
// stays the same.
func indented(body []byte) []byte {
	var out bytes.Buffer
	if json.Indent(&out, body, "", "  ") != nil {
		return body
	}
	return out.Bytes()
}

// beginning is the first bytes of a text, up to a whole character; false: it is no text.
func beginning(body []byte, most int) (string, bool) {
	head := body[:min(len(body), most)]
	for cut := 0; len(head) < len(body) && cut < utf8.UTFMax && !utf8.Valid(head); cut++ {
		head = head[:len(head)-1]
	}
	return string(head), utf8.Valid(head)
}
