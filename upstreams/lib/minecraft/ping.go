// Package minecraft requests the status of a Java Edition game server by the Server
// List Ping, the protocol of the game's own server list. It promises a status or
// an error within its timeout whatever the server sends: no memory is allocated
// by an announced length, texts are returned without control characters, and
// bytes of a server with another protocol are never returned.
//
// The protocol is documented at https://minecraft.wiki/w/Java_Edition_protocol/Server_List_Ping.
package minecraft

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Bounds of the steps, within the timeout.
const (
	srvTimeout  = 2 * time.Second
	pongTimeout = time.Second // some servers never send one
)

// Dialer connects to a server. It must check the address (SSRF guard).
type Dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// SRVResolver looks up the SRV record of _minecraft._tcp.host. Any error means
// that there is none.
type SRVResolver func(ctx context.Context, host string) (target string, port uint16, err error)

// Pinger requests the status of servers. It is safe for concurrent use.
type Pinger struct {
	// Dial is required. The Pinger closes the connection.
	Dial Dialer
	// SRV is called for names without a port, for at most 2 s; nil means never.
	SRV SRVResolver
	// Timeout of everything together; 0 means 5 s.
	Timeout time.Duration
}

// Ping requests the status, in the current protocol and, if the server does not
// speak it, in the one before 1.7. The error is a *PingError, ErrPort, the
// Dialer's own error, or context.Canceled when the caller cancelled, which says
// nothing about the server.
func (p *Pinger) Ping(caller context.Context, t Target) (Status, error) {
	timeout := p.Timeout
	if timeout == 0 {
		timeout = 5 * time.Second
	}
	ctx, cancel := context.WithTimeout(caller, timeout)
	defer cancel()
	addr, viaSRV, err := p.locate(ctx, t)
	if err != nil {
		return Status{}, classify(err)
	}
	s, err := p.converse(ctx, addr, func(conn net.Conn) (Status, error) { return modern(ctx, conn, t) })
	if err != nil && kindOf(err) == "protocol" && ctx.Err() == nil {
		if old, failed := p.converse(ctx, addr, legacy); failed == nil {
			s, err = old, nil
		}
	}
	switch {
	case err == nil:
		s.SRV, s.Port = viaSRV, t.Port
		return s, nil
	case errors.Is(caller.Err(), context.Canceled):
		return Status{}, fmt.Errorf("ping %s: %w", t, context.Canceled)
	}
	return Status{}, classify(err)
}

// locate is the address to connect to: the SRV record's target, else the host.
func (p *Pinger) locate(ctx context.Context, t Target) (addr string, viaSRV bool, err error) {
	host, port := t.Host, t.Port
	if p.SRV != nil && !t.Explicit && net.ParseIP(t.Host) == nil {
		short, cancel := context.WithTimeout(ctx, srvTimeout)
		defer cancel()
		if target, srvPort, err := p.SRV(short, t.Host); err == nil {
			host, port, viaSRV = strings.TrimSuffix(target, "."), srvPort, true
		}
	}
	if host == "" { // RFC 2782: the target "." means that the service is not available
		return "", viaSRV, &net.DNSError{Err: "no service", Name: t.Host, IsNotFound: true}
	}
	if !AllowedPort(port) {
		return "", viaSRV, ErrPort
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port))), viaSRV, nil
}

// converse runs one conversation on a connection of its own, bounded by ctx.
func (p *Pinger) converse(ctx context.Context, addr string, conversation func(net.Conn) (Status, error)) (Status, error) {
	conn, err := p.Dial(ctx, "tcp", addr)
	if err != nil {
		return Status{}, fmt.Errorf("connect to %s: %w", addr, err)
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	// Set after the deadline above, which would otherwise undo a cancellation.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer func() {
		stop()
		_ = conn.Close()
	}()
	s, err := conversation(conn)
	if err != nil {
		return Status{}, protocol(err)
	}
	if remote, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		s.Address = remote.String()
	}
	return s, nil
}

// modern is the conversation of servers since 1.7.
func modern(ctx context.Context, conn net.Conn, t Target) (Status, error) {
	if _, err := conn.Write(append(handshake(t), frame([]byte{0})...)); err != nil {
		return Status{}, err
	}
	r := bufio.NewReader(conn)
	if err := checkStatus(r); err != nil {
		return Status{}, err
	}
	packet, err := readFrame(r)
	if err != nil {
		return Status{}, err
	}
	text, err := statusText(packet)
	if err != nil {
		return Status{}, err
	}
	s, err := parseStatus(text)
	if err == nil {
		s.Latency = latency(ctx, conn, r)
	}
	return s, err
}

// latency is the time of a ping and its pong, or nil.
func latency(ctx context.Context, conn net.Conn, r *bufio.Reader) *time.Duration {
	_ = conn.SetReadDeadline(time.Now().Add(pongTimeout))
	if ctx.Err() != nil {
		return nil // the line above has replaced the deadline of the cancellation
	}
	payload := rand.Uint64()
	start := time.Now()
	if _, err := conn.Write(frame(binary.BigEndian.AppendUint64([]byte{1}, payload))); err != nil {
		return nil
	}
	packet, err := readFrame(r)
	if err != nil || len(packet) != 9 || packet[0] != 1 || binary.BigEndian.Uint64(packet[1:]) != payload {
		return nil
	}
	took := time.Since(start)
	return &took
}

// PingError is the failure of a server to answer. Kind is timeout, refused, dns or
// protocol.
type PingError struct {
	Kind string
	Err  error
}

func (e *PingError) Error() string { return e.Kind + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *PingError) Unwrap() error { return e.Err }

var errProtocol = errors.New("server does not speak the status protocol")

// protocol wraps an error of the conversation as errProtocol, unless it is a
// timeout.
func protocol(err error) error {
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return err
	}
	return fmt.Errorf("%w: %w", errProtocol, err)
}

// kindOf is the kind of an error; "" for an error of the Dialer's own.
func kindOf(err error) string {
	var dns *net.DNSError
	var network net.Error
	switch {
	case errors.Is(err, errProtocol):
		return "protocol"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.As(err, &dns):
		return "dns"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "timeout"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.ECONNRESET):
		return "timeout" // the server is not reachable, as after a timeout
	}
	return ""
}

func classify(err error) error {
	if kind := kindOf(err); kind != "" {
		return &PingError{Kind: kind, Err: err}
	}
	return err
}
