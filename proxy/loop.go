package proxy

import (
	"net/http"
	"time"

	"sundry/metrics/words"
)

// refuseLoop answers a request that this service itself sent (CDN-Loop, RFC 8586)
// with an error, and reports whether it was one. Followed, a parameter with a URL of
// this service, whose parameter is such a URL again, and so on fifty times, would
// become fifty requests.
func (s *Server) refuseLoop(w http.ResponseWriter, r *http.Request, through []string) bool {
	id := s.current.Load().settings.LoopID
	if id == "" || !id.In(through) {
		return false
	}
	req := &request{w: w, r: r, id: requestIDOf(r.Header["X-Request-Id"]), start: time.Now()}
	defer s.finish(req)
	id.Refuse(w.Header())
	f := loopDetected()
	s.fail(req, f.outcome(), f)
	return true
}

func loopDetected() *failure {
	return &failure{status: http.StatusForbidden, errorType: typeForbidden,
		message: words.Say("request loop: this request was sent by this service itself and is not followed",
			"请求成环：这个请求由本服务自己发出，不予处理")}
}
