package catalog

import (
	"log/slog"
	"net/http"
	"os"
	"testing"

	"go.uber.org/goleak"

	"sundry/upstreams"
	"sundry/upstreams/guard"
	"sundry/upstreams/replay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testEnvironment is an environment in which nothing reaches a network.
func testEnvironment(t testing.TB, network *replay.Network) *upstreams.Environment {
	t.Helper()
	env := &upstreams.Environment{
		Guard: guard.New(guard.Config{}), Transport: http.NewFileTransportFS(os.DirFS(t.TempDir())),
		Secret: func(string) (string, bool) { return "", false },
		Data:   Data(""), Log: slog.New(slog.DiscardHandler),
	}
	if network != nil {
		env.Replay = network
	}
	var err error
	if env.Metrics, err = upstreams.NewMetrics(nil, &env.Hosts); err != nil {
		t.Fatal(err)
	}
	return env
}

func mustLoad(t testing.TB, network *replay.Network) *Catalog {
	t.Helper()
	c, err := Load(Options{}, testEnvironment(t, network))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
