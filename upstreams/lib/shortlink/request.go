package shortlink

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"

	"sundry/upstreams/lib/webpage"
)

// request requests the current URL, and returns the target in the response; nil if
// it has none.
func (w *resolution) request(ctx context.Context) (*found, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.current.String(), http.NoBody)
	if err != nil {
		return nil, failed(w.current, err)
	}
	req.Header.Set("User-Agent", agentFor(w.current))
	req.Header.Set("Accept", "text/html,*/*;q=0.8")
	req.Header.Set("Accept-Language", "zh-CN,zh;q=0.9,en;q=0.5")
	req.Header.Set("Accept-Encoding", "identity")
	for _, c := range w.jar.Cookies(w.current) {
		req.AddCookie(c)
	}
	resp, err := w.resolver.Do.Do(req)
	if err != nil {
		return nil, failed(w.current, err)
	}
	defer func() { _ = resp.Body.Close() }()
	w.Status = resp.StatusCode
	w.keepCookies(resp)
	return w.read(resp)
}

// keepCookies keeps cookies for the host that set them only, whatever their Domain
// is.
func (w *resolution) keepCookies(resp *http.Response) {
	cookies := resp.Cookies()
	for _, c := range cookies {
		c.Domain = ""
	}
	w.jar.SetCookies(w.current, cookies)
}

// read finds the target in a response. Its body is read only if it has no
// Location.
func (w *resolution) read(resp *http.Response) (*found, error) {
	moved := webpage.IsRedirect(resp.StatusCode)
	if location := resp.Header.Get("Location"); moved && location != "" {
		return parseTarget(w.current, location, "http"), nil
	}
	if !moved && resp.StatusCode != http.StatusOK {
		return nil, w.ifFirst(checkStatus(w.current, resp.StatusCode))
	}
	if ref, ok := refresh(resp.Header.Get("Refresh")); ok {
		if f := firstWeb(w.current, "http", []string{ref}); f != nil {
			return f, nil
		}
	}
	kind := contentType(resp.Header)
	body := readBody(resp)
	if reportsGone(w.current, kind, body) {
		return nil, w.ifFirst(fmt.Errorf("%s reports it: %w", w.current.Host, ErrGone))
	}
	if len(bytes.TrimSpace(body)) == 0 && isShort(w.current) { // it has said nothing, and has no pages of its own
		return nil, w.ifFirst(answered(w.current, resp.StatusCode))
	}
	if !isHTML(kind) {
		return nil, nil
	}
	return search(w.current, body), nil
}

// ifFirst returns the error for the link itself. Errors after a redirect are those
// of the target, not of the link.
func (w *resolution) ifFirst(err error) error {
	if len(w.Hops) > 0 {
		return nil
	}
	return err
}

var (
	// ErrGone means that the link does not exist any more, according to its server.
	ErrGone = errors.New("link does not exist")
	// ErrForbidden is wrapped by errors of Normalize about links that it understands
	// but that are never requested.
	ErrForbidden = errors.New("not a public link")
	// ErrSelf means that the link redirects to one of OwnHosts.
	ErrSelf = errors.New("link leads back to this service")
)

// answered is the error of a link's server that answered without a target.
func answered(u *url.URL, status int) error { return fmt.Errorf("%s answered %d", u.Host, status) }

// failed is the error of a request without a response. Of the URL it names only
// the host.
func failed(u *url.URL, err error) error {
	return fmt.Errorf("request to %s: %w", u.Host, webpage.Cause(err))
}

// unreachable reports whether an error is a failure of the network or the server.
// Anything else, above all a refusal of the SSRF guard, must not count as one.
func unreachable(err error) bool {
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	known := []error{context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, http.ErrSchemeMismatch}
	return slices.ContainsFunc(known, func(known error) bool { return errors.Is(err, known) })
}

// checkStatus returns an error for a status that means that the link does not work.
// Any other page without a redirect is its own target, but not at a shortener, which
// has no pages of its own.
func checkStatus(u *url.URL, status int) error {
	switch {
	case status == http.StatusNotFound, status == http.StatusGone:
		return fmt.Errorf("%s answered %d: %w", u.Host, status, ErrGone)
	case status == http.StatusTooManyRequests, status >= 500, isShort(u):
		return answered(u, status)
	}
	return nil
}
