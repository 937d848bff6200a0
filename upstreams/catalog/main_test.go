package catalog

import (
	"testing"

	"go.uber.org/goleak"

	"sundry/upstreams"
	"sundry/upstreams/envtest"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/replay"
)

func TestMain(m *testing.M) {
	longtest.CollectLess()
	goleak.VerifyTestMain(m)
}

// testEnvironment has the embedded data, and a replay where one is given.
func testEnvironment(t testing.TB, network *replay.Network) *upstreams.Environment {
	t.Helper()
	env := envtest.New(t)
	env.Data = Data("")
	if network != nil {
		env.Replay = network
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
