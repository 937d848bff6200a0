package through

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
)

// TestNobodyGetsAConnectionThatAnotherHasAuthenticated at an origin that takes all that follows on a connection for the same user, as IIS
// does with NTLM and Negotiate (RFC 4559, section 6).
func TestNobodyGetsAConnectionThatAnotherHasAuthenticated(t *testing.T) {
	type user struct{}
	for _, scheme := range []string{"NTLM", "Negotiate", "negotiate"} {
		synctest.Test(t, func(t *testing.T) {
			back := newMemory()
			s := serveWorld(t, back.dial)
			server := &http.Server{
				ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
					return context.WithValue(ctx, user{}, new(string))
				},
				Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					who := r.Context().Value(user{}).(*string)
					if said := r.Header.Get("Authorization"); said != "" {
						*who = said
					}
					_, _ = io.WriteString(w, *who)
				}),
			}
			serveOrigin(t, back, server)
			for _, method := range []string{"GET", "POST"} {
				if a := s.ask(method, "/a", "", "Authorization: "+scheme+" alice"); a.body != scheme+" alice" {
					t.Errorf("%s %s: %d, %q", method, scheme, a.status, a.body)
				}
				if a := s.ask(method, "/a", ""); a.status != http.StatusOK || a.body != "" {
					t.Errorf("%s without credentials after %s: %d, %q", method, scheme, a.status, a.body)
				}
			}
			upgrade := []string{"Connection: Upgrade", "Upgrade: websocket"} // which the origin does not do
			s.get("/a", append(upgrade, "Authorization: "+scheme+" alice")...)
			synctest.Wait()
			if a := s.get("/a", upgrade...); a.status != http.StatusOK || a.body != "" {
				t.Errorf("an upgrade without credentials after %s: %d, %q", scheme, a.status, a.body)
			}
		})
	}
}
