package upstreams

import (
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"sundry/upstreams/lib/charsets"
)

// Refusal is why a reply is no success: what the judge went by, and what the service said.
type Refusal struct {
	// Rule that decided, counted from 1; 0: the default table did.
	Rule int
	// Place is where the rule is declared: "line 7", or "joke/first.yaml:7".
	Place string
	// Said is the message in the reply, or the title of a page; "" for none.
	Said string
	// Page: the reply is a page for people.
	Page bool
	// Broken is why the reply could not be decoded; nil: it was.
	Broken error
	// Quiet means that the text has neither Said nor Broken.
	Quiet bool
}

func (r *Refusal) Error() string {
	var parts []string
	if r.Rule > 0 {
		parts = append(parts, fmt.Sprintf("judge[%d], %s", r.Rule, r.Place))
	}
	switch {
	case r.Quiet && r.Page:
		parts = append(parts, "a page")
	case r.Quiet && r.Broken != nil:
		parts = append(parts, "it cannot be decoded")
	case r.Quiet && r.Said != "":
		parts = append(parts, "its message is not shown, because the source has secrets")
	case r.Quiet:
	case r.Page:
		parts = append(parts, fmt.Sprintf("a page titled %q", r.Said))
	case r.Said != "":
		parts = append(parts, fmt.Sprintf("%q", r.Said))
	case r.Broken != nil:
		parts = append(parts, r.Broken.Error())
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns why the reply could not be decoded.
func (r *Refusal) Unwrap() error {
	if r.Quiet {
		return nil
	}
	return r.Broken
}

// ForBrowsers reports whether the page is one that only a person with a browser gets by: a
// challenge, or a login.
func (r *Refusal) ForBrowsers() bool { return r.Page && forBrowsers.MatchString(r.Said) }

var forBrowsers = regexp.MustCompile(`(?i)just a moment|attention required|access denied|checking your browser|ddos|captcha|verif|security check|log ?in|sign ?in|登录|登陆|验证|访问受限|安全检查`)

// longestSaid is how many runes of a message are kept, and longestHead how many bytes of a page are searched for its title.
const (
	longestSaid = 120
	longestHead = 64 << 10
)

// messageNames are the fields in which services say what is wrong, the best first.
var messageNames = [...]string{"message", "msg", "error_description", "errmsg", "errMsg", "error_msg", "error", "detail", "reason", "info", "tip"}

// said is the message of a reply; "" for none.
func said(body any) string {
	object, _ := body.(map[string]any)
	for _, name := range messageNames {
		switch v := object[name].(type) {
		case string:
			if text := strings.TrimSpace(v); text != "" {
				return Shorten(text, longestSaid)
			}
		case map[string]any:
			if text := said(v); text != "" {
				return text
			}
		}
	}
	return ""
}

// TitleOf is the title of an HTML page; page is false for another text.
func TitleOf(text []byte) (title string, page bool) {
	head := string(charsets.Readable(text[:min(len(text), longestHead)]))
	if len(text) > longestHead {
		head += "…" // before which a redactor finds the beginning of a secret
	}
	lower := strings.ToLower(head[:min(len(head), 1<<10)])
	if !strings.Contains(lower, "<html") && !strings.Contains(lower, "<!doctype html") && !strings.Contains(lower, "<head") {
		return "", false
	}
	z := html.NewTokenizer(strings.NewReader(head))
	for inTitle := false; ; {
		switch z.Next() {
		case html.ErrorToken:
			return "", true
		case html.StartTagToken:
			name, _ := z.TagName()
			inTitle = string(name) == "title"
		case html.TextToken:
			if text := strings.Join(strings.Fields(string(z.Text())), " "); inTitle && text != "" {
				return Shorten(text, longestSaid), true
			}
		}
	}
}
