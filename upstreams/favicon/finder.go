// Package favicon finds the icon of a site on the site itself. It promises that
// what it returns is a picture by its own bytes, whatever the server calls it,
// that nothing is asked which Check has not passed, redirects and links
// included, and that "there is no icon" is never said of a site that did not
// answer.
package favicon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"sundry/upstreams/webpage"
)

const (
	defaultBudget = 6 * time.Second
	maxTries      = 5 // links of one page that are followed
)

// Doer sends one request. It must not follow redirects: the Finder walks them
// itself. An *http.Client does so when its CheckRedirect returns
// http.ErrUseLastResponse.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Finder finds icons. It is safe for concurrent use if its fields are.
type Finder struct {
	Do Doer
	// Check passes a URL, and returns it as it is to be sent, or refuses it. It
	// is asked before each request, those of redirects and links included. Its
	// errors come back wrapped.
	Check func(raw string) (*url.URL, error)
}

// Icon is a picture that a site gave.
type Icon struct {
	// URL it came from, at the end of all redirects; that of the page for an
	// icon that stands in it as a data: URL.
	URL string
	// Type by its bytes: image/x-icon, image/png, image/gif, image/jpeg,
	// image/webp, image/bmp or image/svg+xml. An SVG may hold scripts.
	Type string
	// Bytes are 60 at least, 1 MiB at most, of an SVG 256 KiB.
	Bytes []byte
}

// Root asks for /favicon.ico over HTTPS, then HTTP. The host is canonical, as
// Host returns it.
//
// HTTPS gets at most two thirds of the time that ctx leaves, or of 6 s without a
// deadline. The error is ErrNone when one of the two answered and neither gave an
// icon; one of Check; or tells why neither answered.
func (f *Finder) Root(ctx context.Context, host string) (*Icon, error) {
	return f.both(ctx, host, func(ctx context.Context, origin string) (*Icon, error) {
		return f.icon(ctx, origin+"/favicon.ico")
	})
}

// Page reads the home page, over HTTPS, then HTTP, and tries the five best of
// the icons that it links, best first. Times and errors are those of Root, but a
// page whose icons did not answer is not ErrNone.
func (f *Finder) Page(ctx context.Context, host string) (*Icon, error) {
	return f.both(ctx, host, f.linked)
}

// both tries the two origins of a host. Whichever answers speaks for the site:
// many have nothing at all behind one of the two.
func (f *Finder) both(ctx context.Context, host string, try func(ctx context.Context, origin string) (*Icon, error)) (*Icon, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, defaultBudget)
		defer cancel()
	}
	legCtx, cancel := most(ctx)
	icon, secure := try(legCtx, "https://"+host)
	cancel()
	if secure == nil || refused(secure) || ctx.Err() != nil {
		return icon, secure
	}
	icon, plain := try(ctx, "http://"+host)
	switch {
	case plain == nil, refused(plain):
		return icon, plain
	case errors.Is(secure, ErrNone):
		return nil, secure
	case errors.Is(plain, ErrNone):
		return nil, plain
	}
	return nil, errors.Join(secure, plain)
}

// most leaves a third of the remaining time for what comes after.
func most(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(end)*2/3)
}

// icon fetches one picture.
func (f *Finder) icon(ctx context.Context, raw string) (*Icon, error) {
	resp, u, err := f.get(ctx, raw, "image/*,*/*;q=0.8")
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := judge(u, resp.StatusCode); err != nil {
		return nil, err
	}
	b, err := readIcon(resp.Body)
	if err != nil {
		return nil, failed(u, err)
	}
	kind := typeOf(b)
	if kind == "" {
		return nil, fmt.Errorf("%s answered with something else than an icon: %w", u.Host, ErrNone)
	}
	return &Icon{URL: u.String(), Type: kind, Bytes: b}, nil
}

// linked tries what the home page links.
func (f *Finder) linked(ctx context.Context, origin string) (*Icon, error) {
	page, found, err := f.page(ctx, origin+"/")
	if err != nil {
		return nil, err
	}
	hrefs := ranked(found.links)
	var failures []error
	for _, href := range hrefs[:min(len(hrefs), maxTries)] {
		icon, err := f.candidate(ctx, page, found.against(page), href)
		if err == nil {
			return icon, nil
		}
		failures = append(failures, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, undecided(failures)
}

func (f *Finder) page(ctx context.Context, raw string) (*url.URL, head, error) {
	ctx, cancel := most(ctx)
	defer cancel()
	resp, u, err := f.get(ctx, raw, "text/html,*/*;q=0.8")
	if err != nil {
		return nil, head{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := judge(u, resp.StatusCode); err != nil {
		return nil, head{}, err
	}
	found, err := readHead(resp.Body)
	if err != nil {
		return nil, head{}, failed(u, err)
	}
	return u, found, nil
}

// candidate is one link's picture. Those that cannot be one are as good as
// missing.
func (f *Finder) candidate(ctx context.Context, page, base *url.URL, href string) (*Icon, error) {
	if isData(href) {
		b := decodeData(href)
		kind := typeOf(b)
		if kind == "" {
			return nil, ErrNone
		}
		return &Icon{URL: page.String(), Type: kind, Bytes: b}, nil
	}
	u, err := base.Parse(href)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, ErrNone
	}
	ctx, cancel := most(ctx)
	defer cancel()
	return f.icon(ctx, u.String())
}

var (
	// ErrNone means that the site answered and has no icon where it was looked
	// for. Every other error means that this could not be found out.
	ErrNone = errors.New("site has no icon there")
	// ErrForbidden is in errors of Host about what it understands but never
	// asks: addresses, names without a dot, other schemes, credentials, ports.
	ErrForbidden = errors.New("not a public site")
)

// refusal marks an error of Check: it ends the search.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

func refused(err error) bool {
	_, ok := errors.AsType[*refusal](err)
	return ok
}

// failed is an exchange that did not come about. Of the URL it tells
// only the host.
func failed(u *url.URL, err error) error {
	return fmt.Errorf("get from %s: %w", u.Host, webpage.Cause(err))
}

// judge tells a usable status from one that says "nothing here" and from those
// that say nothing about icons: a part that was not asked for, a refused robot,
// an overload, a failure.
func judge(u *url.URL, status int) error {
	switch status {
	case http.StatusOK, http.StatusCreated, http.StatusNonAuthoritativeInfo:
		return nil
	case http.StatusNotFound, http.StatusGone, http.StatusNoContent:
		return fmt.Errorf("%s answered %d: %w", u.Host, status, ErrNone)
	}
	return fmt.Errorf("%s answered %d", u.Host, status)
}

// undecided joins the failures of candidates that all had to fail. It is
// ErrNone only if each of them is.
func undecided(failures []error) error {
	var open []error
	for _, err := range failures {
		if !errors.Is(err, ErrNone) {
			open = append(open, err)
		}
	}
	if len(open) == 0 {
		return ErrNone
	}
	return errors.Join(open...)
}
