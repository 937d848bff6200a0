package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// repository is a program with a history, in the place of ours, which takes minutes
// to compile.
func repository(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	put(t, dir, "go.mod", "module sundry\n\ngo 1.26\n")
	put(t, dir, "cmd/sundry/main.go", "package main\n\nvar stampedVersion, stampedCommit, stampedDate string\n\nfunc main() { println(stampedVersion, stampedCommit, stampedDate) }\n")
	for _, name := range papers {
		put(t, dir, name, "# "+name+"\n\n## Unreleased\n\n## 0.3.0\n\n## 0.2.0\n")
	}
	command(t, dir, "git", "init", "-q")
	command(t, dir, "git", "add", "-A")
	command(t, dir, "git", "-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "-q", "-m", "all")
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func command(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_COMMITTER_DATE=2026-11-20T08:00:00Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// made are the results of a run, by name.
func made(t *testing.T, source, named string, platforms ...string) map[string][]byte {
	t.Helper()
	t.Setenv("GOPROXY", "off")
	t.Setenv("SOURCE_DATE_EPOCH", "")
	out := filepath.Join(t.TempDir(), "release")
	if err := run(t.Context(), source, out, named, "https://example.org/sundry", platforms); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	entries, err := filesOf(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		files[e.name] = e.data
	}
	return files
}

// TestTheSameCommitGivesTheSameBytes, in another directory too.
func TestTheSameCommitGivesTheSameBytes(t *testing.T) {
	source := repository(t)
	clone := filepath.Join(t.TempDir(), "elsewhere")
	command(t, source, "git", "clone", "-q", ".", clone)
	first, second := made(t, source, "0.3.0", "linux/amd64"), made(t, clone, "0.3.0", "linux/amd64")
	for _, name := range []string{"sundry_0.3.0_linux_amd64.tar.gz", "sundry_0.3.0_image_linux_amd64.tar", "sundry_0.3.0_checksums.txt"} {
		if len(first[name]) == 0 || !bytes.Equal(first[name], second[name]) {
			t.Errorf("%s: %d and %d bytes, not the same", name, len(first[name]), len(second[name]))
		}
	}
	if len(first) != 3 {
		t.Errorf("%d files", len(first))
	}
	for line := range strings.Lines(string(first["sundry_0.3.0_checksums.txt"])) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if got := fmt.Sprintf("%x", sha256.Sum256(first[name])); got != sum {
			t.Errorf("%s: checksum %s, is %s", name, sum, got)
		}
	}
}

func TestTheArchiveHasABinaryThatKnowsItsVersion(t *testing.T) {
	source := repository(t)
	commit := command(t, source, "git", "rev-parse", "HEAD")
	z, err := gzip.NewReader(bytes.NewReader(made(t, source, "", "linux/amd64")["sundry_0.3.0-dev."+commit[:12]+"_linux_amd64.tar.gz"]))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	dir := t.TempDir()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.Base(h.Name))
		data, _ := io.ReadAll(r)
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), data, os.FileMode(h.Mode)); err != nil {
			t.Fatal(err)
		}
	}
	if want := append([]string{"sundry"}, papers[:]...); !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if got := command(t, dir, "./sundry"); got != "0.3.0-dev."+commit[:12]+" "+commit+" 2026-11-20T08:00:00Z" {
		t.Errorf("the binary says %s", got)
	}
}

func TestVersionsComeFromTags(t *testing.T) {
	source := repository(t)
	command(t, source, "git", "tag", "v0.4.0")
	v, err := versionOf(t.Context(), source, "")
	if err != nil || v.Name != "0.4.0" {
		t.Errorf("%+v %v", v, err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	if v, err = versionOf(t.Context(), source, "9.9.9"); err != nil || v.Name != "9.9.9" || v.Time.Unix() != 1700000000 {
		t.Errorf("%+v %v", v, err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if _, err = versionOf(t.Context(), source, ""); err == nil || !strings.Contains(err.Error(), `got "yesterday"`) {
		t.Error(err)
	}
}

// TestTheImageIsSoundAndThatOfTheDockerfile, for docker load and as an OCI layout.
func TestTheImageIsSoundAndThatOfTheDockerfile(t *testing.T) {
	data := made(t, repository(t), "0.3.0", "linux/amd64")["sundry_0.3.0_image_linux_amd64.tar"]
	loaded, err := tarball.Image(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put(t, dir, "image.tar", string(data))
	command(t, dir, "tar", "-xf", "image.tar")
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 || !manifest.Manifests[0].Platform.Equals(v1.Platform{OS: "linux", Architecture: "amd64"}) {
		t.Fatalf("%+v %v", manifest, err)
	}
	oci, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	for _, img := range []v1.Image{loaded, oci} {
		f, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if f.Architecture != "amd64" || f.Config.Labels["org.opencontainers.image.version"] != "0.3.0" {
			t.Errorf("%+v", f)
		}
	}
	f, _ := oci.ConfigFile()
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nUSER " + f.Config.User + "\n", "\nENTRYPOINT [\"" + f.Config.Entrypoint[0] + "\"]\n", "\nCMD [\"" + f.Config.Cmd[0] + "\"]\n", "\nEXPOSE 8080\n",
		"\nHEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 CMD [\"" + strings.Join(f.Config.Healthcheck.Test[1:], "\", \"") + "\"]\n",
		`org.opencontainers.image.description="` + f.Config.Labels["org.opencontainers.image.description"] + `"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("deploy/Dockerfile has no %q", want)
		}
	}
	layers, _ := oci.Layers()
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int64{}
	for r := tar.NewReader(content); ; {
		h, err := r.Next()
		if err != nil {
			break
		}
		sizes[h.Name] = h.Size
	}
	if sizes["sundry"] == 0 || sizes["LICENSE"] == 0 || sizes["etc/ssl/certs/ca-certificates.crt"] < 100_000 {
		t.Errorf("%v", sizes)
	}
}

func TestWindowsGetsAZip(t *testing.T) {
	source := repository(t)
	v, err := versionOf(t.Context(), source, "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRelease(source, t.TempDir(), v)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.archive("windows", "amd64", []byte("MZ")); err != nil {
		t.Fatal(err)
	}
	z, err := zip.OpenReader(filepath.Join(r.out, r.files[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if !regexp.MustCompile(`/sundry\.exe$`).MatchString(z.File[0].Name) || len(z.File) != 1+len(papers) {
		t.Errorf("%s, %d files", z.File[0].Name, len(z.File))
	}
}
