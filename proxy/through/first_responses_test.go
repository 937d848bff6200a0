package through

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// firstWorld serves an origin that sets its response header by fields in the query, such as ?Cache-Control=no-store, and has the status of
// its path. logged returns the log.
func firstWorld(t *testing.T, change ...func(*Settings)) (s *world, logged func() string) {
	t.Helper()
	s = newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		for name, values := range r.URL.Query() {
			w.Header()[http.CanonicalHeaderKey(name)] = values
		}
		status := http.StatusOK
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.WriteHeader(status)
		if status != http.StatusNotModified {
			fmt.Fprint(w, "body")
		}
	}, change...)
	var log bytes.Buffer
	s.h.log = slog.New(slog.NewTextHandler(&log, nil))
	return s, func() string {
		synctest.Wait()
		return log.String()
	}
}

// TestNoneOfTheFirstResponsesIsStored: the twentieth response that tells why brings one line, until one is stored.
func TestNoneOfTheFirstResponsesIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, logged := firstWorld(t)
		for range 19 {
			s.get("/200")
		}
		for _, odd := range [][]string{
			{"/200?Content-Length=9"}, {"/404"}, {"/500?Cache-Control=max-age%3D60"}, {"/404?Cache-Control=max-age%3D60"}, {"/304"}, {"/429"},
			{"/206?Content-Range=bytes+0-3%2F9", "Range: bytes=0-3"}, {"/200?a=1&Cache-Control=max-age%3D60", "Cache-Control: no-store"},
		} {
			s.get(odd[0], odd[1:]...)
		}
		for _, method := range []string{http.MethodHead, http.MethodPost, http.MethodOptions} {
			s.ask(method, "/200?b", "")
		}
		s.get("/200?c", "If-Match: x")
		if log := logged(); log != "" || !s.h.Unstored().IsZero() {
			t.Fatalf("after 19 responses: %s", log)
		}
		for range 30 {
			s.get("/200?private")
		}
		log := logged()
		if strings.Count(log, "\n") != 1 || !strings.Contains(log, `level=WARN msg="none of the first responses of an API could be stored" api=test responses=20 cause="the API says neither Cache-Control nor Last-Modified`) || !strings.Contains(log, "--ttl 1m") {
			t.Error(log)
		}
		line := s.h.Unstored()
		if !strings.HasPrefix(line.EN(), "none of its first 20 responses could be stored: the API says neither") || !strings.HasPrefix(line.ZH(), "最初的 20 个响应都未能缓存：API ") {
			t.Error(line.EN(), line.ZH())
		}
		s.get("/404?d&Cache-Control=max-age%3D60")
		if synctest.Wait(); s.h.Unstored().IsZero() {
			t.Error("a stored error has ended it")
		}
		s.get("/200?e&Cache-Control=max-age%3D60")
		synctest.Wait()
		if line := s.h.Unstored(); !line.IsZero() {
			t.Error(line.EN())
		}
		for range 30 {
			s.get("/200")
		}
		if logged() != log || !s.h.Unstored().IsZero() {
			t.Errorf("it is back: %s", logged())
		}
	})
}

// TestTheTwentiethIsStored: then there is nothing to say, and never again.
func TestTheTwentiethIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, logged := firstWorld(t)
		for range 19 {
			s.get("/200")
		}
		s.get("/200?Cache-Control=max-age%3D60")
		for range 30 {
			s.get("/200")
		}
		if log := logged(); log != "" || !s.h.Unstored().IsZero() {
			t.Error(log)
		}
	})
}

// TestWhyNoneIsStored: the most frequent cause is named, also one of bodies that are too large, with a length or without.
func TestWhyNoneIsStored(t *testing.T) {
	for _, row := range []struct {
		less, more string
		fields     []string
		body       int64
		cause      string
	}{
		{"/200", "/200?Cache-Control=private", nil, 1 << 20, "says private"},
		{"/200?Cache-Control=private", "/200", []string{"Cookie: a=b"}, 1 << 20, "this alone is not enough"},
		{"/200?Cache-Control=private", "/200?Last-Modified=Mon,+23+Nov+2020+12:00:00+GMT", []string{"Cookie: a=b"}, 1 << 20, "credentials: shared"},
		{"/200", "/200?Cache-Control=max-age%3D60", nil, 2, "larger than cache: body"},
		{"/200", "/200?Cache-Control=max-age%3D60&Trailer=X", nil, 2, "larger than cache: body"},
		{"/200", "/302", nil, 1 << 20, "status 302"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, logged := firstWorld(t, func(s *Settings) { s.Most = row.body })
			for range 9 {
				s.get(row.less)
			}
			for range 11 {
				s.get(row.more, row.fields...)
			}
			if log := logged(); !strings.Contains(log, row.cause) {
				t.Errorf("%s: %q", row.more, log)
			}
		})
	}
}
