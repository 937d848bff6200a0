package minecraft

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"
)

// Bounds of what a server may send.
const (
	maxFrame  = 2_097_151 // three bytes of VarInt, the protocol's own bound
	maxStatus = 256 << 10
)

// Errors of the conversation are fixed texts: with received bytes in them, they
// would show callers the banners of other services (SSRF).
var (
	errVarInt = errors.New("VarInt longer than 32 bits")
	errFrame  = errors.New("invalid frame length")
)

// readVarInt reads the protocol's variable-length 32-bit integer. Padding with
// zero groups is valid (some proxies write lengths in a fixed width), a bit beyond
// the 32nd is not.
func readVarInt(r io.ByteReader) (int32, error) {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if shift == 28 && b > 0x0f {
			return 0, errVarInt
		}
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return int32(v), nil
		}
	}
	return 0, errVarInt
}

func appendVarInt(b []byte, n int32) []byte {
	v := uint32(n)
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func appendString(b []byte, s string) []byte {
	return append(appendVarInt(b, int32(len(s))), s...)
}

// frame prefixes a packet with its length.
func frame(packet []byte) []byte {
	return append(appendVarInt(nil, int32(len(packet))), packet...)
}

// readFrame reads a packet of 1 to maxFrame bytes.
func readFrame(r *bufio.Reader) ([]byte, error) {
	n, err := readVarInt(r)
	if err != nil {
		return nil, err
	}
	if n < 1 || n > maxFrame {
		return nil, errFrame
	}
	return readAll(r, int64(n))
}

// readAll reads exactly n bytes. Its buffer grows with the received bytes, not
// by the announced length.
func readAll(r io.Reader, n int64) ([]byte, error) {
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r, n); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// checkStatus waits for the beginning of a status response: its lengths, and the brace of
// its JSON. A server with another protocol may never send as many bytes as its first ones
// would announce.
func checkStatus(r *bufio.Reader) error {
	for n := 1; ; n++ {
		b, err := r.Peek(n)
		if err != nil {
			return err
		}
		if complete, err := beginsStatus(b); complete || err != nil {
			return err
		}
	}
}

var errNotStatus = errors.New("not a status response")

// beginsStatus reports whether bytes are the complete beginning of a status response. The
// error says that no status begins so.
func beginsStatus(b []byte) (complete bool, err error) {
	r := bytes.NewReader(b)
	for _, limits := range [...][2]int32{{1, maxFrame}, {0, 0}, {1, maxStatus}} { // frame, packet, text
		n, err := readVarInt(r)
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return true, nil //nolint:nilerr // the complete frame decides
		case n < limits[0] || n > limits[1]:
			return false, errNotStatus
		}
	}
	first, err := r.ReadByte()
	switch {
	case err != nil:
		return false, nil //nolint:nilerr // it is not there yet
	case first != '{' && first != ' ' && first != '\t' && first != '\r' && first != '\n':
		return false, errNotStatus
	}
	return true, nil
}

// statusText extracts the JSON of a status response packet.
func statusText(packet []byte) ([]byte, error) {
	r := bytes.NewReader(packet)
	id, err := readVarInt(r)
	if err != nil || id != 0 {
		return nil, errNotStatus
	}
	n, err := readVarInt(r)
	if err != nil || n < 0 || n > maxStatus || int(n) > r.Len() {
		return nil, errors.New("invalid length of the status text")
	}
	return packet[len(packet)-r.Len():][:n], nil
}

// handshake requests the status state. The host is the one the caller named:
// proxies of game networks route by it.
func handshake(t Target) []byte {
	p := appendVarInt(nil, 0)
	p = appendVarInt(p, -1) // no protocol version in particular
	p = appendString(p, t.Host)
	p = binary.BigEndian.AppendUint16(p, t.Port)
	return frame(appendVarInt(p, 1))
}

// ServeStatus is the server side: it answers one client's status request with the
// given JSON, and closes the connection. Replay serves recorded statuses with it.
func ServeStatus(conn net.Conn, status []byte) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second)) // a pipe always supports deadlines
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
	_, _ = conn.Write(frame(ping)) // the pong repeats the ping's payload
}
