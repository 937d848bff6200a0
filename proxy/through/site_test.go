package through

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"sundry/cache/clients"
	"sundry/cache/web"
)

func TestSiteOf(t *testing.T) {
	for _, row := range []struct {
		secure bool
		proxys []string // fields of a trusted proxy
		want   site
	}{
		{false, nil, site{"http", "a.test"}},
		{true, nil, site{"https", "a.test"}},
		{false, []string{"X-Forwarded-Proto: https"}, site{"https", "a.test"}},
		{true, []string{"X-Forwarded-Proto: HTTP"}, site{"http", "a.test"}},
		{true, []string{"X-Forwarded-Proto: wss"}, site{"https", "a.test"}},
		{false, []string{"X-Forwarded-Proto: https, http"}, site{"https", "a.test"}},
		{false, []string{"X-Forwarded-Host: b.test:8443, c.test"}, site{"http", "b.test:8443"}},
		{false, []string{"X-Forwarded-Host: b<.test"}, site{"http", "a.test"}},
		{false, []string{`Forwarded: for="[2001:db8::1]";Host="b.test:81"; proto=https, for=192.0.2.1;host=c.test`}, site{"https", "b.test:81"}},
		{false, []string{"Forwarded: host=b.test", "X-Forwarded-Host: c.test"}, site{"http", "c.test"}},
		{false, []string{"Forwarded: for=192.0.2.1"}, site{"http", "a.test"}},
		{false, []string{"Forwarded: host=;proto"}, site{"http", "a.test"}},
	} {
		r, err := newRequest(t.Context(), http.MethodGet, "http://a.test/", "", row.proxys)
		if err != nil {
			t.Fatal(err)
		}
		var proxys web.Fields
		if row.proxys != nil {
			proxys = web.FieldsOf(r.Header)
		}
		if got := siteOf("a.test", row.secure, proxys); got != row.want {
			t.Errorf("secure %t, %q: %v, want %v", row.secure, row.proxys, got, row.want)
		}
	}
}

func TestForwardedOf(t *testing.T) {
	for hops, want := range map[string]string{
		"192.0.2.1":                  `for=192.0.2.1;host="a.test";proto=http`,
		"192.0.2.1:4711, 192.0.2.2":  `for=192.0.2.1;host="a.test";proto=http, for=192.0.2.2`,
		"2001:db8::1, [2001:db8::2]": `for="[2001:db8::1]";host="a.test";proto=http, for="[2001:db8::2]"`,
		"[2001:db8::1]:4711":         `for="[2001:db8::1]";host="a.test";proto=http`,
		"::ffff:192.0.2.1":           `for=192.0.2.1;host="a.test";proto=http`,
		`x;host=evil, "`:             `for=unknown;host="a.test";proto=http, for=unknown`,
		"":                           `for=unknown;host="a.test";proto=http`,
	} {
		if got := forwardedOf(members([]string{hops}), site{"http", "a.test"}); got != want {
			t.Errorf("%q: %s, want %s", hops, got, want)
		}
	}
}

// TestHostOfTheCaller: with host: caller the origin gets the Host of each request, and clients of one Host never get a response for another.
func TestHostOfTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header().Set("Etag", `"1"`)
			if r.Header.Get("If-None-Match") == `"1"` { // it compares tags, whatever the Host
				w.WriteHeader(http.StatusNotModified)
				return
			}
			fmt.Fprint(w, r.Host)
		})
		s.h.origin.targets[0].Sent = ""
		names := []string{"a.test", "b.test", "B.test", "a.test:81", "[2001:db8::1]"}
		for range 2 {
			for _, name := range names {
				if a := s.get("/x", "Host: "+name); a.body != name || a.err != nil {
					t.Errorf("%s gets %q: %v", name, a.body, a.err)
				}
			}
		}
		s.wantCalls(int64(len(names)))
		if n := s.h.store.Purge(web.Purge{At: s.h.now(), Key: s.h.Name + "/x"}); n != len(names) {
			t.Errorf("a purge of the URL is about %d responses, want %d", n, len(names))
		}
	})
}

// TestTheSiteIsNotTold: if the file removes the fields, all names have the same responses.
func TestTheSiteIsNotTold(t *testing.T) {
	for _, row := range []struct {
		removed []string
		calls   int64
		tells   tells
	}{
		{nil, 2, tells{true, true}},
		{[]string{"X-Forwarded-Host", "X-Forwarded-Proto"}, 2, tells{true, true}},
		{[]string{"X-Forwarded-Host", "Forwarded"}, 1, tells{false, true}},
		{[]string{"X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded"}, 1, tells{}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newWorld(t, answers(200, "max-age=60", "x"), func(s *Settings) {
				s.Rules.Replaced = row.removed
				s.Request = func(h http.Header) {
					for _, name := range row.removed {
						delete(h, name)
					}
				}
			})
			if s.h.tells != row.tells {
				t.Errorf("without %q: %v, want %v", row.removed, s.h.tells, row.tells)
			}
			s.get("/x", "Host: a.test")
			s.get("/x", "Host: b.test")
			s.wantCalls(row.calls)
		})
	}
}

// TestManyHops of a trusted proxy make no long field.
func TestManyHops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, strings.Count(r.Header.Get("Forwarded"), "for="))
		}, func(s *Settings) {
			s.Client = func(*http.Request) (clients.ID, bool) { return clients.Nobody, true }
		})
		for lines, want := range map[string]string{"X-Forwarded-For: " + strings.Repeat(",", 10_000): "20", "Forwarded: for=192.0.2.1, for=192.0.2.2": "2"} {
			if a := s.get("/", lines); a.body != want {
				t.Errorf("%.30s: %s hops, want %s", lines, a.body, want)
			}
		}
	})
}
