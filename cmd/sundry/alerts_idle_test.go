//go:build linux

package main

import (
	"testing"

	"sundry/cache/far/redistest"
)

// idleInstances starts four instances, each in a process of its own, and returns their admin listeners by job: one
// without settings, one with Redis, one with an API, and one with a data directory.
func idleInstances(t *testing.T) map[string]string {
	t.Helper()
	file := func(lines string) []string {
		return []string{"--config", write(t, t.TempDir(), "idle.yaml", lines)}
	}
	all := map[string]string{}
	for job, args := range map[string][]string{
		"sundry-plain":  {"--replay"},
		"sundry-redis":  {"--replay", "--redis", redistest.Start(t).URL()},
		"sundry-api":    append(file(unwarmed+only()), "--to", newOrigin(t).URL),
		"sundry-stored": append(file(unwarmed+"data: "+t.TempDir()+"\n"), "--replay"),
	} {
		all[job] = startProgram(t, nil, args...).admin
	}
	return all
}
