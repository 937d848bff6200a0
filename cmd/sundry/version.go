package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// What the linker writes into a release (-X main.stampedVersion=0.1.0). Nothing else
// may write here.
var (
	stampedVersion string // of the tag, without its v
	stampedCommit  string
	stampedDate    string // of the commit, in RFC 3339
)

// unreleased is the version of a program that was built without a tag.
const unreleased = "devel"

// buildFacts are what the program was built of. Commit and Date are empty where the
// repository was not known.
type buildFacts struct {
	Version, Commit, Date, Go string
}

// thisBuild is what the linker was told or, without that, what the Go toolchain knows
// of module and repository.
func thisBuild() buildFacts {
	b := buildFacts{stampedVersion, stampedCommit, stampedDate, runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.complete(info)
	}
	if b.Version == "" {
		b.Version = unreleased
	}
	return b
}

// complete adds what the linker was not told.
func (b *buildFacts) complete(info *debug.BuildInfo) {
	if b.Version == "" && info.Main.Version != "(devel)" {
		b.Version = strings.TrimPrefix(info.Main.Version, "v")
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && b.Commit == "":
			b.Commit = s.Value
		case s.Key == "vcs.time" && b.Date == "":
			b.Date = s.Value
		}
	}
}

// String is a line such as 0.1.0 (commit 0123456789ab of 2026-11-22, go1.26.8, linux/amd64).
func (b buildFacts) String() string {
	parts := []string{b.Go, runtime.GOOS + "/" + runtime.GOARCH}
	if b.Commit != "" {
		of := "commit " + b.Commit[:min(12, len(b.Commit))]
		if date, _, _ := strings.Cut(b.Date, "T"); date != "" {
			of += " of " + date
		}
		parts = append([]string{of}, parts...)
	}
	return b.Version + " (" + strings.Join(parts, ", ") + ")"
}

// version is the version of the program, such as 0.1.0.
func version() string { return thisBuild().Version }

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(w *process) error {
	_, err := fmt.Fprintln(w.stdout, "sundry", thisBuild())
	return err
}
