package browsertest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

const sound = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Sound</title><link rel="icon" href="data:,"></head><body><main><h1>Sound</h1><p id="lang">%s</p></main></body></html>`

// site serves a sound page at / and an unsound one at /unsound.
func site(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; img-src data:")
		w.Header().Set("Content-Type", "text/html")
		body := strings.Replace(sound, "%s", r.Header.Get("Accept-Language"), 1)
		if r.URL.Path == "/unsound" {
			body = strings.Replace(body, "</main>", `</main><script>document.title = "taken"</script><img src="http://elsewhere.example/x.png" width="3000" height="1">`, 1)
		}
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestBrowser(t *testing.T) {
	home := site(t)
	b := Open(t, home)
	b.Prefers(t, "zh-CN,zh;q=0.9")
	b.Goto(t, home)
	b.Text(t, "#lang", "zh-CN")
	b.AxeInEveryLook(t)
	b.Sound(t)
	if n := b.Requests(home); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// A page that gives way to another while it is asked has not answered, and nothing is wrong.
func TestAPageThatNavigates(t *testing.T) {
	home := site(t)
	b := Open(t, home)
	b.Goto(t, home)
	if _, err := evaluate[bool](b, `new Promise(() => { location.pathname = "/next" })`); !navigates(err) {
		t.Errorf("%v", err)
	}
	b.Until(t, `location.pathname === "/next"`)
	if _, err := evaluate[bool](b, `nothing.there`); err == nil || navigates(err) {
		t.Errorf("of a mistake: %v", err)
	}
}

// What is wrong with a page is noticed: else no test that asks would mean anything.
func TestBrowserNotesProblems(t *testing.T) {
	home := site(t)
	b := Open(t, home)
	b.Goto(t, home+"/unsound")
	for _, want := range []string{"elsewhere.example", "Content Security Policy"} {
		if !slices.ContainsFunc(b.problems, func(p string) bool { return strings.Contains(p, want) }) {
			t.Errorf("%q does not stand in %q", want, b.problems)
		}
	}
	b.Forgive("elsewhere.example")
	b.Forgive("Content Security Policy")
	b.Sound(t)
	found := &recorder{TB: t}
	b.Axe(found)
	if len(found.errors) == 0 {
		t.Error("axe does not mind an image without a text")
	}
	ValidHTML(found, map[string]string{"unsound": "<p><div></p>"})
	if len(found.errors) < 2 {
		t.Error("html-validate does not mind a div in a p")
	}
	ValidHTML(t, map[string]string{"sound": sound})
}

// recorder is a test whose errors do not count.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Errorf(format string, _ ...any) { r.errors = append(r.errors, format) }
func (r *recorder) Helper()                        {}
