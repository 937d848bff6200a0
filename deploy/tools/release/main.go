// Command release makes what is published of a version: a static binary for each
// platform in an archive with its papers, container images, and the checksums of all.
// It promises the same bytes for the same commit, toolchain and version, and needs no
// network once the module cache is filled, and no container engine at all.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

// platforms are those that are released.
const platforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64"

// papers go with the binary into each archive.
var papers = [...]string{"README.md", "README.zh-CN.md", "LICENSE", "CHANGELOG.md"}

func main() {
	source := flag.String("source", ".", "top of the repository")
	out := flag.String("out", "bin/release", "directory for the results; what is in it is replaced")
	named := flag.String("version", "", "version to stamp (default: of the git tag, else the newest in CHANGELOG.md with the commit)")
	url := flag.String("url", "", "where the repository is, for the label of the images (default: none, whatever git's remotes are, so that all clones give the same bytes)")
	only := flag.String("platforms", platforms, "platforms to build for")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *source, *out, *named, *url, strings.Split(*only, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, source, out, named, url string, platforms []string) error {
	v, err := versionOf(ctx, source, named)
	if err != nil {
		return err
	}
	v.Source = url
	fmt.Printf("sundry %s, commit %s\n", v.Name, v.Commit)
	r, err := newRelease(source, out, v)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(r.work) }()
	for _, p := range platforms {
		if err := r.platform(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return r.checksums()
}

// release is one run.
type release struct {
	source, out, work string
	version           version
	files             []string // that were made, without their directory
}

func newRelease(source, out string, v version) (*release, error) {
	if err := os.RemoveAll(out); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(out, 0o755); err != nil { //nolint:gosec // for others to read
		return nil, err
	}
	work, err := os.MkdirTemp("", "sundry-release-")
	return &release{source: source, out: out, work: work, version: v}, err
}

// platform makes what is published for a platform such as linux/amd64.
func (r *release) platform(ctx context.Context, platform string) error {
	system, arch, ok := strings.Cut(platform, "/")
	if !ok {
		return fmt.Errorf("expected a platform such as linux/amd64, got %q", platform)
	}
	binary, err := r.compile(ctx, system, arch)
	if err != nil {
		return err
	}
	if err := r.archive(system, arch, binary); err != nil {
		return err
	}
	if system != "linux" {
		return nil
	}
	return r.image(arch, binary)
}

// made notes a result, and returns its path.
func (r *release) made(name string) string {
	r.files = append(r.files, name)
	fmt.Println(" ", name)
	return filepath.Join(r.out, name)
}
