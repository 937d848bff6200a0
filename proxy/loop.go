package proxy

import (
	"net/http"
	"time"
)

// loops refuses a request that this service sent, on whatever way it came back:
// a link that holds itself so many times would make as many requests of one.
func (s *Server) loops(w http.ResponseWriter, r *http.Request, through []string) bool {
	mark := s.set.Load().rules.Mark
	if mark == "" || !mark.Borne(through) {
		return false
	}
	x := &exchange{w: w, r: r, id: requestID(r), start: time.Now()}
	defer s.finish(x)
	mark.Refuse(w.Header())
	f := looped()
	s.fail(x, f.outcome(), f)
	return true
}

func looped() *failure {
	return &failure{status: http.StatusForbidden, kind: typeForbidden,
		message: "this request was sent by this very service: what was asked for leads back to it, and is not followed any further"}
}
