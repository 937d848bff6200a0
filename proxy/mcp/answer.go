package mcp

import (
	"bytes"
	"net/http"
)

// maxAnswer bounds what becomes a result, in bytes: agents read it whole.
const maxAnswer = 1 << 20

// answer is what an endpoint answers, kept for the result.
type answer struct {
	header   http.Header
	status   int
	body     bytes.Buffer
	overflow bool // the answer is longer than maxAnswer
}

var _ http.ResponseWriter = (*answer)(nil)

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write implements http.ResponseWriter. Beyond the bound nothing is kept.
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.body.Len()+len(b) > maxAnswer {
		a.overflow = true
		return len(b), nil
	}
	return a.body.Write(b)
}

// ask sends the request to the endpoints. Where they give up on a caller who has left,
// they panic, as net/http has it.
func (s *Set) ask(r *http.Request) (a *answer) {
	a = &answer{header: http.Header{}}
	defer func() {
		if recover() != nil || a.status == 0 {
			a = &answer{header: http.Header{"Sundry-Error": {"internal"}}, status: http.StatusInternalServerError}
		}
	}()
	s.cfg.Endpoints.ServeHTTP(a, r)
	return a
}
