package openloop

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"golang.org/x/sys/unix"
)

// answer reads one answer of a connection, as far as it has arrived.
type answer struct {
	head   bool // to a HEAD request
	status int
	want   int64 // bytes of head and body; 0 while the head is incomplete
	total  int64 // bytes so far
	begin  []byte
	buffer [64 << 10]byte
}

func (a *answer) reset() { a.status, a.want, a.total, a.begin = 0, 0, 0, a.begin[:0] }

// read reports whether the answer is complete. Only one is read at a time, because a
// connection has one request at a time.
func (a *answer) read(fd int) (done bool, err error) {
	n, err := unix.Read(fd, a.buffer[:])
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading an answer: %w", err)
	}
	if n == 0 {
		return false, errors.New("reading an answer: the server closed the connection")
	}
	a.total += int64(n)
	if a.want == 0 {
		if err := a.parse(a.buffer[:n]); err != nil {
			return false, err
		}
	}
	if a.want > 0 && a.total > a.want {
		return false, fmt.Errorf("reading an answer: %d bytes more than it has", a.total-a.want)
	}
	return a.total == a.want, nil
}

// parse takes status and length from the head once all of it is there.
func (a *answer) parse(b []byte) error {
	a.begin = append(a.begin, b...)
	end := bytes.Index(a.begin, []byte("\r\n\r\n"))
	if end < 0 {
		return nil
	}
	line, header, _ := bytes.Cut(a.begin[:end], []byte("\r\n"))
	fields := bytes.Fields(line)
	if len(fields) < 2 {
		return fmt.Errorf("reading an answer: status line %q", line)
	}
	var err error
	if a.status, err = strconv.Atoi(string(fields[1])); err != nil {
		return fmt.Errorf("reading an answer: status line %q: %w", line, err)
	}
	a.want = int64(end + 4)
	if a.head || a.status == http.StatusNotModified || a.status == http.StatusNoContent {
		return nil
	}
	length, err := contentLength(header)
	a.want += length
	return err
}

func contentLength(header []byte) (int64, error) {
	for line := range bytes.SplitSeq(header, []byte("\r\n")) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(name, []byte("Content-Length")) {
			return strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
		}
	}
	return 0, errors.New("reading an answer: no Content-Length")
}
