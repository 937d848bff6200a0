package admin

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sundry/upstreams/lib/redact"
)

// TestPreviewsAreCutWithoutSecrets, at any place of a secret.
func TestPreviewsAreCutWithoutSecrets(t *testing.T) {
	const secret = "0123456789abcdefXY"
	hidden := redact.New(secret)
	for before := range len(secret) + 4 {
		body := strings.Repeat("x", maxPreview-before) + secret + " and more"
		for _, typ := range []string{"text/plain", "application/json"} {
			got := preview(typ, []byte(body), hidden)
			if text := fmt.Sprint(got["preview"]); strings.Contains(text, secret[:redact.SecretMin]) && before < len(secret) || got["cut"] != true {
				t.Errorf("%d bytes before the cut: …%s, %v", before, text[len(text)-30:], got["cut"])
			}
		}
	}
	if got := preview("text/plain", []byte("0123456"), hidden); got["preview"] != "0123456" || got["cut"] != false {
		t.Error(got)
	}
	var none *redact.Redactor
	long, _ := json.Marshal(strings.Repeat("x", maxPreview))
	if got := preview("application/json", long, none); got["preview"] != string(long[:maxPreview]) {
		t.Error("another beginning")
	}
}
