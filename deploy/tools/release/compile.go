package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// compile makes a static binary, stamped with the version. Nothing in it depends on
// where it was made.
func (r *release) compile(ctx context.Context, system, arch string) ([]byte, error) {
	file, err := filepath.Abs(filepath.Join(r.work, system+"_"+arch))
	if err != nil {
		return nil, err
	}
	stamp := "-s -w -buildid= -X main.stampedVersion=" + r.version.Name + " -X main.stampedCommit=" + r.version.Commit +
		" -X main.stampedDate=" + r.version.Time.Format(time.RFC3339)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", stamp, "-o", file, "./cmd/sundry") //nolint:gosec // a fixed command
	cmd.Dir, cmd.Stderr = r.source, os.Stderr
	cmd.Env = append(withoutGo(os.Environ()), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(file) //nolint:gosec // made above
}

// withoutGo leaves out variables that would change what is compiled.
func withoutGo(environ []string) []string {
	var out []string
	for _, pair := range environ {
		switch name, _, _ := strings.Cut(pair, "="); name {
		case "GOFLAGS", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GODEBUG", "GOFIPS140", "CGO_ENABLED", "GOWORK":
		default:
			out = append(out, pair)
		}
	}
	return out
}
