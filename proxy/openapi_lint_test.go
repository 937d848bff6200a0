package proxy

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"sundry/proxy/site/i18n"
	"sundry/upstreams"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/peertest"
)

// described writes the OpenAPI document of each language to a file, of a service at a base
// path, and at a public URL.
func described(t *testing.T, base, public string) (files []string) {
	t.Helper()
	f := newFront(t, nil, replayed, withExchanges, func(c *Config, _ *upstreams.Environment) { c.BasePath = base })
	if err := f.server.Reload(f.server.Catalog(), Settings{PublicURL: public}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, l := range i18n.All() {
		a := f.get(base + "/openapi.json?lang=" + l.String())
		a.want(t, 200)
		files = append(files, filepath.Join(dir, l.String()+".json"))
		if err := os.WriteFile(files[len(files)-1], []byte(a.body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// linted runs a linter of an npm package, which must find nothing. It uses no network:
// proxies that nobody listens on stand in for one.
func linted(t *testing.T, npm, program string, args ...string) {
	t.Helper()
	node, folder := peertest.Module(t, npm)
	cmd := exec.CommandContext(t.Context(), node, slices.Concat([]string{filepath.Join(folder, program)}, args)...)
	cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true", "HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", npm, err, out)
	}
}

// TestOpenAPIHasNoWarnings: linters find neither errors nor warnings, with the rules that
// they recommend, whether or not the service knows its address.
func TestOpenAPIHasNoWarnings(t *testing.T) {
	t.Parallel()
	longtest.NotShort(t, "it takes a second")
	files := slices.Concat(described(t, "/tools", ""), described(t, "", "https://api.example.org"))
	t.Run("redocly", func(t *testing.T) {
		linted(t, "@redocly/cli", "@redocly/cli/bin/cli.js", append([]string{"lint", "--extends", "recommended-strict"}, files...)...)
	})
	t.Run("spectral", func(t *testing.T) {
		rules := filepath.Join(t.TempDir(), "spectral.yaml")
		if err := os.WriteFile(rules, []byte("extends: spectral:oas\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		linted(t, "@stoplight/spectral-cli", "@stoplight/spectral-cli/dist/index.js", append([]string{"lint", "--fail-severity", "hint", "--ruleset", rules}, files...)...)
	})
}
