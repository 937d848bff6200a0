package proxy

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"sundry/cache"
	"sundry/cache/policy"
	"sundry/metrics/words"
	"sundry/proxy/express"
	"sundry/proxy/site/i18n"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/plainjson"
)

// failure is an error as the caller sees it. The message is our own text: upstream
// text, addresses and causes are only logged.
type failure struct {
	status       int
	errorType    string // one of errorTypes
	parameter    string
	message      words.Both
	retryAfter   time.Duration // 0 for none
	cacheControl string        // "" for no-store
	cause        error         // for the log
}

// The closed list of error types, with their statuses.
const (
	typeMissing     = "missing_parameter"
	typeInvalid     = "invalid_parameter"
	typeForbidden   = "forbidden_target"
	typeNotFound    = "not_found"
	typeMethod      = "method_not_allowed"
	typeLimited     = "rate_limited"
	typeInternal    = "internal"
	typeUnavailable = "upstream_unavailable"
	typeOverloaded  = "overloaded"
	typeTimeout     = "upstream_timeout"
)

// statusClientClosed is logged for a client disconnect (as nginx does); it is
// never sent.
const statusClientClosed = 499

// RefusalOf is with which status, and as which type of error, a mistake in a parameter is refused.
func RefusalOf(err *catalog.ParamError) (status int, errorType string) {
	switch {
	case err.Missing:
		return http.StatusBadRequest, typeMissing
	case err.Forbidden:
		return http.StatusForbidden, typeForbidden
	}
	return http.StatusBadRequest, typeInvalid
}

func parameterFailure(err *catalog.ParamError) *failure {
	status, errorType := RefusalOf(err)
	return &failure{status: status, errorType: errorType, parameter: err.Parameter, message: err}
}

func methodRefused(method string) *failure {
	return &failure{status: http.StatusMethodNotAllowed, errorType: typeMethod,
		message: words.Sayf("method %.20q is not allowed; expected GET, HEAD or OPTIONS", "不支持“%.20s”方法，请使用 GET、HEAD 或 OPTIONS", method)}
}

func notFound(message words.Both) *failure {
	return &failure{status: http.StatusNotFound, errorType: typeNotFound, message: message}
}

func overloaded() *failure {
	return &failure{status: http.StatusServiceUnavailable, errorType: typeOverloaded, retryAfter: time.Second,
		message: words.Say("too many requests are waiting; try again in a moment", "排队的请求太多，请稍后再试")}
}

// unread says that a client, or all of them together, have too many responses that they have not read.
func unread() words.Text {
	return words.Say("too many large responses wait to be read; read them, then try again", "尚未读取的大响应太多；请先读完它们再试")
}

func limited(wait time.Duration) *failure {
	return &failure{status: http.StatusTooManyRequests, errorType: typeLimited, retryAfter: max(wait, time.Second),
		message: words.Say("too many requests from your address; try again later", "你的地址发来的请求太多，请稍后再试")}
}

func internalFailure(cause error) *failure {
	return &failure{status: http.StatusInternalServerError, errorType: typeInternal, message: words.Say("internal error", "服务内部错误"), cause: cause}
}

// classify is the one place where an error of the cache or of upstreams becomes a
// status for callers of endpoints.
func classify(ctx context.Context, err error) *failure {
	if errors.Is(err, errShed) || errors.Is(err, cache.ErrBusy) {
		f := overloaded() // ctx.Err is not called: that would create its state
		f.cause = err
		return f
	}
	f := internalFailure(err)
	if errors.Is(err, express.ErrUnsent) {
		f.status, f.errorType, f.retryAfter, f.message = http.StatusServiceUnavailable, typeOverloaded, time.Second, unread()
		return f
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		f.status = statusClientClosed
		return f
	}
	if paused, ok := errors.AsType[*cache.PausedError](err); ok {
		f.retryAfter = paused.Retry
	}
	var typed *upstreams.Error
	if errors.As(err, &typed) {
		f.parameter = typed.Parameter
	}
	switch upstreams.KindOf(err) {
	case upstreams.Invalid:
		f.status, f.errorType, f.message = http.StatusBadRequest, typeInvalid, typed.Message
	case upstreams.Forbidden:
		f.status, f.errorType, f.message = http.StatusForbidden, typeForbidden, words.Say("requests to this address are not allowed: only other services on the public internet may be called", "不允许访问该地址，只能访问公网上的其他服务")
	case upstreams.Negative:
		f.status, f.errorType, f.message = http.StatusNotFound, typeNotFound, words.Say("not found", "没有找到")
	case upstreams.Timeout:
		f.status, f.errorType, f.message = http.StatusGatewayTimeout, typeTimeout, words.Say("no source answered in time; try again later", "数据源未能及时响应，请稍后再试")
	case upstreams.Busy:
		f.status, f.errorType, f.message = http.StatusServiceUnavailable, typeOverloaded, words.Say("too many requests of this kind are in progress; try again in a moment", "同类请求太多，请稍后再试")
		f.retryAfter = max(f.retryAfter, time.Second)
	case upstreams.Unavailable, upstreams.Limited, upstreams.Rejected, upstreams.Throttled, upstreams.Malformed:
		f.status, f.errorType, f.message = http.StatusBadGateway, typeUnavailable, words.Say("no source is available at the moment; try again later", "数据源暂时都不可用，请稍后再试")
	}
	return f
}

// failPage answers a request for a page with an error.
func (s *Server) failPage(w http.ResponseWriter, r *http.Request, f *failure) {
	s.fail(&request{w: w, r: r, id: requestIDOf(r.Header["X-Request-Id"])}, outcomeError, f)
}

// fail answers with an error. Refused requests come in floods: nothing here uses
// reflection or formatting, or copies preset headers.
func (s *Server) fail(req *request, o outcome, f *failure) {
	req.outcome, req.status, req.failed = o, f.status, f
	if f.status == statusClientClosed {
		return
	}
	h := req.w.Header()
	if req.allowed.Low {
		req.route.settings.limiter.setHeaders(h, &req.allowed)
	}
	if req.answer.Meta.Source != "" {
		h["Sundry-Source"] = []string{req.answer.Meta.Source}
	}
	if req.answer.State != policy.Absent {
		h["Cache-Status"], h["Age"] = []string{string(appendCacheStatus(nil, &req.answer))}, []string{seconds(req.answer.Age)}
	}
	req.sent = s.writeError(req, f, s.errorFormat(req))
}

// errorFormat returns the format of the error body that the caller asked for.
func (s *Server) errorFormat(req *request) catalog.ErrorFormat {
	var e *catalog.Endpoint
	if req.route != nil {
		e = req.route.endpoint
	}
	format := e.ErrorFormat(req.r.URL.RawQuery)
	format.Text = format.Text || req.in != nil && req.in.Form.Kind == "text"
	if req.r.Method != http.MethodGet && req.r.Method != http.MethodHead {
		format.Callback = "" // scripts are loaded with GET
	}
	return format
}

// writeError sends the failure as JSON, as one line of text, as a picture that says so,
// or as a call of the caller's JSONP callback. Browsers do not run a script whose status is an error,
// so JSONP is sent with 200 and has the real status in the body only.
func (s *Server) writeError(req *request, f *failure, format catalog.ErrorFormat) int {
	if page, in := s.missingPage(req, f); page != nil {
		return s.writeMissing(req, f, page, in)
	}
	h, status, control, id := req.w.Header(), f.status, f.cacheControl, req.id.String()
	in := s.languageOf(req)
	message := in.Of(f.message)
	body := make([]byte, 0, 2*len(message)+len(f.parameter)+len(format.Callback)+len(id)+128)
	picture, contentType := []byte(nil), ""
	if !format.Text && format.Callback == "" {
		picture, contentType = s.pictures.body(req, f, in.Language)
	}
	switch {
	case picture != nil:
		h["Content-Type"], h["Content-Security-Policy"] = []string{contentType}, s.preset.sandbox
		body = picture
	case format.Text:
		h["Content-Type"] = s.preset.text
		body = append(append(body, message...), '\n')
	case format.Callback != "":
		h["Content-Type"] = s.preset.script
		body = append(append(append(body, "/**/"...), format.Callback...), '(')
		body = append(f.appendJSON(body, message, id), ");"...)
		status, control = http.StatusOK, ""
	default:
		h["Content-Type"] = s.preset.json
		body = f.appendJSON(body, message, id)
	}
	h["Content-Language"] = s.preset.languages[in.Language]
	s.setErrorHeaders(h, f, id, control, len(body))
	s.setErrorVary(h, control != "", in.Vary != "")
	req.begin(status)
	if req.r.Method == http.MethodHead {
		return 0
	}
	n, _ := req.w.Write(body) // a failed write has no reader
	return n
}

// setErrorHeaders sets the headers of an error. Sundry-Error has its type, which a
// picture, a text and the answer to HEAD cannot say.
func (s *Server) setErrorHeaders(h http.Header, f *failure, id, control string, length int) {
	var buf [96]byte
	text := strconv.AppendInt(buf[:0], int64(length), 10)
	digits := len(text)
	if text = append(text, f.errorType...); f.parameter != "" {
		text = append(append(text, "; parameter="...), f.parameter...)
	}
	all := string(text)
	v := []string{id, all[:digits], control, "", all[digits:]} // one allocation, and one for all
	h["X-Request-Id"], h["Content-Length"] = v[0:1:1], v[1:2:2]
	h["X-Content-Type-Options"], h["Access-Control-Allow-Origin"] = s.preset.nosniff, s.preset.anyone
	h["Cache-Control"] = s.preset.noStore
	h["Sundry-Error"] = v[4:5:5]
	if control != "" {
		h["Cache-Control"] = v[2:3:3]
	}
	if f.retryAfter > 0 {
		v[3] = strconv.FormatInt(ceilSeconds(f.retryAfter), 10)
		h["Retry-After"] = v[3:4:4]
	}
}

// setErrorVary says on what the body depends. A cache that stores it must not show
// somebody's picture to who would get JSON.
func (s *Server) setErrorVary(h http.Header, byAccept, byLanguage bool) {
	switch {
	case byAccept && byLanguage:
		h["Vary"] = s.preset.varyAcceptLanguage
	case byAccept:
		h["Vary"] = s.preset.varyAccept
	case byLanguage:
		h["Vary"] = s.preset.varyLanguage
	}
}

// languageOf is the language in which a caller is told of a failure.
func (s *Server) languageOf(req *request) i18n.Choice {
	var e *catalog.Endpoint
	if req.route != nil {
		e = req.route.endpoint
	}
	return s.cfg.Languages.OfAnswer(e.LanguageQuery(req.r.URL.RawQuery), req.r.Header)
}

// appendJSON appends the error body.
func (f *failure) appendJSON(b []byte, message, id string) []byte {
	b = strconv.AppendInt(append(b, `{"code":`...), int64(f.status), 10)
	b = plainjson.AppendString(append(b, `,"message":`...), message)
	b = plainjson.AppendString(append(b, `,"error":{"type":`...), f.errorType)
	if f.parameter != "" {
		b = plainjson.AppendString(append(b, `,"parameter":`...), f.parameter)
	}
	b = plainjson.AppendString(append(b, `,"request_id":`...), id)
	return append(b, "}}"...)
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }
