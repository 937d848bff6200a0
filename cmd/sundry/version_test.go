package main

import (
	"regexp"
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	want := regexp.MustCompile(`^sundry \S+ \((commit [0-9a-f]{7,12} of \d{4}-\d\d-\d\d, )?go1\.\S+, \w+/\w+\)\n$`)
	for _, args := range [][]string{{"version"}, {"--version"}} {
		if out, errs, err := call(t, nil, args...); err != nil || errs != "" || !want.MatchString(out) {
			t.Errorf("%v: %q %s %v", args, out, errs, err)
		}
	}
}

// TestTheBuildIsThatOfTheTag, else that of the repository.
func TestTheBuildIsThatOfTheTag(t *testing.T) {
	t.Parallel()
	known := &debug.BuildInfo{
		Main:     debug.Module{Version: "v0.2.0"},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.time", Value: "2026-11-22T10:00:00Z"}},
	}
	for _, c := range []struct {
		stamped buildFacts
		info    *debug.BuildInfo
		want    string
	}{
		{buildFacts{Version: "0.1.0", Commit: "fedcba9876543210", Date: "2026-11-21T10:00:00Z", Go: "go1"}, known, `^0\.1\.0 \(commit fedcba987654 of 2026-11-21, go1, `},
		{buildFacts{Go: "go1"}, known, `^0\.2\.0 \(commit 0123456789ab of 2026-11-22, go1, `},
		{buildFacts{Go: "go1"}, &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, `^ \(go1, `},
	} {
		got := c.stamped
		got.complete(c.info)
		if !regexp.MustCompile(c.want).MatchString(got.String()) {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if version() == "" {
		t.Error("no version")
	}
}
