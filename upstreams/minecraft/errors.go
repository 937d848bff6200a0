package minecraft

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
)

// PingError is a server that did not answer. Kind is timeout, refused, dns or
// protocol.
type PingError struct {
	Kind string
	Err  error
}

func (e *PingError) Error() string { return e.Kind + ": " + e.Err.Error() }

// Unwrap gives the cause.
func (e *PingError) Unwrap() error { return e.Err }

var errProtocol = errors.New("server does not speak the status protocol")

// protocol marks an error of the conversation, unless time ran out.
func protocol(err error) error {
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return err
	}
	return fmt.Errorf("%w: %w", errProtocol, err)
}

// kindOf says which kind an error is; "" for one that is the Dialer's own.
func kindOf(err error) string {
	var dns *net.DNSError
	var network net.Error
	switch {
	case errors.Is(err, errProtocol):
		return "protocol"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.As(err, &dns):
		return "dns"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "timeout"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.ECONNRESET):
		return "timeout" // as good as silence
	}
	return ""
}

func classify(err error) error {
	if kind := kindOf(err); kind != "" {
		return &PingError{Kind: kind, Err: err}
	}
	return err
}
