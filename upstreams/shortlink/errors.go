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
