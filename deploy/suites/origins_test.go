package suites

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/webdav"
	"golang.org/x/net/websocket"

	"sundry/upstreams/lib/waittest"
)

// origin serves on loopback until the test ends.
func origin(t *testing.T, h http.Handler) (address string) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

// files serves a file that is fresh for a day, and /moved, which leads to it. The test
// fails unless Sundry requests the file once.
func files(t *testing.T, dir string) string {
	t.Helper()
	text := strings.Repeat("Héllo, 世界.\n", 40_000)
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var requests atomic.Int64
	t.Cleanup(func() {
		if n := requests.Load(); n != 1 {
			t.Errorf("Sundry requested the file %d times, want once", n)
		}
	})
	mux := http.NewServeMux()
	mux.Handle("/moved", http.RedirectHandler("/file", http.StatusFound))
	mux.HandleFunc("/file", func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.Header().Set("Cache-Control", "max-age=86400")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, text)
	})
	return origin(t, mux)
}

// ranges serves the directory, also in parts.
func ranges(t *testing.T, dir string) string {
	t.Helper()
	return origin(t, http.FileServer(http.Dir(dir)))
}

// davs serves files by WebDAV. They are in memory, where they can have properties.
func davs(t *testing.T, _ string) string {
	t.Helper()
	dav := &webdav.Handler{FileSystem: webdav.NewMemFS(), LockSystem: webdav.NewMemLS()}
	named := regexp.MustCompile(`http://([^/>]+)/`)
	return origin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Destination and If have the host that clients know. The handler compares it with Host.
		if found := named.FindStringSubmatch(r.Header.Get("Destination") + r.Header.Get("If")); found != nil {
			r.Host = found[1]
		}
		dav.ServeHTTP(w, r)
	}))
}

// repositories serves the repositories of the directory by git's smart protocol.
func repositories(t *testing.T, dir string) string {
	t.Helper()
	at, err := exec.CommandContext(t.Context(), "git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(at)), "git-http-backend"), Root: "/",
		Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=test"},
	}
	return origin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// CGI needs the length of the body.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
		backend.ServeHTTP(w, r)
	}))
}

// registry is Docker's, which stores images in the directory.
func registry(t *testing.T, dir string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	config := filepath.Join(dir, "registry.yml")
	text := fmt.Sprintf("version: 0.1\nstorage: {filesystem: {rootdirectory: %q}}\nhttp: {addr: %q}\n", filepath.Join(dir, "registry"), address)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "docker-registry", "serve", config)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	waittest.Until(t, "the registry listens", func() bool {
		c, err := net.Dial("tcp", address)
		return err == nil && c.Close() == nil
	})
	return "http://" + address
}

// sockets sends all messages of a WebSocket back.
func sockets(t *testing.T, _ string) string {
	t.Helper()
	echo := func(ws *websocket.Conn) {
		var message string
		for websocket.Message.Receive(ws, &message) == nil {
			_ = websocket.Message.Send(ws, message)
		}
	}
	return origin(t, websocket.Server{Handler: echo})
}
