package redact

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestSecretsAreRedacted: in every form in which they can be read, and nothing
// else is.
func TestSecretsAreRedacted(t *testing.T) {
	const secret = `S3cr/t k&y"ö+=`
	r := New(secret, "0123456789ABCDEF0123456789ABCDEF", base64.StdEncoding.EncodeToString([]byte("9e107d9d372bb6826bd81d3542a419d6")))
	quoted, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	for name, shown := range map[string]string{
		"as it is": secret, "in small letters": strings.ToLower(secret), "in capitals": strings.ToUpper(secret[:11]) + secret[11:],
		"in a query": url.QueryEscape(secret), "in a path": url.PathEscape(secret), "escaped in small letters": strings.ToLower(url.QueryEscape(secret)),
		"escaped twice": url.QueryEscape(url.QueryEscape(secret)), "every byte escaped": escapeAll(secret), "as JSON": string(quoted), "quoted by Go": fmt.Sprintf("%q", secret),
		"JSON in a query":          url.QueryEscape(string(quoted)),
		"for basic authentication": base64.StdEncoding.EncodeToString([]byte("user:" + secret + "@x")), "its base64": base64.URLEncoding.EncodeToString([]byte(secret)),
		"a signature": "0123456789ABCDEF0123456789ABCDEF", "a signature in small letters": "0123456789abcdef0123456789abcdef",
		"what a signature is the base64 of": "9e107d9d372bb6826bd81d3542a419d6", "that, escaped": url.QueryEscape(base64.StdEncoding.EncodeToString([]byte("9e107d9d372bb6826bd81d3542a419d6"))),
	} {
		got := r.Text("before " + shown + " after")
		if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") || !strings.Contains(got, "***") || len(got) > len("before  after")+16 {
			t.Errorf("%s: %s became %s", name, shown, got)
		}
	}
	for _, harmless := range []string{"", "GET https://a.example/x?y=%E4%B8%AD&z=%", `{"a":"\u4e2d\\ %zz \x"}`, "***", "\xff\xfe", "s3cr"} {
		if got := r.Text(harmless); got != harmless {
			t.Errorf("%q became %q", harmless, got)
		}
	}
	var none *Redactor
	if none.Text("x") != "x" || none.Value(1) != 1 || !errors.Is(none.Err(io.EOF), io.EOF) {
		t.Error("a redactor without secrets changed something")
	}
}

func escapeAll(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, "%%%02x", c)
	}
	return b.String()
}

func TestValuesAreRedacted(t *testing.T) {
	r := New("31415926")
	in := map[string]any{"31415926": []any{"x31415926y", 31415926, 3.5, nil, true}, "n": map[string]any{"deep": "31415926"}}
	got, err := json.Marshal(r.Value(in))
	if want := `{"***":["x***y","***",3.5,null,true],"n":{"deep":"***"}}`; err != nil || string(got) != want {
		t.Errorf("%s %v, want %s", got, err, want)
	}
	if in["n"].(map[string]any)["deep"] != "31415926" {
		t.Error("the value itself was changed")
	}
}

// TestRedactionIsBounded: the time is proportional to the size of the text, even if
// it consists of escapes or of the secret.
func TestRedactionIsBounded(t *testing.T) {
	r := New("31415926", "signature")
	for name, piece := range map[string]string{"escapes": `%5c%75`, "the secret": "31415926", "nothing": "abcdefgh"} {
		start := time.Now()
		if r.Text(strings.Repeat(piece, (1<<20)/len(piece))); time.Since(start) > 5*time.Second {
			t.Errorf("%s: %v for a megabyte", name, time.Since(start))
		}
	}
}

// FuzzRedactor: whatever the text, the result contains no secret, and a text
// without one is not changed.
func FuzzRedactor(f *testing.F) {
	for _, s := range []string{"31415926", "%33%314%2531", `\u0033\u00311415926`, "%", `\`, `\u00`, "%zz", "\xff%ff", "3141592631415926"} {
		f.Add(s)
	}
	r := New("31415926")
	f.Fuzz(func(t *testing.T, s string) {
		got := r.Text(s)
		if strings.Contains(got, "31415926") {
			t.Errorf("%q became %q", s, got)
		}
		if got != s && !strings.Contains(got, "***") {
			t.Errorf("%q became %q", s, got)
		}
		if again := r.Text(got); strings.Count(again, "***") < strings.Count(got, "***") {
			t.Errorf("%q became %q, then %q", s, got, again)
		}
	})
}
