package recorded

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"

	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/envtest"
	"sundry/upstreams/replay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testEnvironment has the embedded data, and a replay where one is given.
func testEnvironment(t testing.TB, network *replay.Network) *upstreams.Environment {
	t.Helper()
	env := envtest.New(t)
	env.Data, env.Known = catalog.Data(""), Known{}
	if network != nil {
		env.Replay = network
	}
	return env
}

func mustLoad(t testing.TB, network *replay.Network) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load(catalog.Options{}, testEnvironment(t, network))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// replayed loads the catalog with its recorded exchanges for a network.
func replayed(t testing.TB) *catalog.Catalog {
	t.Helper()
	network := replay.New(nil)
	c := mustLoad(t, network)
	exchanges, err := Exchanges(c, mustCases(t))
	if err != nil {
		t.Fatal(err)
	}
	network.Set(exchanges)
	return c
}

// oneCase is a file system with one exchange.yaml.
func oneCase(text string) fs.FS {
	return fstest.MapFS{"testdata/a/b/good/exchange.yaml": {Data: []byte(text)}}
}
