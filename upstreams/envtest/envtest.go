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
	"sundry/upstreams/lib/redact"
)

// New makes an environment without secrets, data and replay, whose transport
// finds nothing.
func New(t testing.TB) *upstreams.Environment {
	t.Helper()
	env := Bare()
	env.Transport = http.NewFileTransportFS(os.DirFS(t.TempDir()))
	return env
}

// Bare makes one without a transport either, for what several tests share.
func Bare() *upstreams.Environment {
	env := &upstreams.Environment{
		Guard:  guard.New(guard.Config{}),
		Secret: func(string) (string, bool) { return "", false }, Hidden: &redact.Set{}, Log: slog.New(slog.DiscardHandler),
	}
	env.Metrics = upstreams.NewMetrics(nil, &env.Hosts, &env.Quotas)
	return env
}
