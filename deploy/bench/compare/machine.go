//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
)

// machine says where the figures come from.
func (b *bench) machine() string {
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease") // "" says that it is not known
	cpu, _ := os.ReadFile("/proc/cpuinfo")
	parts := []string{
		fmt.Sprintf("%s, %d cores, Linux %s, %s", firstMatch(`model name\s*:\s*(.+)`, string(cpu)), strings.Count(string(cpu), "processor\t"),
			firstMatch(`^(\d+\.\d+)`, string(kernel)), strings.Replace(runtime.Version(), "go", "Go ", 1)),
		"nginx " + b.version(`nginx/(\S+)`, "nginx", "-v"),
		"Varnish " + b.version(`varnish-(\S+)`, "varnishd", "-V"),
		"Redis " + b.version(`v=(\S+)`, "redis-server", "-v"),
		"wrk " + b.version(`(\d+\.\d+\.\d+)`, "wrk", "-v"),
	}
	return strings.Join(parts, ", ") + "; loopback, no TLS; the server on one core, the load on another, 64 connections."
}

// version is what a program says of itself; some exit with an error when they do.
func (b *bench) version(pattern, program string, args ...string) string {
	out, _ := exec.CommandContext(b.ctx, program, args...).CombinedOutput() //nolint:gosec // from the lines above
	return firstMatch(pattern, string(out))
}

func firstMatch(pattern, text string) string {
	if m := regexp.MustCompile(pattern).FindStringSubmatch(text); m != nil {
		return strings.TrimSpace(m[1])
	}
	return "unknown"
}
