// Package envtest makes environments for tests, in which nothing reaches a
// network.
package envtest

import (
	"log/slog"
	"net/http"
	"os"
	"testing"

	"sundry/upstreams"
	"sundry/upstreams/lib/guard"
)

// New makes an environment without secrets, data and replay, whose transport
// finds nothing.
func New(t testing.TB) *upstreams.Environment {
	t.Helper()
	env, err := Bare()
	if err != nil {
		t.Fatal(err)
	}
	env.Transport = http.NewFileTransportFS(os.DirFS(t.TempDir()))
	return env
}

// Bare makes one without a transport either, for what several tests share.
func Bare() (*upstreams.Environment, error) {
	env := &upstreams.Environment{
		Guard:  guard.New(guard.Config{}),
		Secret: func(string) (string, bool) { return "", false }, Log: slog.New(slog.DiscardHandler),
	}
	var err error
	env.Metrics, err = upstreams.NewMetrics(nil, &env.Hosts, &env.Quotas)
	return env, err
}
