// Package envtest makes environments for tests, in which nothing reaches a
// network.
package envtest

import (
	"log/slog"
	"net/http"
	"os"
	"testing"

	"sundry/upstreams"
	"sundry/upstreams/guard"
)

// New makes an environment without secrets, data and replay, whose transport
// finds nothing.
func New(t testing.TB) *upstreams.Environment {
	t.Helper()
	env := &upstreams.Environment{
		Guard: guard.New(guard.Config{}), Transport: http.NewFileTransportFS(os.DirFS(t.TempDir())),
		Secret: func(string) (string, bool) { return "", false }, Log: slog.New(slog.DiscardHandler),
	}
	var err error
	if env.Metrics, err = upstreams.NewMetrics(nil, &env.Hosts); err != nil {
		t.Fatal(err)
	}
	return env
}
