package proxy

import (
	"net/http"
	"strings"
	"testing"
)

// scripted is an endpoint whose script form writes what the source says.
func scripted(source *fake) string {
	return strings.NewReplacer(
		"  - {name: goto, ", "  - {name: js, script: .v}\n  - {name: md, markdown: '\"# \" + .v'}\n  - {name: goto, ",
		"role: form, example: text}", "role: form, example: text}\n  - {name: select, role: selector, default: .quote, example: '#quote'}",
	).Replace(simple("ttl: 1h", source))
}

// The text of a source cannot end the script that it is written into, or an element
// around that; nor can the caller's selector.
func TestAScriptFormWritesTextIntoThePage(t *testing.T) {
	f := newFront(t, map[string]string{"simple": scripted(newFake(t, `{"v":"a \"b\"</script>\\\u2028 c"}`))})
	got := f.get("/api/simple?type=js")
	got.want(t, http.StatusOK, `document.querySelector(".quote")`, `(function(text){`, `("a \"b\"\u003c/script\u003e\\\u2028 c");`)
	got.header(t, "Content-Type", "text/javascript; charset=utf-8")
	got.header(t, "X-Content-Type-Options", "nosniff")
	f.get("/api/simple?type=js&select=%23a+%3E+b%5Bc%3D%22d%22%5D").want(t, http.StatusOK, `document.querySelector("#a \u003e b[c=\"d\"]")`)
	for _, bad := range []string{"%3Cscript%3E", "a%5C", "a%0Ab", "%E2%80%A8", "%22);alert(1)//", strings.Repeat("a", 65)} {
		f.get("/api/simple?type=js&select="+bad).want(t, http.StatusBadRequest, `"parameter":"select"`)
	}
	f.get("/api/simple?type=text&select=%23a").want(t, http.StatusOK, "a \"b\"</script>")
}

func TestAMarkdownForm(t *testing.T) {
	f := newFront(t, map[string]string{"simple": scripted(newFake(t, `{"v":"title"}`))})
	got := f.get("/api/simple?type=md")
	got.header(t, "Content-Type", "text/markdown; charset=utf-8")
	if got.body != "# title\n" {
		t.Errorf("%q", got.body)
	}
}
