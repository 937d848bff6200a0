package admin

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"sundry/proxy/live"
)

// TestErrorsOfChangesAreInBothLanguages: those of a library are in English, and said to be.
func TestErrorsOfChangesAreInBothLanguages(t *testing.T) {
	a := &api{System: System{Replicator: newReplicator(t, &live.File{}), Log: slog.New(slog.DiscardHandler)}}
	dance := func(r *http.Request) (any, error) {
		return a.change(r, live.Change{Do: "dance", Target: "h"})
	}
	other := func(*http.Request) (any, error) { return nil, fmt.Errorf("draw: %w", errors.New("no ink")) }
	for _, row := range []struct {
		h              func(*http.Request) (any, error)
		language, want string
		status         int
	}{
		{dance, "en", `invalid change: unknown change \"dance\"`, http.StatusBadRequest},
		{dance, "zh", `更改有误（详情为英文）：unknown change \"dance\"`, http.StatusBadRequest},
		{other, "en", "draw: no ink", http.StatusInternalServerError},
		{other, "zh", "未预料的错误（详情为英文）：draw: no ink", http.StatusInternalServerError},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header.Set("Accept-Language", row.language)
		if a.serveJSON(row.h).ServeHTTP(w, r); w.Code != row.status || !strings.Contains(w.Body.String(), `"error":"`+row.want+`"`) {
			t.Errorf("%d %s, want %d %s", w.Code, w.Body, row.status, row.want)
		}
	}
}

var (
	inTwo = regexp.MustCompile("(?:badRequest\\(|words\\.Sayf?\\(|fieldError\\([^,]+, )(\"[^\"]*\"|`[^`]*`), (\"[^\"]*\"|`[^`]*`)")
	verbs = regexp.MustCompile(`%[.\d]*[a-z]`)
)

// TestErrorsSayTheSameInBothLanguages: with the same values, and in Chinese where
// there are words at all.
func TestErrorsSayTheSameInBothLanguages(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, m := range inTwo.FindAllStringSubmatch(string(source), -1) {
			said++
			if strings.Join(verbs.FindAllString(m[1], -1), "") != strings.Join(verbs.FindAllString(m[2], -1), "") || !strings.ContainsFunc(m[2], func(c rune) bool { return unicode.Is(unicode.Han, c) }) {
				t.Errorf("%s: %s and %s", name, m[1], m[2])
			}
		}
		if name != "errors.go" && name != "admin.go" && strings.Contains(string(source), "http.Error(") {
			t.Errorf("%s refuses a request in one language only", name)
		}
	}
	if said < 30 {
		t.Errorf("only %d texts were found", said)
	}
}
