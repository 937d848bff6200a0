//go:build linux

package harness

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
)

// Machine says where figures come from: the processor, the kernel, Go, and the versions
// of some of nginx, Varnish, Redis and wrk.
func (b *Bench) Machine(programs ...string) string {
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease") // "" says that it is not known
	cpu, _ := os.ReadFile("/proc/cpuinfo")
	parts := []string{
		fmt.Sprintf("%s, %d cores, Linux %s, %s", firstMatch(`model name\s*:\s*(.+)`, string(cpu)), strings.Count(string(cpu), "processor\t"),
			firstMatch(`^(\d+\.\d+)`, string(kernel)), strings.Replace(runtime.Version(), "go", "Go ", 1)),
	}
	for _, program := range programs {
		parts = append(parts, program+" "+b.version(program))
	}
	return strings.Join(parts, ", ")
}

// version is what a program says of itself; some exit with an error when they do.
func (b *Bench) version(program string) string {
	command := map[string][3]string{
		"nginx": {"nginx", "-v", `nginx/(\S+)`}, "Varnish": {"varnishd", "-V", `varnish-(\S+)`}, "Redis": {"redis-server", "-v", `v=(\S+)`},
		"wrk": {"wrk", "-v", `(\d+\.\d+\.\d+)`},
	}[program]
	out, _ := exec.CommandContext(b.Context, command[0], command[1]).CombinedOutput()
	return firstMatch(command[2], string(out))
}

func firstMatch(pattern, text string) string {
	if m := regexp.MustCompile(pattern).FindStringSubmatch(text); m != nil {
		return strings.TrimSpace(m[1])
	}
	return "unknown"
}
