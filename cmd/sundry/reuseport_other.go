//go:build !linux

package main

import (
	"errors"
	"fmt"
	"syscall"
)

func reusePort(string, string, syscall.RawConn) error {
	return fmt.Errorf("reuse_port: expected Linux: %w", errors.ErrUnsupported)
}
