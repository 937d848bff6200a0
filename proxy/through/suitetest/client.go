package suitetest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strconv"
	"strings"
	"time"
)

// answer is what the client got.
type answer struct {
	status  int
	header  http.Header
	body    string
	interim []interimAnswer
}

type interimAnswer struct {
	code   int
	header http.Header
}

// value is a field as a browser shows it: its lines, joined.
func (a *answer) value(name string) (string, bool) {
	lines, ok := a.header[http.CanonicalHeaderKey(name)]
	return strings.Join(lines, ", "), ok
}

// serverNow is the origin's time when it made the answer.
func (a *answer) serverNow() time.Time {
	ms, _ := strconv.ParseInt(a.header.Get("Server-Now"), 10, 64)
	return time.UnixMilli(ms)
}

// ask sends request i of a test to a cache.
func (r *Run) ask(t *running, i int, says *request, before *answer, cache string) (*answer, error) {
	a := &answer{}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
		a.interim = append(a.interim, interimAnswer{code, http.Header(h)})
		return nil
	}})
	q, err := http.NewRequestWithContext(ctx, says.method(), cache+"/test/"+t.uuid+says.target(), says.body())
	if err != nil {
		return nil, err
	}
	q.Host = r.host
	q.Header = says.fields(before)
	q.Header.Set("Test-Id", t.ID)
	q.Header.Set("Req-Num", strconv.Itoa(i+1))
	resp, err := r.transport.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	a.status, a.header, a.body = resp.StatusCode, resp.Header, string(b)
	return a, err
}

func (r *request) method() string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}

// target is what follows the place of the test.
func (r *request) target() (s string) {
	if r.File != "" {
		s = "/" + r.File
	}
	if r.Query != "" {
		s += "?" + r.Query
	}
	return s
}

func (r *request) body() io.Reader {
	if r.RequestBody == "" {
		return nil
	}
	return strings.NewReader(r.RequestBody)
}

// fields are those of the request, beside what fetch of Node sends by itself.
func (r *request) fields(before *answer) http.Header {
	h := http.Header{"Pragma": {"foo"}, "Cache-Control": {"nothing-to-see-here"}, "Accept": {"*/*"}, "Accept-Language": {"*"}, "User-Agent": {"node"}}
	given := map[string]bool{"Cache-Control": true, "Pragma": true}
	for _, f := range r.RequestHeaders {
		name, value := http.CanonicalHeaderKey(f[0].(string)), ""
		if _, isNumber := f[1].(float64); isNumber && r.MagicIMS && before != nil {
			value = r.fixup(f, before.serverNow(), "")
		} else {
			value = strings.Trim(fmt.Sprint(f[1]), " \t")
		}
		if !given[name] {
			delete(h, name)
		}
		given[name] = true
		if lines := h[name]; len(lines) > 0 {
			value = lines[0] + ", " + value
		}
		h[name] = []string{value}
	}
	return h
}
