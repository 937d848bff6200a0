package favicon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"

	"sundry/upstreams/lib/webpage"

	"golang.org/x/net/publicsuffix"
)

const (
	maxRedirects = 5
	maxIcon      = 1 << 20
	maxPage      = 512 << 10

	// agent names this service in a form that sites which require a browser accept.
	agent = "Mozilla/5.0 (compatible; Sundry/1.0)"
)

// search is one search for an icon, with cookies of its own: some sites redirect to
// themselves until a cookie is sent.
type search struct {
	*Finder
	jar *cookiejar.Jar
}

func (f *Finder) search() (*search, error) {
	jar, err := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
	if err != nil {
		return nil, fmt.Errorf("make a cookie jar: %w", err)
	}
	return &search{f, jar}, nil
}

// get follows up to five redirects. It returns the response, whose body the
// caller closes, and the URL that it came from.
func (f *search) get(ctx context.Context, raw, accept string) (*http.Response, *url.URL, error) {
	for range maxRedirects + 1 {
		u, err := f.Check(raw)
		if err != nil {
			return nil, nil, marked{fmt.Errorf("look for an icon: %w", err), errRefused}
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
		if err != nil {
			return nil, nil, failed(u, err)
		}
		// No Accept-Encoding: a transport that sets its own decompresses as well.
		req.Header.Set("User-Agent", agent)
		req.Header.Set("Accept", accept)
		for _, c := range f.jar.Cookies(u) {
			req.AddCookie(c)
		}
		resp, err := f.Do.Do(req)
		if err != nil {
			return nil, nil, failed(u, err)
		}
		f.jar.SetCookies(u, resp.Cookies())
		location := resp.Header.Get("Location")
		if !webpage.IsRedirect(resp.StatusCode) || location == "" {
			return resp, u, nil
		}
		_ = resp.Body.Close()
		next, err := webpage.Reference(u, location)
		if err != nil {
			return nil, nil, fmt.Errorf("%s redirects to something that is not a URL", u.Host)
		}
		raw = next.String()
	}
	return nil, nil, fmt.Errorf("more than %d redirects", maxRedirects)
}

// content is a reply's body, decompressed. A reply without any says nothing about icons.
func content(r io.Reader, limit int64) (io.Reader, error) {
	plain, err := webpage.Gunzip(r, limit)
	if err != nil {
		return nil, err
	}
	b := bufio.NewReader(plain)
	if _, err := b.Peek(1); errors.Is(err, io.EOF) {
		return nil, errors.New("the reply is empty")
	}
	return b, nil
}

// readIcon reads up to one byte more than an icon may have.
func readIcon(r io.Reader) ([]byte, error) {
	plain, err := content(r, maxIcon+1)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(plain)
}

// readHead reads a page up to the end of its head, or a byte beyond maxPage.
func readHead(r io.Reader) (head, error) {
	plain, err := content(r, maxPage+1)
	if err != nil {
		return head{}, err
	}
	return scanHead(plain)
}
