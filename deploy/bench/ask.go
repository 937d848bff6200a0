package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// reply is an answer to a single request of the bench itself.
type reply struct {
	status int
	header http.Header
	body   string
}

// get asks for an address, without a User-Agent and an Accept-Encoding: the load has none,
// and answers may depend on them.
func get(ctx context.Context, by *http.Transport, url, method string, header map[string]string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, http.NoBody) //nolint:gosec // a server of the bench's own
	if err != nil {
		return reply{}, err
	}
	by.DisableCompression = true
	req.Header.Set("User-Agent", "")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := by.RoundTrip(req)
	if err != nil {
		return reply{}, err
	}
	body, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(body)}, errors.Join(err, resp.Body.Close())
}

// ask makes a request of a row.
func (b *bench) ask(r *row, s *server, path string) (reply, error) {
	return get(b.ctx, b.transport, s.url(path), r.verb(), r.header)
}

// admin asks the admin listener of a Sundry.
func (b *bench) admin(s *server, path string) (metrics, error) {
	answer, err := get(b.ctx, b.transport, "http://"+s.admin()+path, http.MethodGet, nil)
	return metrics(answer.body), err
}

// metrics are those of a Sundry, in the text format.
type metrics string

// sum is that of the values of a family with a label; "" is all.
func (m metrics) sum(family, label string) (sum float64) {
	for line := range strings.Lines(string(m)) {
		end := strings.LastIndexByte(line, ' ')
		name, labels, _ := strings.Cut(line[:max(end, 0)], "{")
		if name == family && strings.Contains(labels, label) {
			value, _ := strconv.ParseFloat(strings.TrimSpace(line[end:]), 64) // it is a number
			sum += value
		}
	}
	return sum
}
