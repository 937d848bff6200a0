package minecraft

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// These tests run over pipes with the clock of a synctest bubble: times are exact.

// piped serves each connection with the next script, the last ones with the last.
// The test waits for the scripts to end.
func piped(t *testing.T, scripts ...func(net.Conn)) Dialer {
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		script := scripts[0]
		scripts = scripts[min(1, len(scripts)-1):]
		running.Go(func() {
			script(server)
			_ = server.Close()
		})
		return client, nil
	}
}

func silent(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

func closes(net.Conn) {}

// drips announces 16 KiB and sends a byte every tenth of a second.
func drips(c net.Conn) {
	readRequest(c)
	b := []byte{0xff, 0x7f}
	for {
		if _, err := c.Write(b); err != nil {
			return
		}
		b = b[:1]
		time.Sleep(100 * time.Millisecond)
	}
}

func hangs(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, &net.OpError{Op: "dial", Err: ctx.Err()}
}

var bubbleTarget = Target{Host: "mc.example.org", Port: DefaultPort}

func TestFailuresEndWithinTheTimeout(t *testing.T) {
	rows := map[string]struct {
		scripts []func(net.Conn) // none: the connection attempt hangs
		kind    string
		took    time.Duration
	}{
		"drip":          {[]func(net.Conn){drips}, "timeout", 5 * time.Second},
		"silence":       {[]func(net.Conn){silent}, "timeout", 5 * time.Second},
		"old silence":   {[]func(net.Conn){closes, silent}, "protocol", 5 * time.Second},
		"closed twice":  {[]func(net.Conn){closes}, "protocol", 0},
		"no connection": {nil, "timeout", 5 * time.Second},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Pinger{Dial: hangs}
				if r.scripts != nil {
					p.Dial = piped(t, r.scripts...)
				}
				start := time.Now()
				_, err := p.Ping(t.Context(), bubbleTarget)
				var kind *PingError
				if !errors.As(err, &kind) || kind.Kind != r.kind {
					t.Errorf("got %v, want kind %s", err, r.kind)
				}
				if took := time.Since(start); took != r.took {
					t.Errorf("took %v, want %v", took, r.took)
				}
			})
		})
	}
}

func TestLatency(t *testing.T) {
	rows := map[string]struct {
		timeout, pongAfter time.Duration
		want               any
		took               time.Duration
	}{
		"pong":                  {5 * time.Second, 42 * time.Millisecond, 42, 42 * time.Millisecond},
		"pong too late":         {5 * time.Second, time.Hour, nil, pongTimeout},
		"timeout before a pong": {300 * time.Millisecond, time.Hour, nil, 300 * time.Millisecond},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Pinger{Timeout: r.timeout, Dial: piped(t, func(c net.Conn) {
					readRequest(c)
					reply(c, good)
					b := make([]byte, 10)
					_, _ = io.ReadFull(c, b)
					time.Sleep(r.pongAfter)
					_, _ = c.Write(b)
				})}
				start := time.Now()
				s, err := p.Ping(t.Context(), bubbleTarget)
				took := time.Since(start)
				if err != nil || s.MOTD != "Hello world" || s.Data()["latency_ms"] != r.want || took != r.took {
					t.Errorf("%v %v after %v, want %v after %v", s.Data()["latency_ms"], err, took, r.want, r.took)
				}
			})
		})
	}
}

func TestPongOfAnotherPingIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pinger{Dial: piped(t, func(c net.Conn) {
			readRequest(c)
			reply(c, good)
			_, _ = io.ReadFull(c, make([]byte, 10))
			_, _ = c.Write(append([]byte{9, 1}, "nonsense"...))
		})}
		if s, err := p.Ping(t.Context(), bubbleTarget); err != nil || s.Latency != nil {
			t.Errorf("%v %v", s.Latency, err)
		}
	})
}

func TestSlowSRVLeavesTimeForTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dialled := ""
		serve := piped(t, func(c net.Conn) { ServeStatus(c, []byte(good)) })
		p := &Pinger{
			SRV: func(ctx context.Context, _ string) (string, uint16, error) {
				<-ctx.Done()
				return "", 0, ctx.Err()
			},
			Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				dialled = addr
				return serve(ctx, network, addr)
			},
		}
		start := time.Now()
		s, err := p.Ping(t.Context(), bubbleTarget)
		if err != nil || s.SRV || dialled != "mc.example.org:25565" || time.Since(start) != srvTimeout {
			t.Errorf("dialled %q after %v: %+v %v", dialled, time.Since(start), s, err)
		}
	})
}

func TestCancellationIsNotAFailureOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		p := &Pinger{Dial: piped(t, silent)}
		_, err := p.Ping(ctx, bubbleTarget)
		var kind *PingError
		if !errors.Is(err, context.Canceled) || errors.As(err, &kind) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestNoPingAfterCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		conn, server := net.Pipe() // without a reader, a write would block for ever
		defer func() { _, _ = conn.Close(), server.Close() }()
		if took := latency(ctx, conn, bufio.NewReader(conn)); took != nil {
			t.Errorf("latency %v", *took)
		}
	})
}
