//go:build !unix

package simulation

import (
	"errors"
	"syscall"
)

// socketLike returns nil: nobody looks at sockets on this system.
func socketLike(bool) (syscall.RawConn, error) { return nil, errors.ErrUnsupported }
