package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/lib/costtest"
)

// TestPartsOfSecretsAreRedacted: an upstream may have taken them apart.
func TestPartsOfSecretsAreRedacted(t *testing.T) {
	basic := base64.StdEncoding.EncodeToString([]byte("user:p4ss"))
	for secret, parts := range map[string][]string{
		"redis://:p%40ss-word@10.0.0.1:6379/0":             {"p@ss-word", "p%40ss-word"},
		"socks5://user:p4ss@proxy.example:1080":            {"p4ss"},
		"https://t0ken-of-a-user@host.example/":            {"t0ken-of-a-user"},
		"https://hook.example/T0/0123456789abcdefXY?key=k": {"0123456789abcdefXY"},
		"kd=socks5://user:p4ss@proxy.example:1080":         {"p4ss"},
		"Basic " + basic:                      {basic, "user:p4ss", "p4ss"},
		"Bearer abcdefgh":                     {"abcdefgh"},
		"lang=en; session=0123456789abcdefXY": {"0123456789abcdefXY"},
	} {
		r := New(secret)
		for _, part := range append(parts, secret) {
			if got := r.Text("before " + part + " after"); strings.Contains(got, part) || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
				t.Errorf("%s: %s became %s", secret, part, got)
			}
		}
		for _, open := range []string{"10.0.0.1:6379", "proxy.example:1080", "host.example", "hook.example", "user", "Basic", "lang=en"} {
			if got := r.Text(open); got != open {
				t.Errorf("%s: %s became %s", secret, open, got)
			}
		}
	}
}

// TestShortSecretsHideLittle: as words of their own from four characters on, and inside of words from eight on.
func TestShortSecretsHideLittle(t *testing.T) {
	r := New("abc", "test", "production")
	for text, want := range map[string]string{
		"abc": "abc", "latest": "latest", "test": "***", "?a=test&b": "?a=***&b", "protests": "protests", "x-test_1": "x-***_1", "myproductions": "my***s", "%74est": "***",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

func TestSetsGrow(t *testing.T) {
	var s, none *Set = &Set{}, nil
	none.Add("31415926")
	if none.Text("31415926") != "31415926" || s.Text("31415926") != "31415926" || s.Redactor() != nil {
		t.Error("an empty set redacts something")
	}
	s.Add("31415926", "")
	s.Add("27182818")
	if got := s.Text("31415926 27182818 \x1b"); got != `*** *** \u001b` {
		t.Error(got)
	}
}

func TestJSONStaysJSON(t *testing.T) {
	s := &Set{}
	s.Add("31415926", `a"b\c,"d":`, "null")
	for document, want := range map[string]string{
		`{"a":"31415926","31415926":31415926,"n":null,"s":"null","t":"x\u001by"}`: `{"a":"***","***":31415926,"n":null,"s":"***","t":"x\u001by"}`,
		`["a\"b\\c,\"d\":","` + "\u009b\u202e\x7f" + `"]`:                         `["***","\u009b\u202e\u007f"]`,
		`"31415926\\"`: `"***\\"`,
		``:             ``, `"31415926`: `"***`, `"\`: `"\`,
	} {
		if got := string(s.JSON([]byte(document))); got != want {
			t.Errorf("%s became %s, want %s", document, got, want)
		}
	}
}

func FuzzJSON(f *testing.F) {
	s := &Set{}
	s.Add("31415926", `q"u\o`, "null", "true")
	for _, text := range []string{"31415926", `q"u\o`, "\x1b\u009b\u202e\xff", `\`, `"`, "null"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		document, err := json.Marshal(map[string]any{text: []any{text, nil, true, 31415926}})
		if err != nil {
			t.Fatal(err)
		}
		got := s.JSON(document)
		if !json.Valid(got) || bytes.Contains(got, []byte(`"31415926"`)) || !isPrintable(string(got)) {
			t.Errorf("%s became %s", document, got)
		}
	})
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain\ttext\n": "plain\ttext\n", "天气 ☂ é 👩‍💻": "天气 ☂ é 👩‍💻", "a\x1b[31mb": `a\u001b[31mb`, "\x00\x07\x7f\u009b": `\u0000\u0007\u007f\u009b`,
		"a\u202eb\u2066\u200f\u061c": `a\u202eb\u2066\u200f\u061c`, "a\r\nb\rc": "a\nb" + `\u000dc`, "a\xff\x9bb": "a\ufffd\ufffdb", "\u2028": `\u2028`,
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestErrorsQuoteNothing of what a peer has sent; errors.Is finds the same.
func TestErrorsQuoteNothing(t *testing.T) {
	for text, want := range map[string]string{
		"connection refused":                                       "connection refused",
		`malformed HTTP response "a\"b" and "c"`:                   `malformed HTTP response "…" and "…"`,
		`x: malformed MIME header line: no quotes, session=secret`: `x: malformed MIME header`,
		`malformed MIME header: missing colon: "secret"`:           `malformed MIME header`,
		"a quote \"with\\\na secret\" in it":                       `a quote "…" in it`,
		`an open quote "secret`:                                    `an open quote "…"`, `an open quote "secret\`: `an open quote "…"`,
	} {
		err := fmt.Errorf("%s%w", text, io.EOF)
		if got := WithoutQuotes(err); !strings.HasPrefix(got.Error(), want) || strings.Contains(got.Error(), "secret") || !errors.Is(got, io.EOF) {
			t.Errorf("%s became %s, want %s", err, got, want)
		}
	}
	if WithoutQuotes(nil) != nil {
		t.Error("no error became one")
	}
}

// TestLogLinesAreRedacted, whatever their attributes are.
func TestLogLinesAreRedacted(t *testing.T) {
	s := &Set{}
	s.Add("31415926")
	var b bytes.Buffer
	log := slog.New(NewHandler(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}), s))
	log.With("with", "31415926").WithGroup("g").Info("of 31415926", "text", "x31415926y", "error", fmt.Errorf("bad: %w", errors.New("31415926")), "list", []string{"31415926"},
		"n", 31415926, "took", time.Second, slog.Group("in", "a", "31415926\x1b"), "nothing", nil)
	want := `level=INFO msg="of ***" with=*** g.text=x***y g.error="bad: ***" g.list=[***] g.n=31415926 g.took=1s g.in.a=***\u001b g.nothing=<nil>` + "\n"
	if got := b.String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestHeadersAreRedacted(t *testing.T) {
	h := http.Header{"Location": {"/a?key=31415926", "b"}, "Content-Length": {"31415926"}}
	New("31415926").Header(h)
	if h["Location"][0] != "/a?key=***" || h["Location"][1] != "b" || h["Content-Length"][0] != "31415926" {
		t.Error(h)
	}
	(*Redactor)(nil).Header(h)
}

func TestCredentialsOfURLs(t *testing.T) {
	for uri, want := range map[string]string{
		"/a": "/a", "/a?": "/a?", "/a?page=2&Token=x&api_key=y&x-amz-signature=z&keyword=w&%74oken=v&token=": "/a?page=2&Token=***&api_key=***&x-amz-signature=***&keyword=w&%74oken=***&token=", "/a?x=1&x=1": "/a?x=1&x=1",
	} {
		if got := Query(uri); got != want {
			t.Errorf("%s became %s, want %s", uri, got, want)
		}
	}
	for address, want := range map[string]string{
		"http://a/b": "http://a/b", "http://user:p4ss@a/b?key=abcd": "http://user:***@a/b?key=***", "user:p4ss@a": "user:***@a", "http://a/?b=c@d": "http://a/?b=c@d", "http://user:p@ss@a:99999": "http://user:***@a:99999",
		"http://t0ken@a": "http://***@a", "http://u:p@a": "http://u:p@a",
	} {
		if got := Address(address); got != want {
			t.Errorf("%s became %s, want %s", address, got, want)
		}
	}
	costtest.Linear(t, func(text string) { Query("?" + strings.Repeat("key=a&", len(text)/6)) })
}
