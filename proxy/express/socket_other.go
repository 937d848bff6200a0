//go:build !linux

package express

import "errors"

// socket is not used: the lane reads and writes by net.Conn, and leaves a connection
// to net/http that has another request behind one that net/http answers.
type socket struct{}

func openSocket(*conn) *socket { return nil }

func (*socket) serve() {}

func (*socket) watch() error { return errors.ErrUnsupported }

func (*socket) send(_, _ []byte) (int, error) { return 0, errors.ErrUnsupported }
