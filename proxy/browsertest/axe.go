package browsertest

import (
	"os"
	"path/filepath"
	"testing"

	"sundry/upstreams/lib/peertest"
)

// violation is a rule of axe that the page breaks, with the places.
type violation struct {
	Rule  string   `json:"rule"`
	Help  string   `json:"help"`
	Where []string `json:"where"`
}

// runAxe reports what is wrong in few words. Evaluated by the debugger, it needs no leave
// of the page's Content-Security-Policy.
const runAxe = `axe.run(document, {resultTypes: ["violations"], rules: {"target-size": {enabled: true}}}).then(found => found.violations.map(v => ({
	rule: v.id, help: v.help, where: v.nodes.map(n => n.html.slice(0, 200) + " " + (n.any[0] ?? n.all[0] ?? n.none[0])?.message)
})))`

// Axe holds the page as it is now against axe, the accessibility checker. It is skipped
// where the npm package axe-core is missing; see package peertest.
func (b *Browser) Axe(t testing.TB) {
	t.Helper()
	_, folder := peertest.Module(t, "axe-core")
	script, err := os.ReadFile(filepath.Join(folder, "axe-core", "axe.min.js")) //nolint:gosec // the tests' own folder
	if err != nil {
		t.Fatal(err)
	}
	if !b.Is(t, "window.axe") {
		Value[any](t, b, string(script)+"; null")
	}
	for _, v := range Value[[]violation](t, b, runAxe) {
		t.Errorf("axe: %s (%s): %q", v.Rule, v.Help, v.Where)
	}
}

// AxeInEveryLook holds the page against axe on wide and narrow screens, light and dark,
// and sees to it that nothing is wider than the screen.
func (b *Browser) AxeInEveryLook(t testing.TB) {
	t.Helper()
	for _, look := range Looks() {
		b.As(t, look)
		b.Axe(t)
		if b.Is(t, "document.documentElement.scrollWidth > innerWidth") {
			t.Errorf("the page is wider than the screen of %d pixels", look.Width)
		}
	}
}
