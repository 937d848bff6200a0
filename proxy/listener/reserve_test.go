package listener

import (
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
)

// TestReservedDescriptors are closed for connections that find no other, and held again after these.
func TestReservedDescriptors(t *testing.T) {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	few := &starved{Listener: socket}
	r := newReserve(few, 3)
	dial := func() {
		t.Helper()
		client, err := net.Dial("tcp", socket.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
	}
	few.left.Store(2)
	dial()
	conn, err := r.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if len(r.spare) != 3 { // in this test, the limit is not real
		t.Errorf("%d descriptors are held", len(r.spare))
	}
	few.left.Store(4)
	if _, err := r.Accept(); !errors.Is(err, syscall.EMFILE) || len(r.spare) != 0 {
		t.Errorf("without a descriptor: %v, %d held", err, len(r.spare))
	}
	if err := conn.Close(); err != nil || len(r.spare) != 3 {
		t.Errorf("after a connection: %v, %d held", err, len(r.spare))
	}
	if err := r.Close(); err != nil || len(r.spare) != 0 {
		t.Errorf("closed: %v, %d held", err, len(r.spare))
	}
}

// TestReservedConnectionsAreServed as others are.
func TestReservedConnectionsAreServed(t *testing.T) {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	few := &starved{Listener: socket}
	few.left.Store(1)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(Reserve(few)) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for range 3 {
		resp, err := client.Get("http://" + socket.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(resp.Body); string(body) != "ok" || err != nil {
			t.Errorf("served %q %v", body, err)
		}
		_ = resp.Body.Close()
	}
	if err := errors.Join(srv.Close(), ignoreClosed(<-done)); err != nil {
		t.Error(err)
	}
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
