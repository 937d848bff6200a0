//go:build !linux

package listener

import (
	"errors"
	"fmt"
	"syscall"
)

func setReusePort(string, string, syscall.RawConn) error {
	return fmt.Errorf("reuse_port: expected Linux: %w", errors.ErrUnsupported)
}
