package through

import (
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestNoRequestIsLostOnAConnectionThatRested at an origin that closes one just when a request comes: after 2 s as gunicorn does, or 5 s
// as Node and Apache do.
func TestNoRequestIsLostOnAConnectionThatRested(t *testing.T) {
	type answered struct{}
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
		synctest.Test(t, func(t *testing.T) {
			back := newMemory()
			s := serveWorld(t, back.dial)
			server := &http.Server{
				ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
					return context.WithValue(ctx, answered{}, new(time.Time))
				},
				Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					last := r.Context().Value(answered{}).(*time.Time)
					if !last.IsZero() && time.Since(*last) >= 2*time.Second {
						panic(http.ErrAbortHandler)
					}
					*last = time.Now()
					s.calls.Add(1)
				}),
			}
			serveOrigin(t, back, server)
			for _, rest := range []time.Duration{0, 2 * time.Second, 5 * time.Second} {
				time.Sleep(rest)
				for _, body := range []string{"body", ""} {
					if a := s.ask(method, "/a", body); a.status != http.StatusOK {
						t.Errorf("%s %q after %v: %d", method, body, rest, a.status)
					}
					time.Sleep(2 * time.Second)
				}
			}
			s.wantCalls(6)
		})
	}
}
