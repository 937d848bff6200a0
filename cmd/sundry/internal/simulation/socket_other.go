//go:build !unix

package simulation

import (
	"errors"
	"syscall"
)

// socketLike returns an error: go-redis does not look at sockets on this system.
func socketLike(bool) (syscall.RawConn, error) { return nil, errors.ErrUnsupported }
