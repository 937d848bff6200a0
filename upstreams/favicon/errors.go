package favicon

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"sundry/upstreams/webpage"
)

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
