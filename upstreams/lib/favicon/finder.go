// Package favicon finds the icon of a site on the site itself. It promises that
// what it returns is a whole picture by its own bytes, whatever type the server
// declares, that no URL is requested which Check has not accepted, redirects and
// links included, and that a site which did not answer is never reported as one
// without an icon.
package favicon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"sundry/upstreams/lib/webpage"
)

const (
	defaultBudget = 6 * time.Second
	maxTries      = 5 // links of one page that are requested
)

// Finder finds icons. It is safe for concurrent use if its fields are.
type Finder struct {
	Do webpage.Doer
	// Check accepts a URL and returns it as it is to be sent, or rejects it. It is
	// called before each request, those of redirects and links included. Its
	// errors are returned wrapped.
	Check func(raw string) (*url.URL, error)
	// Size is the wanted width in pixels. Page prefers the smallest icon that is at
	// least as wide, then the widest. 0 prefers small icons.
	Size int
}

// Icon is a picture that a site serves.
type Icon struct {
	// URL it came from, at the end of all redirects; that of the page for an
	// icon that the page contains as a data: URL.
	URL string
	// Type by its bytes: image/x-icon, image/png, image/gif, image/jpeg,
	// image/webp, image/bmp or image/svg+xml. An SVG may hold scripts.
	Type string
	// Bytes are 60 at least, 1 MiB at most, of an SVG 256 KiB.
	Bytes []byte
}

// Root requests /favicon.ico over HTTPS, then HTTP. The host is canonical, as
// Host returns it.
//
// HTTPS gets at most two thirds of the time that remains until the deadline of
// ctx, or of 6 s without one. The error is ErrNone when one of the two answered
// and neither has an icon; one of Check; or says why neither answered, or what reply
// was empty or cut off.
func (f *Finder) Root(ctx context.Context, host string) (*Icon, error) {
	return f.both(ctx, host, func(ctx context.Context, s *search, origin string) (*Icon, error) {
		return s.icon(ctx, origin+"/favicon.ico")
	})
}

// Page reads the home page, over HTTPS, then HTTP, and tries the five best of
// the icons that it links, best first. Times and errors are those of Root, but
// the error is not ErrNone when an icon of the page could not be fetched.
func (f *Finder) Page(ctx context.Context, host string) (*Icon, error) {
	return f.both(ctx, host, func(ctx context.Context, s *search, origin string) (*Icon, error) { return s.linked(ctx, origin) })
}

// both tries the two origins of a host. An answer of either counts for the site:
// many sites serve only one of the two.
func (f *Finder) both(ctx context.Context, host string, try func(ctx context.Context, s *search, origin string) (*Icon, error)) (*Icon, error) {
	s, err := f.search()
	if err != nil {
		return nil, err
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, defaultBudget)
		defer cancel()
	}
	httpsCtx, cancel := withReserve(ctx)
	icon, secure := try(httpsCtx, s, "https://"+host)
	cancel()
	if secure == nil || refused(secure) || ctx.Err() != nil {
		return icon, secure
	}
	icon, plain := try(ctx, s, "http://"+host)
	switch {
	case plain == nil, refused(plain):
		return icon, plain
	case isIncomplete(secure), errors.Is(secure, ErrNone) && !isIncomplete(plain):
		return nil, secure
	case isIncomplete(plain), errors.Is(plain, ErrNone):
		return nil, plain
	}
	return nil, errors.Join(secure, plain)
}

// withReserve reserves a third of the remaining time for later requests.
func withReserve(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(end)*2/3)
}

// icon fetches one picture.
func (f *search) icon(ctx context.Context, raw string) (*Icon, error) {
	resp, u, err := f.get(ctx, raw, "image/*,*/*;q=0.8")
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := checkStatus(u, resp.StatusCode); err != nil {
		return nil, err
	}
	b, err := readIcon(resp.Body)
	if err != nil {
		return nil, marked{failed(u, err), errIncomplete}
	}
	kind, err := typeOf(b)
	switch {
	case errors.Is(err, ErrNone):
		return nil, fmt.Errorf("%s answered with something other than an icon: %w", u.Host, err)
	case err != nil:
		return nil, marked{fmt.Errorf("icon of %s: %w", u.Host, err), errIncomplete}
	}
	return &Icon{URL: u.String(), Type: kind, Bytes: b}, nil
}

// linked tries what the home page links, or the page that it is refreshed by.
func (f *search) linked(ctx context.Context, origin string) (*Icon, error) {
	page, found, err := f.page(ctx, origin+"/")
	if err == nil && len(found.links) == 0 && found.refresh != "" {
		page, found, err = f.refreshed(ctx, page, found)
	}
	if err != nil {
		return nil, err
	}
	hrefs := ranked(found.links, f.Size)
	var failures []error
	for _, href := range hrefs[:min(len(hrefs), maxTries)] {
		icon, err := f.linkedIcon(ctx, page, found.baseURL(page), href)
		if err == nil {
			return icon, nil
		}
		failures = append(failures, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, combine(failures)
}

// refreshed is the page that a page names in its meta refresh. A target that is no page
// leaves the page as it is.
func (f *search) refreshed(ctx context.Context, page *url.URL, found head) (*url.URL, head, error) {
	u, err := webpage.Reference(found.baseURL(page), found.refresh)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return page, found, nil //nolint:nilerr // see above
	}
	return f.page(ctx, u.String())
}

func (f *search) page(ctx context.Context, raw string) (*url.URL, head, error) {
	ctx, cancel := withReserve(ctx)
	defer cancel()
	resp, u, err := f.get(ctx, raw, "text/html,*/*;q=0.8")
	if err != nil {
		return nil, head{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := checkStatus(u, resp.StatusCode); err != nil {
		return nil, head{}, err
	}
	found, err := readHead(resp.Body)
	if err != nil {
		return nil, head{}, marked{failed(u, err), errIncomplete}
	}
	if target, ok := webpage.Refresh(resp.Header.Get("Refresh")); ok {
		found.refresh = target
	}
	return u, found, nil
}

// linkedIcon is one link's picture. A link that cannot be a picture is ErrNone.
func (f *search) linkedIcon(ctx context.Context, page, base *url.URL, href string) (*Icon, error) {
	if isData(href) {
		b := decodeData(href)
		kind, err := typeOf(b)
		if err != nil {
			return nil, ErrNone
		}
		return &Icon{URL: page.String(), Type: kind, Bytes: b}, nil
	}
	u, err := webpage.Reference(base, href)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, ErrNone
	}
	ctx, cancel := withReserve(ctx)
	defer cancel()
	return f.icon(ctx, u.String())
}

var (
	// ErrNone means that the site answered and has no icon at the URLs that were
	// requested. Every other error means that this could not be determined.
	ErrNone = errors.New("site has no icon")
	// ErrForbidden is wrapped by errors of Host about input that it understands
	// but rejects: addresses, names without a dot, other schemes, credentials,
	// ports.
	ErrForbidden = errors.New("not a public site")
)

// marked is an error that is also one of those below, without their text.
type marked struct {
	error
	mark error
}

func (m marked) Unwrap() []error { return []error{m.error, m.mark} }

var (
	// errRefused marks an error of Check: it ends the search.
	errRefused = errors.New("refused")
	// errIncomplete marks the error of a reply that is empty or cut off. What the site has is
	// not known then, whatever it answers to other requests.
	errIncomplete = errors.New("incomplete")
)

func refused(err error) bool      { return errors.Is(err, errRefused) }
func isIncomplete(err error) bool { return errors.Is(err, errIncomplete) }

// failed is the error of a request without a response. Of the URL it names only
// the host.
func failed(u *url.URL, err error) error {
	return fmt.Errorf("get from %s: %w", u.Host, webpage.Cause(err))
}

// checkStatus accepts the usable statuses. Those that mean "nothing here" are
// ErrNone; all others say nothing about icons: a part that was not requested, a
// rejected robot, an overload, a failure.
func checkStatus(u *url.URL, status int) error {
	switch status {
	case http.StatusOK, http.StatusCreated, http.StatusNonAuthoritativeInfo:
		return nil
	case http.StatusNotFound, http.StatusGone, http.StatusNoContent:
		return fmt.Errorf("%s answered %d: %w", u.Host, status, ErrNone)
	}
	return fmt.Errorf("%s answered %d", u.Host, status)
}

// combine joins the failures of all links of a page. The result is ErrNone only
// if each of them is.
func combine(failures []error) error {
	var others []error
	for _, err := range failures {
		if !errors.Is(err, ErrNone) {
			others = append(others, err)
		}
	}
	if len(others) == 0 {
		return ErrNone
	}
	return errors.Join(others...)
}
