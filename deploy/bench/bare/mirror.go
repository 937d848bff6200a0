package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"
)

// mirror answers as another server did when it was asked, by path and by whether a
// coding was accepted.
type mirror struct{ plain, coded map[string]*mirrored }

// mirrored is one answer.
type mirrored struct {
	header, unchanged http.Header // of a 200 and of a 304
	etag              string
	body              []byte
}

func newMirror(base, file string) (*mirror, error) {
	m := &mirror{plain: map[string]*mirrored{}, coded: map[string]*mirrored{}}
	if base == "" {
		return m, nil
	}
	paths, err := os.ReadFile(file) //nolint:gosec // the caller names it
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(paths)) {
		coding, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		into := m.coded
		if coding == "identity" {
			into = m.plain
		}
		if into[path], err = fetch(base+path, coding); err != nil {
			return nil, fmt.Errorf("mirroring %s: %w", path, err)
		}
	}
	return m, nil
}

// fetch asks twice, so that the second answer is a hit.
func fetch(url, coding string) (*mirrored, error) {
	if _, err := fetchOnce(url, coding); err != nil {
		return nil, err
	}
	return fetchOnce(url, coding)
}

func fetchOnce(url, coding string) (*mirrored, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", coding)
	req.Header.Set("User-Agent", "") // the load has none, and some answers depend on it
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", resp.StatusCode)
	}
	a := &mirrored{header: resp.Header, unchanged: resp.Header.Clone(), etag: resp.Header.Get("ETag")}
	a.header.Del("Date") // net/http makes it, at less cost than one that is given
	for _, name := range []string{"Date", "Content-Length", "Content-Type", "Content-Encoding"} {
		a.unchanged.Del(name)
	}
	a.body, err = io.ReadAll(resp.Body)
	return a, err
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answers := m.plain
	if r.Header.Get("Accept-Encoding") != "" {
		answers = m.coded
	}
	a := answers[r.RequestURI]
	switch {
	case a == nil:
		http.NotFound(w, r)
	case a.etag != "" && r.Header.Get("If-None-Match") == a.etag:
		maps.Copy(w.Header(), a.unchanged)
		w.WriteHeader(http.StatusNotModified)
	default:
		maps.Copy(w.Header(), a.header)
		_, _ = w.Write(a.body) // a client that went away has nothing to be told
	}
}
