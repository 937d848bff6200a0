package minecraft

import (
	"bufio"
	"net"
	"time"
)

// ServeStatus answers one client's status conversation with the given JSON,
// and closes the connection. It is what replayed servers are made of.
func ServeStatus(conn net.Conn, status []byte) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second)) // a pipe cannot refuse
	r := bufio.NewReader(conn)
	if first, err := r.Peek(1); err != nil || first[0] == 0xfe {
		return // the protocol before 1.7 is not served
	}
	for range 2 { // handshake and request
		if _, err := readFrame(r); err != nil {
			return
		}
	}
	if _, err := conn.Write(frame(appendString([]byte{0}, string(status)))); err != nil {
		return
	}
	ping, err := readFrame(r)
	if err != nil || len(ping) != 9 || ping[0] != 1 {
		return
	}
	_, _ = conn.Write(frame(ping)) // the pong says the same
}
