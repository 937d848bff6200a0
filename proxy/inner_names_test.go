package proxy

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"testing"

	"sundry/upstreams"
	"sundry/upstreams/lib/guard"
)

// zone is a resolver that knows one inner name, and counts its look-ups.
type zone struct {
	mu    sync.Mutex
	asked map[string]int
}

func (z *zone) note(name string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.asked[name]++
}

func (z *zone) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	z.note(name)
	if name == "known.corp.example.org." {
		return []netip.Addr{netip.MustParseAddr("10.1.2.3")}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (z *zone) LookupSRV(_ context.Context, service, _, name string) (string, []*net.SRV, error) {
	z.note(service + " " + name)
	return "", nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// silence is a transport on which no upstream answers.
type silence struct{}

func (silence) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no upstream answers")
}

// varying matches what always differs between answers.
var varying = regexp.MustCompile(`"request_id":"[0-9a-f]+"|"checked_at":"[^"]+"|max-age=\d+|ttl=\d+`)

// TestInnerNamesLookLikeUnknownNames: a name that resolves to an inner address gets
// the same status, headers and body as one that does not exist, after the same
// look-ups.
func TestInnerNamesLookLikeUnknownNames(t *testing.T) {
	z := &zone{asked: map[string]int{}}
	f := newFront(t, nil, func(_ *Config, env *upstreams.Environment) {
		env.Guard = guard.New(guard.Config{Resolver: z})
		env.Transport = silence{}
	})
	for path, status := range map[string]int{
		// Of both, a letter is drawn: its address, since its looks depend on the name.
		"/api/favicon?url=NAME&type=text": http.StatusOK, "/api/dwzrec?url=http://NAME/x": http.StatusBadGateway,
		"/api/dwzrec?url=http://NAME:8443/x&type=text": http.StatusBadGateway,
		"/api/gamestatus?host=NAME":                    http.StatusOK, "/api/gamestatus?host=NAME:25570": http.StatusOK,
	} {
		heard := map[string]string{}
		for _, name := range []string{"known", "other"} {
			a := f.get(strings.ReplaceAll(path, "NAME", name+".corp.example.org"))
			a.want(t, status)
			for _, other := range []string{"X-Request-Id", "Date", "Etag"} {
				a.Header.Del(other)
			}
			var text strings.Builder
			if err := a.Header.Write(&text); err != nil {
				t.Fatal(err)
			}
			heard[name] = strings.ReplaceAll(varying.ReplaceAllString(text.String()+a.body, ""), name, "x")
		}
		if heard["known"] != heard["other"] {
			t.Errorf("%s: of a name that there is\n%s\nof none\n%s", path, heard["known"], heard["other"])
		}
	}
	for name, n := range z.asked {
		if other := strings.ReplaceAll(name, "known", "other"); z.asked[other] != n {
			t.Errorf("looked up %s %d times, %s %d times", name, n, other, z.asked[other])
		}
	}
}
