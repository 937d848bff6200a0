package listener

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

// firstInherited is the descriptor that sd_listen_fds(3) counts from.
const firstInherited = 3

// Inherited returns the listeners that systemd has opened for this process, as the
// unit sundry.socket says; nil means that it has opened none. The first is the public
// listener. They stay open in systemd during a restart, so that clients wait instead of
// being refused. More than max listeners are an error.
func Inherited(getenv func(string) (string, bool), max int) (all []net.Listener, err error) {
	if pid, _ := getenv("LISTEN_PID"); pid != strconv.Itoa(os.Getpid()) {
		return nil, nil // none, or meant for the parent process
	}
	text, _ := getenv("LISTEN_FDS")
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > max {
		return nil, fmt.Errorf("LISTEN_FDS=%s: expected one socket, the public listener's, and with the setting redirect up to one more", text)
	}
	for i := range n {
		l, err := inherit(uintptr(firstInherited + i))
		if err != nil {
			return nil, errors.Join(err, closeAll(all))
		}
		all = append(all, l)
	}
	return all, nil
}

// inherit returns the listener of a descriptor.
func inherit(fd uintptr) (net.Listener, error) {
	f := os.NewFile(fd, "LISTEN_FDS")
	l, err := net.FileListener(f) // which has a descriptor of its own
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("the socket from systemd: %w", err)
	}
	if _, ok := l.(*net.TCPListener); !ok {
		_ = l.Close()
		return nil, fmt.Errorf("the socket from systemd: %s %s: expected a TCP socket", l.Addr().Network(), l.Addr())
	}
	return l, nil
}

func closeAll(all []net.Listener) error {
	var failed []error
	for _, l := range all {
		failed = append(failed, l.Close())
	}
	return errors.Join(failed...)
}

// notifyTime bounds a message to systemd: where nobody reads, its queue is soon full.
const notifyTime = time.Second

// Notify tells systemd the state of this process, as sd_notify(3) does. Without
// NOTIFY_SOCKET it does nothing.
func Notify(getenv func(string) (string, bool), state string) error {
	path, ok := getenv("NOTIFY_SOCKET")
	if !ok || path == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	err = conn.SetWriteDeadline(time.Now().Add(notifyTime))
	if err == nil {
		_, err = conn.Write([]byte(state))
	}
	if err = errors.Join(err, conn.Close()); err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	return nil
}
