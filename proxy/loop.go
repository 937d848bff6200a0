package proxy

import (
	"net/http"
	"time"
)

// refuseLoop refuses a request that this service sent, on whatever way it came back:
// a link that holds itself so many times would make as many requests of one.
func (s *Server) refuseLoop(w http.ResponseWriter, r *http.Request, through []string) bool {
	mark := s.current.Load().settings.Mark
	if mark == "" || !mark.Borne(through) {
		return false
	}
	req := &request{w: w, r: r, id: requestID(r), start: time.Now()}
	defer s.finish(req)
	mark.Refuse(w.Header())
	f := loopDetected()
	s.fail(req, f.outcome(), f)
	return true
}

func loopDetected() *failure {
	return &failure{status: http.StatusForbidden, kind: typeForbidden,
		message: "this request was sent by this very service: what was asked for leads back to it, and is not followed any further"}
}
