package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"sundry/upstreams/lib/peertest"
)

// textCodec has messages of gRPC as they are, so that no schema is needed.
type textCodec struct{}

func (textCodec) Name() string                    { return "text" }
func (textCodec) Marshal(v any) ([]byte, error)   { return []byte(*v.(*string)), nil }
func (textCodec) Unmarshal(b []byte, v any) error { *v.(*string) = string(b); return nil }

// TestGRPCOverHTTPS: a client over TLS converses with a server without it, message by message, through Sundry.
func TestGRPCOverHTTPS(t *testing.T) {
	t.Parallel()
	echo := func(_ any, s grpc.ServerStream) error {
		for {
			var text string
			if err := s.RecvMsg(&text); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			if text = "re: " + text; s.SendMsg(&text) != nil {
				return errors.New("the client has left")
			}
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	back := grpc.NewServer(grpc.ForceServerCodec(textCodec{}))
	back.RegisterService(&grpc.ServiceDesc{ServiceName: "test.Echo", HandlerType: (*any)(nil), Streams: []grpc.StreamDesc{{StreamName: "Echo", Handler: echo, ServerStreams: true, ClientStreams: true}}}, nil)
	go func() { _ = back.Serve(l) }()
	t.Cleanup(back.Stop)
	s := serveSecurely(t, "", "--to", "h2c://"+l.Addr().String())
	conn, err := grpc.NewClient(s.address(), grpc.WithTransportCredentials(credentials.NewTLS(s.tlsConfig())), grpc.WithDefaultCallOptions(grpc.ForceCodec(textCodec{})))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/test.Echo/Echo")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		text, got := fmt.Sprint("message ", i), ""
		if err := errors.Join(stream.SendMsg(&text), stream.RecvMsg(&got)); err != nil || got != "re: "+text {
			t.Fatalf("%q: %q %v", text, got, err)
		}
	}
	var more string
	if err := errors.Join(stream.CloseSend(), stream.RecvMsg(&more)); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %q %v", more, err)
	}
}

// TestAWebSocketOfTheSameSite: servers such as Grafana accept one only if Origin is their Host, which must be that of the page.
func TestAWebSocketOfTheSameSite(t *testing.T) {
	t.Parallel()
	live := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "http://"+r.Host {
			http.Error(w, "origin not allowed", http.StatusForbidden)
			return
		}
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "websocket")
		w.WriteHeader(http.StatusSwitchingProtocols)
	}))
	t.Cleanup(live.Close)
	const request = "GET /api/live/ws HTTP/1.1\r\nHost: grafana.example.org\r\nOrigin: http://grafana.example.org\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
	for host, want := range map[string]int{"caller": http.StatusSwitchingProtocols, "origin": http.StatusForbidden} {
		c, err := net.Dial("tcp", strings.TrimPrefix(serve(t, "--to", live.URL, "--host", host).public, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		_, _ = io.WriteString(c, request)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || resp.StatusCode != want {
			t.Errorf("host: %s: %v %v, want %d", host, resp, err, want)
		}
	}
}

// TestEventsByCurl: each event reaches curl before the next is sent.
func TestEventsByCurl(t *testing.T) {
	t.Parallel()
	curl := peertest.Program(t, "curl", "curl", "curl")
	seen := make(chan struct{})
	events := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			fmt.Fprintf(w, "data: %d\n\n", i)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-seen:
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(events.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, curl, "-sN", serve(t, "--to", events.URL).public+"/events")
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for i := range 3 {
		for lines.Scan() && lines.Text() == "" { // between two events
		}
		if want := fmt.Sprint("data: ", i); lines.Text() != want {
			t.Fatalf("%q, want %s", lines.Text(), want)
		}
		seen <- struct{}{}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("curl: %v", err)
	}
}
