package redact

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
)

// TestCutSecretsAreRedacted: wherever a text was cut, no more than three bytes of a secret are shown.
func TestCutSecretsAreRedacted(t *testing.T) {
	r := New(unmixable)
	for name, shown := range encodings(unmixable) {
		text := "before " + shown
		for end := range len(shown) {
			cut := text[:len("before ")+end]
			for form, got := range map[string]string{
				"a beginning": r.Beginning(cut), "with an ellipsis": r.Text(cut + "…"), "with dots": r.Text(cut + "..."), "as jq has it": r.Text(cut + ` ..."`), "as JSON": r.Text(cut + `\u2026`),
			} {
				if shows(got, shown) {
					t.Errorf("%s, %s: %q became %q", name, form, cut, got)
				}
			}
		}
	}
}

// shows reports whether a text has five characters of an encoded secret, behind what base64 may have before it.
func shows(text, encoded string) bool {
	size := max(11, 5*((len(encoded)-1)/len(unmixable)+1)) // 11: more than line breaks
	for at := 8; at+size <= len(encoded); at++ {
		if strings.Contains(text, encoded[at:at+size]) {
			return true
		}
	}
	return strings.HasPrefix(text, "before "+unmixable[:SecretMin])
}

// TestWhatIsNotCutStays as it is: the beginning of a secret is none.
func TestWhatIsNotCutStays(t *testing.T) {
	r := New("31415926", "tested", "https://hook.example/0123456789abcdefXY")
	for text, want := range map[string]string{
		"3141592": "3141592", "3141592 x…": "3141592 x…", "314…": "314…", "3141…": "***…", "test": "test", "test…": "***…", "latest…": "latest…", "see https://hook.example/": "see https://hook.example/", "…": "…", "%3…": "%3…",
		"31415…926": "***…926", "3141592…31415926…3141": "***…***…3141",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{"": "", "3141": "***", "314": "314", "x31415926": "x***", "x%3": "x%3", "3141%3": "***%3"} {
		if got := r.Beginning(text); got != want {
			t.Errorf("the beginning %s became %s, want %s", text, got, want)
		}
	}
	if got := (*Redactor)(nil).Beginning("31415926"); got != "31415926" {
		t.Error(got)
	}
}

// TestErrorsAreCutWithoutSecrets, at any place of a secret.
func TestErrorsAreCutWithoutSecrets(t *testing.T) {
	const secret = "0123456789abcdefXY"
	r := New(secret)
	for before := range len(secret) + 2 {
		long := errors.New(strings.Repeat("x", ErrorTextMax-before) + secret + strings.Repeat("y", 100))
		if got := r.Err(long).Error(); strings.Contains(got, secret[:SecretMin]) || len(got) > ErrorTextMax+len("…") {
			t.Errorf("%d bytes before the cut: …%s", before, got[len(got)-40:])
		}
		for _, quoted := range []string{"%s", "%q"} {
			text := fmt.Sprintf("malformed "+quoted, strings.Repeat("x ", (longestQuoted-before)/2-5)+secret)
			if got := r.Err(WithoutQuotes(errors.New(text))).Error(); strings.Contains(got, secret[:SecretMin]) {
				t.Errorf("%d bytes before the cut: …%s", before, got[len(got)-40:])
			}
		}
	}
}

// TestPreviewsOfJQAreRedacted: the errors of programs have the beginning of a value.
func TestPreviewsOfJQAreRedacted(t *testing.T) {
	const secret = `0"123456789abcdefXY`
	r := New(secret)
	for before := range 30 {
		text := strings.Repeat("x", before) + secret + "and more than is shown"
		for _, v := range []any{text, []any{text}, map[string]any{"a": text}} {
			if got := r.Text(gojq.Preview(v)); strings.Contains(strings.ReplaceAll(got, `\`, ""), secret[:SecretMin]) {
				t.Error(got)
			}
		}
	}
}
