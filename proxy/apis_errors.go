package proxy

import (
	"errors"
	"net/http"
	"strings"

	"sundry/metrics/words"
	"sundry/proxy/express"
	"sundry/proxy/ratelimit"
	"sundry/proxy/through"
	"sundry/upstreams/catalog"
)

// failAPI answers a request for an API with an error of this service's own.
func (s *Server) failAPI(w http.ResponseWriter, r *http.Request, id string, f *through.Failure) {
	if refused, ok := errors.AsType[*through.LimitedError](f.Err); ok {
		s.metrics.limited.Inc()
		s.current.Load().settings.limiter.setHeaders(w.Header(), &ratelimit.Allowance{Next: refused.Wait})
		s.writeAPIError(w, r, id, limited(refused.Wait))
		return
	}
	s.writeAPIError(w, r, id, failureOfAPI(f))
}

// failureOfAPI is the failure as those of endpoints are.
func failureOfAPI(f *through.Failure) *failure {
	out := &failure{status: f.Status, errorType: typeUnavailable, retryAfter: f.RetryAfter, message: words.Say(f.Err.Error(), "无法从源站得到响应，请稍后再试")}
	switch {
	case errors.Is(f.Err, through.ErrShed):
		out.errorType, out.message = typeOverloaded, words.Say(f.Err.Error(), "等待源站的请求太多，请稍后再试")
	case errors.Is(f.Err, express.ErrUnsent):
		out.errorType, out.message = typeOverloaded, unread()
	case errors.Is(f.Err, through.ErrPaused):
		out.message = words.Say(f.Err.Error(), "源站接连失败，暂停向它发出请求，请稍后再试")
	case errors.Is(f.Err, through.ErrThrottled):
		out.message = words.Say(f.Err.Error(), "向源站发出的请求已达上限，请稍后再试")
	case errors.Is(f.Err, through.ErrTimeout):
		out.errorType, out.message = typeTimeout, words.Say(f.Err.Error(), "源站未能及时响应，请稍后再试")
	case errors.Is(f.Err, through.ErrReplay):
		out.message = words.Say("the origin is not asked: "+f.Err.Error(), "不会询问源站：回放时没有网络")
	case f.Status == http.StatusNotImplemented:
		out.errorType, out.message = typeMethod, words.Say(f.Err.Error(), "不转发这个方法；请使用 TRACE 和 CONNECT 以外的方法")
	case f.Status == http.StatusBadRequest, f.Status == http.StatusRequestEntityTooLarge:
		out.errorType, out.message = typeInvalid, words.Of(f.Err, words.Name(f.Err.Error()))
	case errors.Is(f.Err, through.ErrOnlyIfCached):
		out.message = words.Say(f.Err.Error(), "没有保存能回答这个请求的响应，而它只要已保存的（only-if-cached）")
	}
	return out
}

// writeAPIError writes an error as those of endpoints are: as JSON, or as text for who accepts that and no JSON.
func (s *Server) writeAPIError(w http.ResponseWriter, r *http.Request, id string, f *failure) {
	accept := strings.ToLower(strings.Join(r.Header["Accept"], ","))
	text := strings.Contains(accept, "text/") && !strings.Contains(accept, "json")
	s.writeError(&request{w: w, r: r, id: requestID{given: id}}, f, catalog.ErrorFormat{Text: text})
}
