package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"sundry/metrics/words"
	"sundry/proxy/site/i18n"
)

// Serve answers a request for Path, and returns why it was refused; nil: it was not. What
// is wrong with a request as such is told by the status, with an error of JSON-RPC; what
// is wrong with a call, by its result.
func (s *Set) Serve(w http.ResponseWriter, r *http.Request) *Refusal {
	w.Header().Set("Cache-Control", "no-store")
	in := s.cfg.Languages.OfAnswer(r.URL.RawQuery, r.Header)
	refused := s.serve(w, r, in.Language)
	if refused != nil && refused.code != 0 {
		refused.write(w, in)
	}
	return refused
}

// serve answers, unless it refuses to.
func (s *Set) serve(w http.ResponseWriter, r *http.Request, l i18n.Language) *Refusal {
	h := w.Header()
	if !s.allowOrigin(h, r.Header["Origin"]) {
		return refuse(http.StatusForbidden, codeRefused, "pages of this origin may not send messages; see mcp_origins", "此源的网页不得发送消息，见 mcp_origins")
	}
	switch r.Method {
	case http.MethodPost:
		return s.servePost(w, r, l)
	case http.MethodOptions:
		h.Set("Allow", "POST, OPTIONS")
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	h.Set("Allow", "POST, OPTIONS")
	return refuse(http.StatusMethodNotAllowed, codeRefused, "expected POST: there are no streams or sessions here", "请使用 POST：这里不提供流和会话")
}

// allowOrigin refuses requests of pages, by their Origin, unless that is allowed. A name
// that was made to resolve to this service (DNS rebinding) does not help a page: browsers
// send the origin with every POST.
func (s *Set) allowOrigin(h http.Header, origin []string) bool {
	if len(origin) == 0 {
		return true
	}
	if len(origin) > 1 || !slices.Contains(s.cfg.Origins, origin[0]) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin[0])
	h.Set("Access-Control-Allow-Methods", "POST, OPTIONS")
	h.Set("Access-Control-Allow-Headers", "*")
	h.Set("Access-Control-Expose-Headers", "X-Request-Id, Retry-After")
	h.Set("Access-Control-Max-Age", "86400")
	h.Add("Vary", "Origin")
	return true
}

// servePost answers a message.
func (s *Set) servePost(w http.ResponseWriter, r *http.Request, l i18n.Language) *Refusal {
	texts, err := s.texts[l]()
	if err != nil {
		s.cfg.Log.Error("making tools of the endpoints failed", "error", err)
		return &Refusal{Status: http.StatusInternalServerError, code: codeInternal, message: internalError()}
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, codeInvalidRequest, "expected Content-Type: application/json", "Content-Type 应为 application/json")
	}
	p, body, refused := s.read(w, r)
	if refused != nil {
		return refused
	}
	defer p.release()
	m, err := readMessage(body)
	if err != nil || !m.callsOneOf(texts.tools) {
		if wait, ok := s.cfg.Admit(r); !ok {
			f := refuse(http.StatusTooManyRequests, codeRefused, "too many requests from your address; try again later", "你的地址发来的请求太多，请稍后再试")
			f.wait = max(wait, time.Second)
			return f
		}
	}
	switch {
	case err != nil:
		return refuse(http.StatusBadRequest, codeParse, "expected a single JSON-RPC message", "请求正文应为一条 JSON-RPC 消息")
	case m.foreignID:
		f := refuse(http.StatusBadRequest, codeInvalidRequest, "id: expected a text, or a whole number below 2^53", "id 应为文本或小于 2^53 的整数")
		f.id = m.id
		return f
	case m.method == methodListen:
		return refuse(http.StatusNotFound, codeNoMethod, "there are no subscriptions here", "这里不提供订阅")
	}
	return texts.serve(w, r, m)
}

// read reads the message, once there is a place for it, which the caller releases. The
// server discards what is not read, but not for long: the rest of it may never come.
func (s *Set) read(w http.ResponseWriter, r *http.Request) (*place, []byte, *Refusal) {
	size := r.ContentLength
	if size < 0 {
		size = maxMessage
	}
	now, c := time.Now(), http.NewResponseController(w)
	stopReading := func(at time.Time) { _ = c.SetReadDeadline(at) } // else the server's own deadline ends it
	if size > maxMessage {
		stopReading(now.Add(arrivesWithin))
		return nil, nil, tooLarge()
	}
	p := s.cfg.Places.take(s.cfg.Client(r), size, now, func() { stopReading(now) })
	if p == nil {
		stopReading(now.Add(arrivesWithin))
		return nil, nil, overloaded()
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
	_, large := errors.AsType[*http.MaxBytesError](err)
	arrived := p.arrived(int64(len(body)))
	switch {
	case err == nil && arrived:
		return p, body, nil
	case large:
		p.release()
		return nil, nil, tooLarge()
	case !arrived:
		return nil, nil, overloaded()
	}
	p.release()
	return nil, nil, refuse(http.StatusBadRequest, codeParse, "the message did not arrive whole", "消息没有完整到达")
}

// callerKey is the key under which the context of a call has the request that it came
// with.
type callerKey struct{}

// serve gives the message to the server, which answers it in any case.
func (t *texts) serve(w http.ResponseWriter, r *http.Request, m *message) *Refusal {
	inner := r.WithContext(context.WithValue(r.Context(), callerKey{}, r))
	inner.Header = r.Header.Clone()
	// Answers are JSON, whatever else a client takes.
	inner.Header.Set("Accept", "application/json, text/event-stream")
	inner.Body, inner.ContentLength = io.NopCloser(bytes.NewReader(m.text)), int64(len(m.text))
	answered := &unstored{ResponseWriter: w, status: http.StatusOK}
	t.server.ServeHTTP(answered, inner)
	if answered.isText() {
		return answered.refusal(m)
	}
	if answered.status >= http.StatusBadRequest {
		return &Refusal{Status: answered.status}
	}
	return m.mistake(t.tools)
}

// unstored is an answer that no cache may store, whatever the server says: it may be
// personal. A mistake that the server tells in a line of text is kept back.
type unstored struct {
	http.ResponseWriter
	status int
	said   bytes.Buffer // the line
}

// WriteHeader implements http.ResponseWriter.
func (w *unstored) WriteHeader(status int) {
	w.status = status
	w.Header().Set("Cache-Control", "no-store")
	if !w.isText() {
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (w *unstored) Write(b []byte) (int, error) {
	if w.isText() {
		return w.said.Write(b)
	}
	w.Header().Set("Cache-Control", "no-store")
	return w.ResponseWriter.Write(b)
}

func (w *unstored) isText() bool {
	return w.status >= http.StatusBadRequest && strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain")
}

// refusal tells in JSON-RPC what the server said in a line of text: mostly, that it has no such method.
func (w *unstored) refusal(m *message) *Refusal {
	f := &Refusal{Status: w.status, code: codeInvalidRequest, id: m.id, message: words.Name(strings.TrimSpace(w.said.String()))}
	if strings.Contains(w.said.String(), "not handled") {
		f.code, f.message = codeNoMethod, words.Sayf("there is no method %.40q; expected tools/list, tools/call, initialize or ping",
			"没有方法%.40q；应为 tools/list、tools/call、initialize 或 ping", m.method)
	}
	return f
}
