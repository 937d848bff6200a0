package panics

import (
	"net"
	"net/http"
)

// Server makes srv and what it calls survive panics: net/http itself recovers from those
// of a handler, which it does not count, and from no others. Call it once, before srv
// serves.
func (c *Catcher) Server(srv *http.Server) {
	srv.Handler = handler{srv.Handler, c}
	if changed := srv.ConnState; changed != nil {
		srv.ConnState = func(conn net.Conn, state http.ConnState) {
			defer func() {
				if value := recover(); value != nil {
					_ = c.Caught(Listener, value)
				}
			}()
			changed(conn, state)
		}
	}
}

// handler counts the panics of another one.
type handler struct {
	http.Handler
	panics *Catcher
}

// ServeHTTP implements http.Handler. After a panic the connection is aborted.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if value := recover(); value != nil {
			if value != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
				_ = h.panics.Caught(Request, value)
			}
			panic(http.ErrAbortHandler)
		}
	}()
	h.Handler.ServeHTTP(w, r)
}

// Listener is l, whose Accept fails for a moment after a panic: net/http tries again.
func (c *Catcher) Listener(l net.Listener) net.Listener { return listener{l, c} }

type listener struct {
	net.Listener
	panics *Catcher
}

// Accept implements net.Listener.
func (l listener) Accept() (conn net.Conn, err error) {
	defer func() {
		if value := recover(); value != nil {
			conn, err = nil, temporary{l.panics.Caught(Listener, value)}
		}
	}()
	return l.Listener.Accept()
}

// temporary is an error after which net/http accepts again, after a pause.
type temporary struct{ error }

var _ net.Error = temporary{}

// Temporary implements net.Error.
func (temporary) Temporary() bool { return true }

// Timeout implements net.Error.
func (temporary) Timeout() bool { return false }
