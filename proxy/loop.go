package proxy

import (
	"net/http"
	"time"
)

// refuseLoop refuses a request that this service itself sent (RFC 8586), however
// it came back: a URL that names this service, nested fifty times, would become
// fifty requests.
func (s *Server) refuseLoop(w http.ResponseWriter, r *http.Request, through []string) bool {
	mark := s.current.Load().settings.Mark
	if mark == "" || !mark.In(through) {
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
	return &failure{status: http.StatusForbidden, errorType: typeForbidden,
		message: "request loop: this request was sent by this service itself and is not followed"}
}
