// Package catalogtest loads catalogs for tests, in which nothing reaches a network.
package catalogtest

import (
	"os"
	"path/filepath"
	"testing"

	"sundry/upstreams/catalog"
	"sundry/upstreams/envtest"
	"sundry/upstreams/replay"
)

// Load loads the built-in catalog with files of a test's own: their texts, by the name of
// the endpoint. Nothing is recorded for its sources. A mistake in a file fails the test.
func Load(t testing.TB, own map[string]string) *catalog.Catalog {
	t.Helper()
	return LoadWith(t, own, nil)
}

// LoadWith is Load, with what a configuration says of endpoints.
func LoadWith(t testing.TB, own map[string]string, over map[string]catalog.Overrides) *catalog.Catalog {
	t.Helper()
	dir := t.TempDir()
	for name, text := range own {
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := envtest.New(t)
	env.Data, env.Replay = catalog.Data(dir), replay.New(nil)
	c, err := catalog.Load(catalog.Options{Dir: dir, Overrides: over}, env)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
