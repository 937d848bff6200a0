package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// version is what is released.
type version struct {
	Name   string    // such as 0.1.0, without a v
	Commit string    // in full; "" without a repository
	Time   time.Time // of the commit, or SOURCE_DATE_EPOCH
	Source string    // URL of the repository, for people; "": it is not told
}

// newest is the heading of a version in CHANGELOG.md.
var newest = regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+)`)

// versionOf is the version that was named, or that of the tag. What lies behind a tag,
// or has none, is told by its commit.
func versionOf(ctx context.Context, source, named string) (version, error) {
	v := version{Name: named}
	var err error
	if v.Commit, err = git(ctx, source, "rev-parse", "HEAD"); err != nil {
		return v, err
	}
	if v.Time, err = timeOf(ctx, source); err != nil {
		return v, err
	}
	if v.Name == "" {
		v.Name, err = describe(ctx, source, v.Commit)
	}
	return v, err
}

func describe(ctx context.Context, source, commit string) (string, error) {
	if tag, err := git(ctx, source, "describe", "--tags", "--match", "v[0-9]*", "--dirty"); err == nil {
		return strings.TrimPrefix(tag, "v"), nil
	}
	log, err := os.ReadFile(filepath.Join(source, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	m := newest.FindSubmatch(log)
	if m == nil {
		return "", fmt.Errorf("no tag such as v0.1.0, and no version in CHANGELOG.md: give one with -version")
	}
	return string(m[1]) + "-dev." + commit[:12], nil
}

// timeOf is when all files of the release are from.
func timeOf(ctx context.Context, source string) (time.Time, error) {
	epoch := os.Getenv("SOURCE_DATE_EPOCH")
	if epoch == "" {
		var err error
		if epoch, err = git(ctx, source, "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, err
		}
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: expected seconds since 1970, got %q", epoch)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

func git(ctx context.Context, source string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", source}, args...)...).Output() //nolint:gosec // fixed commands
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
