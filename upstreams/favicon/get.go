package favicon

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

const (
	maxRedirects = 5
	maxIcon      = 1 << 20
	maxPage      = 384 << 10

	// agent says who asks, in a form that sites which want a browser accept.
	agent = "Mozilla/5.0 (compatible; Sundry/1.0)"
)

// get follows up to five redirects. The caller closes the body, and gets the
// URL that it came from.
func (f *Finder) get(ctx context.Context, raw, accept string) (*http.Response, *url.URL, error) {
	for range maxRedirects + 1 {
		u, err := f.Check(raw)
		if err != nil {
			return nil, nil, &refusal{fmt.Errorf("look for an icon: %w", err)}
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
		if err != nil {
			return nil, nil, failed(u, err)
		}
		// No Accept-Encoding: a transport that sets its own undoes it as well.
		req.Header.Set("User-Agent", agent)
		req.Header.Set("Accept", accept)
		resp, err := f.Do.Do(req)
		if err != nil {
			return nil, nil, failed(u, err)
		}
		location := resp.Header.Get("Location")
		if !redirects(resp.StatusCode) || location == "" {
			return resp, u, nil
		}
		_ = resp.Body.Close()
		next, err := u.Parse(location)
		if err != nil {
			return nil, nil, fmt.Errorf("%s redirects to what is not a URL", u.Host)
		}
		raw = next.String()
	}
	return nil, nil, fmt.Errorf("more than %d redirects", maxRedirects)
}

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// readIcon reads up to a byte more than an icon may have.
func readIcon(r io.Reader) ([]byte, error) {
	plain, err := inflated(r, maxIcon)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(plain)
}

// readHead reads a page up to the end of its head.
func readHead(r io.Reader) (head, error) {
	plain, err := inflated(r, maxPage)
	if err != nil {
		return head{}, err
	}
	return scanHead(plain)
}

// inflated undoes gzip, which some servers send unasked and unannounced; no
// picture and no page begins like it. Of either form at most limit and one byte
// are read.
func inflated(r io.Reader, limit int64) (io.Reader, error) {
	raw := bufio.NewReader(io.LimitReader(r, limit+1))
	magic, err := raw.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return raw, nil
	}
	z, err := gzip.NewReader(raw)
	if err != nil {
		return nil, fmt.Errorf("undo gzip: %w", err)
	}
	return io.LimitReader(z, limit+1), nil
}
