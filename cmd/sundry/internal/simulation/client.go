package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// clientTime is how long a client waits for a response.
const clientTime = time.Minute

// client is a client of one listener of an instance.
type client struct{ http.Client }

func newClient(n *Network, address string) *client {
	return &client{http.Client{Timeout: clientTime, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return n.dialIn(ctx, address)
	}}}}
}

// response is what a client received.
type response struct {
	status int
	header http.Header
	body   []byte
}

// send sends a request. An error means that no whole response came.
func (c *client) send(method, url string, header http.Header, body []byte) (response, error) {
	r, err := http.NewRequestWithContext(context.Background(), method, url, bytes.NewReader(body))
	if err != nil {
		return response{}, err
	}
	r.Header = header
	resp, err := c.Do(r)
	if err != nil {
		return response{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return response{resp.StatusCode, resp.Header, text}, err
}

// request is one of a client.
type request struct {
	instance, start int
	target          string
	unsafe          bool
	sent, received  time.Time
	status          int // 0 means that no response came
	load            int // 0 means that the body names none
	ttl             int // seconds, as Cache-Status has it
	hit             bool
	how             string // Cache-Status
}

// isFresh reports whether the response was served as fresh from a cache.
func (q *request) isFresh() bool { return q.hit && q.ttl > 0 }

// get requests a target from an instance.
func (f *fleet) get(n int, target string) {
	path, lang, _ := strings.Cut(target, " ")
	header := http.Header{}
	if lang != "" {
		header.Set("Accept-Language", lang)
	}
	f.request(&request{instance: n, target: target}, http.MethodGet, path, header)
}

// unsafe sends an unsafe request, which is a change of its target as well.
func (f *fleet) unsafe(e Event) {
	c := &change{instance: e.On, start: f.instances[e.On].starts, event: e, sent: time.Now()}
	f.note(func() { f.changes = append(f.changes, c) })
	q := &request{instance: e.On, target: e.Target, unsafe: true}
	f.request(q, http.MethodPost, e.Target, http.Header{})
	f.note(func() { c.answered, c.status = q.received, q.status })
}

// burst requests a target from all instances at once.
func (f *fleet) burst(e Event) {
	for n := range f.instances {
		for range 2 {
			f.pending.Go(func() { f.get(n, e.Target) })
		}
	}
}

// request sends a request, and notes the response.
func (f *fleet) request(q *request, method, path string, header http.Header) {
	i := f.instances[q.instance]
	q.start, q.sent = i.starts, time.Now()
	f.note(func() { f.requests = append(f.requests, q) })
	got, err := i.clients.send(method, "http://fleet.test"+path, header, nil)
	f.note(func() {
		q.received = time.Now()
		if err == nil {
			q.read(got)
		}
	})
}

// read notes what a response says, also in Cache-Status (RFC 9211).
func (q *request) read(got response) {
	var named struct {
		Load int
		Data struct{ Load int } // of an endpoint
	}
	_ = json.Unmarshal(got.body, &named) // an error has another body
	q.status, q.load, q.how = got.status, max(named.Load, named.Data.Load), got.header.Get("Cache-Status")
	for part := range strings.SplitSeq(q.how, "; ") {
		if part == "hit" {
			q.hit = true
		}
		_, _ = fmt.Sscanf(part, "ttl=%d", &q.ttl)
	}
}
