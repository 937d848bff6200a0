package pages

import (
	"html"
	"strings"
	"testing"

	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
)

// TestAnAnswerOfEachForm that can be read is on the page of its endpoint, that of the default
// form open.
func TestAnAnswerOfEachForm(t *testing.T) {
	eachReference(t, func(t *testing.T, e *catalog.Endpoint, l i18n.Language, text string) {
		t.Helper()
		readable := 0
		for i, f := range e.Forms {
			if f.Kind != "json" && f.Kind != "text" && f.Kind != "markdown" {
				continue
			}
			readable++
			query := ""
			if i > 0 {
				query = " <code>" + html.EscapeString(queryFor(e, f)) + "</code>"
			}
			title := "<summary>" + l.Say("A response: ", "返回示例：") + l.Of(apidoc.FormOf(f).Is) + query + "</summary>\n"
			_, after, found := strings.Cut(text, title)
			body, _, _ := strings.Cut(after, "</code></pre>")
			_, shown, _ := strings.Cut(body, "<code")
			if !found || len(shown) < len(">x") {
				t.Errorf("no answer of the form %s: %q", f.Name, shown)
			}
		}
		if n := strings.Count(text, "<details open>\n<summary>"); n != min(readable, 1) {
			t.Errorf("%d answers are open, of %d", n, readable)
		}
	})
}
