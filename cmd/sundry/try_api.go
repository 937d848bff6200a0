package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"sundry/cache/web"
	"sundry/metrics/panics"
	"sundry/metrics/words"
	"sundry/proxy"
	"sundry/proxy/through"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
)

// apiCall is a GET of an API, made by the handler that serves it, with all that operators want to know of it.
type apiCall struct {
	api     *catalog.API
	request *http.Request
	attempts
	result  through.Result
	origins *web.Response // what the origin answered; nil: it did not
	answer  seenAnswer
}

// attempts are requests to the addresses of an origin. What is traced of them may come from other goroutines.
type attempts struct {
	mu     sync.Mutex
	fields []string // of the one that is being sent
	ended  []attempt
}

// attempt is a request to one address.
type attempt struct {
	url    string
	fields []string // as they were sent
	err    error
}

// seenAnswer is what a caller of an API gets. Of the body it has the beginning.
type seenAnswer struct {
	header http.Header
	headed bool // all that comes now is the body, and trailers
	begun  []byte
}

// Header implements http.ResponseWriter.
func (a *seenAnswer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *seenAnswer) WriteHeader(code int) { a.headed = code >= http.StatusOK }

// Write implements http.ResponseWriter.
func (a *seenAnswer) Write(b []byte) (int, error) {
	a.begun = append(a.begun, b[:min(len(b), shownBody-len(a.begun))]...)
	return len(b), nil
}

// shownBody is how many bytes of a body are enough to show its beginning.
const shownBody = 16 << 10

// callAPI calls an API once, with the path of the command line, which may have a query.
func (t *tryCmd) callAPI(w *process, l *loaded, api *catalog.API) error {
	path := "/"
	if len(t.Params) > 0 {
		path = t.Params[0]
	}
	u, err := url.ParseRequestURI(path)
	if err != nil || !strings.HasPrefix(path, "/") || len(t.Params) > 1 {
		return misused(words.Errorf("%s is an API as it is: expected one path, with its query, such as '/a?x=1', got %q", "%s 是原样代理的 API：应为一个路径，可带查询串，例如 '/a?x=1'，而不是%q", api.Name, strings.Join(t.Params, " ")))
	}
	start := time.Now()
	c, err := t.getFrom(w.ctx, l, api, u)
	if err != nil {
		return err
	}
	out := &printer{w: w}
	c.print(out, time.Since(start))
	if out.err == nil && c.result.Err != nil {
		return words.Errorf("%s: %s", "%s：%s", api.Name, upstreams.WhyFailed(c.result.Err))
	}
	return out.err
}

// getFrom asks an API for a path, through the handler that serves it, with an empty store.
func (f *flags) getFrom(ctx context.Context, l *loaded, api *catalog.API, path *url.URL) (*apiCall, error) {
	request := &http.Request{Method: http.MethodGet, URL: path, Host: cmp.Or(api.ExampleHost(), "localhost"), Header: http.Header{}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody}
	c := &apiCall{api: api, request: request.WithContext(ctx), answer: seenAnswer{header: http.Header{}}}
	store, err := web.NewStore(web.StoreConfig{Memory: 2 * max(api.Body, shownBody), Variants: storeVariants})
	if err != nil {
		return nil, err
	}
	origin := proxy.OriginOf(api, f.dialOrigin, c.observed())
	defer origin.Close()
	settings := proxy.SettingsOf(api)
	settings.Response, settings.LoopID = c.received, func() string { return string(loopID(l.config)) }
	c.serve(through.New(settings, origin, store, slog.New(slog.DiscardHandler), nil), l.env.Panics)
	return c, nil
}

// observed notes each request to an address. It is asked for one observer for each, in their order.
func (c *apiCall) observed() func(host string) func(err error, took time.Duration) {
	next := 0
	return func(string) func(error, time.Duration) {
		target := c.api.Targets[next]
		next++
		return func(err error, _ time.Duration) {
			path := (&through.Handler{Settings: proxy.SettingsOf(c.api)}).PathOf(c.request)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.ended = append(c.ended, attempt{target.At(path), c.fields, err})
			c.fields = nil
		}
	}
}

// received changes the fields of what the origin answered, and notes them.
func (c *apiCall) received(h http.Header) {
	c.api.Received(h)
	if c.answer.headed {
		return
	}
	now := time.Now()
	c.origins = &web.Response{Header: h.Clone(), Requested: now, Received: now}
}

// serve has the call answered. A body that is cut off ends the handler with http.ErrAbortHandler.
func (c *apiCall) serve(h *through.Handler, catcher *panics.Catcher) {
	trace := &httptrace.ClientTrace{WroteHeaderField: func(name string, lines []string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !strings.HasPrefix(name, ":") { // what HTTP/2 has for the first line
			c.fields = append(c.fields, name+": "+strings.Join(lines, ", "))
		}
	}}
	defer func() {
		p := recover()
		if err, ok := p.(error); p != nil && (!ok || !errors.Is(err, http.ErrAbortHandler)) {
			c.result.Err = catcher.Caught(panics.Request, p)
		}
	}()
	h.Serve(&c.answer, c.request.WithContext(httptrace.WithClientTrace(c.request.Context(), trace)), "", func(res *through.Result) { c.result = *res })
}

// explained is what becomes of the answer in the cache.
func (c *apiCall) explained() []words.Text {
	if c.origins == nil {
		return nil
	}
	c.origins.Status = c.result.Code
	if !c.result.Cache.Stored || int64(c.result.Sent) <= c.api.Body {
		return web.Explain(web.NewRequest(c.request, &c.api.Rules), c.origins, &c.api.Rules)
	}
	return []words.Text{words.Sayf("not stored because the body has more than %d bytes (cache: body)", "不存储：正文超过 %d 字节（cache: body）", c.api.Body)}
}

func (c *apiCall) print(p *printer, took time.Duration) {
	list := func(name string, lines []string) {
		for _, line := range lines {
			p.row(name, line)
			name = ""
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.ended {
		p.says("origin %s\n", "源站 %s\n", "GET "+a.url)
		list("sent", a.fields)
		if a.err != nil {
			list("error", []string{p.w.language().Of(upstreams.WhyFailed(a.err))})
		}
	}
	p.says("answer %d %s in %s\n", "响应 %d %s，用时 %s\n", c.result.Code, http.StatusText(c.result.Code), took.Round(time.Millisecond))
	var fields []string
	for name, lines := range c.answer.header {
		if line := name + ": " + strings.Join(lines, ", "); !strings.HasSuffix(line, ": ") {
			fields = append(fields, line)
		}
	}
	slices.Sort(fields)
	list("fields", fields)
	var caching []string
	for _, line := range c.explained() {
		caching = append(caching, p.w.language().Of(line))
	}
	list("caching", caching)
	body := p.w.say("%d bytes", "%d 字节", c.result.Sent)
	if whole := c.answer.header.Get("Content-Encoding") == "" && (utf8.Valid(c.answer.begun) || len(c.answer.begun) == shownBody); whole && len(c.answer.begun) > 0 {
		text := string(c.answer.begun)
		if len(text) == shownBody {
			text += "…" // a secret may have been cut in two
		}
		body += "\n    " + strings.ReplaceAll(strings.TrimSuffix(upstreams.Shorten(p.clean(text), longest), "\n"), "\n", "\n    ")
	}
	list("body", []string{body})
}
