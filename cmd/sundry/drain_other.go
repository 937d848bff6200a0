//go:build !linux

package main

import (
	"errors"
	"net"
)

func refuseNew(*net.TCPListener) error { return errors.ErrUnsupported }
