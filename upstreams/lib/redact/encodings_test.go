package redact

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"
)

// unmixable is a secret that each encoding below changes.
const unmixable = `Zq7+/K-93=x&<4"w~P0Lv_8.y'tE2@a!\`

// TestEncodedSecretsAreRedacted in every encoding in which a server may echo them.
func TestEncodedSecretsAreRedacted(t *testing.T) {
	r := New(unmixable)
	for name, shown := range encodings(unmixable) {
		got := r.Text("before " + shown + " after")
		if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") || !strings.Contains(got, "***") || len(got) > len("before  after")+24 {
			t.Errorf("%s: %q became %q", name, shown, got)
		}
	}
}

// encodings are the forms of a secret by their names.
func encodings(secret string) map[string]string {
	all := map[string]string{
		"percent-encoded": url.QueryEscape(secret), "in small letters": lowerEscapes(url.QueryEscape(secret)), "every byte percent-encoded": escapeAll(secret),
		"for HTML": html.EscapeString(secret), "HTML in a query": url.QueryEscape(html.EscapeString(secret)),
		"every character as a number": each(secret, "&#%d;"), "in hexadecimal": each(secret, "&#x%x;"), "with zeros": each(secret, "&#X%06X;"),
		"by names":       strings.NewReplacer("+", "&plus;", "/", "&sol;", "=", "&equals;", "&", "&amp;", "<", "&lt;", `"`, "&quot;", "_", "&lowbar;", ".", "&period;", "'", "&apos;", "@", "&commat;", "!", "&excl;", `\`, "&bsol;").Replace(secret),
		"HTML in JSON":   strings.ReplaceAll(html.EscapeString(secret), `\`, `\\`),
		"as JSON of PHP": strings.NewReplacer(`\`, `\\`, "/", `\/`, `"`, `\"`).Replace(secret), "every character as JSON": each(secret, `\u%04x`), "in capitals": each(secret, `\u%04X`), "as bytes of JavaScript": each(secret, `\x%02x`),
		"with apostrophes": strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(secret), "in hexadecimal digits": hex.EncodeToString([]byte(secret)), "in large ones": strings.ToUpper(hex.EncodeToString([]byte(secret))),
	}
	for _, before := range []string{"", "a", "ab", "user:"} {
		for name, e := range map[string]*base64.Encoding{"base64": base64.StdEncoding, "base64 without padding": base64.RawStdEncoding, "base64 of URLs": base64.URLEncoding, "base64 of URLs without padding": base64.RawURLEncoding} {
			text := e.EncodeToString([]byte(before + secret))
			all[name+" behind "+before] = text
			for _, end := range []string{" ", "\n", "\r\n", "\r\n\t", `\n`, `\r\n`, "%0D%0A", "&#13;&#10;"} {
				all[fmt.Sprintf("%s behind %s in lines that end with %q", name, before, end)] = text[:20] + end + text[20:40] + end + text[40:]
			}
		}
	}
	return all
}

func each(s, format string) string {
	var b strings.Builder
	for _, c := range s {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

// lowerEscapes has the digits of percent-encoded bytes in lower case.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := range b {
		if b[i] == '%' {
			copy(b[i+1:], strings.ToLower(s[i+1:i+3]))
		}
	}
	return string(b)
}

// TestLongBase64IsRedacted: a secret in the middle of a MIME body, at any place of its lines of 76 characters.
func TestLongBase64IsRedacted(t *testing.T) {
	const secret = "k3y-of-an-operator-0123456789"
	r := New(secret)
	for before := range 60 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(".", before) + secret + strings.Repeat(".", 60)))
		var lines strings.Builder
		for ; len(text) > 76; text = text[76:] {
			lines.WriteString(text[:76] + "\r\n")
		}
		lines.WriteString(text)
		got := r.Text(lines.String())
		plain, err := base64.StdEncoding.DecodeString(strings.NewReplacer("\r\n", "", "***", "").Replace(got))
		if !strings.Contains(got, "***") || err == nil && strings.Contains(string(plain), secret[1:len(secret)-1]) {
			t.Errorf("behind %d bytes: %s", before, got)
		}
	}
}

// TestSecretsOfSeveralLinesAreRedacted, such as those of a PEM file, with other ends of lines and line by line.
func TestSecretsOfSeveralLinesAreRedacted(t *testing.T) {
	const secret = "-----BEGIN KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK\n1bbY8fdp+KxL5tcPc5Z8AqXZ\n-----END KEY-----\n"
	r := New(secret, "  blanks before it")
	for shown, want := range map[string]string{
		secret: "***", strings.ReplaceAll(secret, "\n", "\r\n"): "***", strings.ReplaceAll(secret, "\n", `\n`): "***", strings.ReplaceAll(secret, "\n", "\n    "): "***",
		strings.ReplaceAll(secret, "\n", " "): "***",
		"MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK":    "***", "a line\n1bbY8fdp+KxL5tcPc5Z8AqXZ\nand another": "a line\n***\nand another", "x:\n  blanks before it": "x:\n  ***",
	} {
		if got := strings.TrimSuffix(strings.TrimSpace(r.Text(shown)), `\n`); got != want {
			t.Errorf("%q became %q, want %q", shown, got, want)
		}
	}
}

// TestWhatIsNoEscapeStays as it is.
func TestWhatIsNoEscapeStays(t *testing.T) {
	r := New("test", "31415926")
	for text, want := range map[string]string{
		"a=1&test=2&copy=3": "a=1&***=2&copy=3", "&test;": "&***;", "&#;&#x;&#xzz;&;&": "&#;&#x;&#xzz;&;&", "lat\nest": "lat\nest", "la\n\ntest\n": "la\n\n***\n", "at test at": "at *** at", "lat est": "lat est", "3141 5926 7": "*** 7", "&amp;31415926&lt;": "&amp;***&lt;", "&#51;1415926&#": "***&#",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestEscapesAreRedactedWhole: what is left is not another escape.
func TestEscapesAreRedactedWhole(t *testing.T) {
	r := New("u0041bcdef", `abcdefgh\`, "25secret", "amp;secret")
	for text, want := range map[string]string{
		`\u0041bcdef`: "***", `"abcdefgh\"x`: `"***x`, "%25secret": "***", "&amp;secret": "***", `\\u0041bcdef`: `\\***`, `\u00e9 x`: `\u00e9 x`,
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}
