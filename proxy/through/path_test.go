package through

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
)

// TestRedirectionsStayHere where they lead to the origin's own address.
func TestRedirectionsStayHere(t *testing.T) {
	for _, row := range []struct{ to, sent, prefix, location, want string }{
		{"http://10.0.0.1:3000", "", "", "http://10.0.0.1:3000/dir/", "/dir/"},
		{"http://10.0.0.1:3000", "", "/api/a", "http://10.0.0.1:3000/dir/?a=%2F#b", "/api/a/dir/?a=%2F#b"},
		{"http://10.0.0.1:3000", "", "/api/a", "http://10.0.0.1:3000", "/api/a/"},
		{"http://10.0.0.1:3000", "a.test", "", "http://A.test/dir%2Fx", "/dir%2Fx"},
		{"http://a.test/v1", "", "/api/a", "http://a.test/v1/x", "/api/a/x"},
		{"http://a.test/v1", "", "/api/a", "http://a.test/v2/x", "http://a.test/v2/x"},
		{"http://a.test", "", "", "https://a.test/x", "https://a.test/x"}, // or it would lead here for ever
		{"http://a.test", "", "", "http://a.test//evil.test/", "http://a.test//evil.test/"},
		{"http://a.test", "", "", "http://b.test/x", "http://b.test/x"},
		{"http://a.test", "", "", "http://a.test:81/x", "http://a.test:81/x"},
		{"http://10.0.0.1", "public.test", "/api/a", "http://public.test/api/a/x", "http://public.test/api/a/x"},
		{"http://a.test", "", "", "", ""},
	} {
		to, err := url.Parse(row.to)
		if err != nil {
			t.Fatal(err)
		}
		h := &Handler{Settings: Settings{Prefix: row.prefix}}
		fields := http.Header{}
		if row.location != "" {
			fields.Set("Location", row.location)
		}
		if h.relocate(fields, &Target{URL: to, Sent: row.sent}); fields.Get("Location") != row.want {
			t.Errorf("%+v: %q", row, fields.Get("Location"))
		}
	}
}

// TestOnlyCopiesHaveADestination that they make unusable: else any request that succeeds would purge what it likes.
func TestOnlyCopiesHaveADestination(t *testing.T) {
	s := newWorld(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Cache-Control", "max-age=60") })
	s.get("/a")
	s.ask(http.MethodPost, "/b", "", "Destination: http://api.test/a")
	s.get("/a")
	s.wantCalls(2)
}

// TestRedirectionsOfSeveralAddresses: one to another address leads there, or it would lead here for ever.
func TestRedirectionsOfSeveralAddresses(t *testing.T) {
	for name, want := range map[string]string{"origin.test": "http://second.test/mirror/a/", "second.test": "/a/"} {
		synctest.Test(t, func(t *testing.T) {
			back := newMemory()
			s := serveWorld(t, func(ctx context.Context, network, address string) (net.Conn, error) {
				if address != name+":80" {
					return nil, &net.OpError{Op: "dial", Net: network, Err: net.ErrClosed}
				}
				return back.dial(ctx, network, address)
			})
			s.h.origin.targets = append(s.h.origin.targets, Target{URL: &url.URL{Scheme: "http", Host: "second.test", Path: "/mirror"}, Sent: "second.test"})
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", "http://second.test/mirror/a/")
				w.WriteHeader(http.StatusFound)
			})}
			serveOrigin(t, back, server)
			if a := s.get("/a"); a.header.Get("Location") != want {
				t.Errorf("%s: %d %v, expected %s", name, a.status, a.header, want)
			}
		})
	}
}
