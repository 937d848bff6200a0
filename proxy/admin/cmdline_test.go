package admin

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestCommandLineShowsNoValues: a flag may hold a password.
func TestCommandLineShowsNoValues(t *testing.T) {
	const url = "redis://:s3cret@redis.example:6379/0"
	for name, row := range map[string]struct {
		args []string
		want string
	}{
		"after a space":   {[]string{"/usr/bin/sundry", "serve", "--redis", url}, "sundry *** --redis ***"},
		"after an equals": {[]string{"sundry", "serve", "--redis=" + url, "--replay"}, "sundry *** --redis=*** --replay"},
		"of one letter":   {[]string{"sundry", "-r" + url, "-r", url, "-r=" + url}, "sundry -r=*** -r *** -r=***"},
		"after the flags": {[]string{"sundry", "--", "--s3cret", url}, "sundry -- *** ***"},
		"none":            {nil, ""},
	} {
		if got := strings.Join(redactArgs(row.args), " "); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

// TestCommandLineIsServedWithoutValues, by the listener too: those of this test have
// some.
func TestCommandLineIsServedWithoutValues(t *testing.T) {
	w := get(handler(""), "/debug/pprof/cmdline", "")
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), ".test\x00-t=***") {
		t.Errorf("%d %q", w.Code, w.Body)
	}
	for _, arg := range os.Args[1:] {
		if _, value, ok := strings.Cut(arg, "="); ok && len(value) > 3 && strings.Contains(w.Body.String(), value) {
			t.Errorf("%s is shown: %q", arg, w.Body)
		}
	}
}
