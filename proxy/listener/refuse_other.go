//go:build !linux

package listener

import (
	"errors"
	"net"
)

func refuseNew(*net.TCPListener) error { return errors.ErrUnsupported }
