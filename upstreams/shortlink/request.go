package shortlink

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"sundry/upstreams/webpage"
)

// ask sends the request for where the walk stands, and finds where the answer
// leads; nil for nowhere.
func (w *walk) ask(ctx context.Context) (*found, error) {
	ctx, cancel := context.WithTimeout(ctx, hopWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.at.String(), http.NoBody)
	if err != nil {
		return nil, failed(w.at, err)
	}
	req.Header.Set("User-Agent", agentFor(w.at))
	req.Header.Set("Accept", "text/html,*/*;q=0.8")
	req.Header.Set("Accept-Language", "zh-CN,zh;q=0.9,en;q=0.5")
	req.Header.Set("Accept-Encoding", "identity")
	for _, c := range w.jar.Cookies(w.at) {
		req.AddCookie(c)
	}
	resp, err := w.follower.Do.Do(req)
	if err != nil {
		return nil, failed(w.at, err)
	}
	defer func() { _ = resp.Body.Close() }()
	w.Status = resp.StatusCode
	w.keepCookies(resp)
	return w.read(resp)
}

// keepCookies for the host that set them alone, whatever domain they claim.
func (w *walk) keepCookies(resp *http.Response) {
	cookies := resp.Cookies()
	for _, c := range cookies {
		c.Domain = ""
	}
	w.jar.SetCookies(w.at, cookies)
}

// read reads the body only of an answer that has no Location.
func (w *walk) read(resp *http.Response) (*found, error) {
	moved := webpage.IsRedirect(resp.StatusCode)
	if location := resp.Header.Get("Location"); moved && location != "" {
		return resolve(w.at, location, "http"), nil
	}
	if !moved && resp.StatusCode != http.StatusOK {
		return nil, w.first(judge(w.at, resp.StatusCode))
	}
	if ref, ok := refresh(resp.Header.Get("Refresh")); ok {
		if f := firstWeb(w.at, "http", []string{ref}); f != nil {
			return f, nil
		}
	}
	kind := contentType(resp.Header)
	body := readBody(resp)
	if saysGone(w.at, kind, body) {
		return nil, w.first(fmt.Errorf("%s says so: %w", w.at.Host, ErrGone))
	}
	if !isHTML(kind) {
		return nil, nil
	}
	return search(w.at, body), nil
}

// first keeps an error of the link itself. What is wrong with where it leads is
// not wrong with the link.
func (w *walk) first(err error) error {
	if len(w.Hops) > 0 {
		return nil
	}
	return err
}

var (
	// ErrGone means that the link itself is dead: its server says so.
	ErrGone = errors.New("link is dead")
	// ErrForbidden is in errors of Normalize about what it understands but is
	// never followed.
	ErrForbidden = errors.New("not a public link")
	// ErrSelf means that the link leads to one of OwnHosts.
	ErrSelf = errors.New("link leads back to this service")
)

// StatusError is a link whose server answered, but not with where it leads.
type StatusError struct {
	Host   string
	Status int
}

func (e *StatusError) Error() string { return fmt.Sprintf("%s answered %d", e.Host, e.Status) }

// failed is an exchange that did not come about. Of the URL it tells
// only the host.
func failed(u *url.URL, err error) error {
	return fmt.Errorf("ask %s: %w", u.Host, webpage.Cause(err))
}

// unreachable tells failures of the network and of the server. Anything else,
// the refusal of a guard first of all, may not pass for one.
func unreachable(err error) bool {
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	for _, known := range []error{context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, http.ErrSchemeMismatch} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// judge tells a first answer that leads nowhere from a link that is its own
// target. A shortener has no pages of its own to refuse, and none to give a part
// of.
func judge(u *url.URL, status int) error {
	switch {
	case status == http.StatusNotFound, status == http.StatusGone:
		return fmt.Errorf("%s answered %d: %w", u.Host, status, ErrGone)
	case status == http.StatusTooManyRequests, status >= 500, isShort(u):
		return &StatusError{Host: u.Host, Status: status}
	}
	return nil
}
