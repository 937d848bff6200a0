package main

import (
	"errors"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// TestTheMemoryLimitOfTheCgroup becomes that of the runtime, unless an operator has set another.
func TestTheMemoryLimitOfTheCgroup(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	for name, row := range map[string]struct {
		variable string
		allowed  memlimit.Provider
		want     int64
		says     string
	}{
		"docker run -m 512m": {"", memlimit.Limit(512 << 20), 418_759_311, "level=INFO"},
		"GOMEMLIMIT":         {"400MiB", memlimit.Limit(512 << 20), math.MaxInt64, ""},
		"no limit":           {"", func() (uint64, error) { return 0, memlimit.ErrNoLimit }, math.MaxInt64, ""},
		"no cgroup":          {"", func() (uint64, error) { return 0, memlimit.ErrNoCgroup }, math.MaxInt64, ""},
		"unreadable":         {"", func() (uint64, error) { return 0, errors.New("broken") }, math.MaxInt64, "level=WARN"},
	} {
		t.Run(name, func(t *testing.T) {
			debug.SetMemoryLimit(math.MaxInt64)
			t.Setenv("GOMEMLIMIT", row.variable)
			if row.variable == "" {
				_ = os.Unsetenv("GOMEMLIMIT") // an empty one counts as set
			}
			var said strings.Builder
			limitMemory(row.allowed, slog.New(slog.NewTextHandler(&said, nil)))
			if got := debug.SetMemoryLimit(-1); got != row.want {
				t.Errorf("limit %d, want %d", got, row.want)
			}
			if !strings.Contains(said.String(), row.says) || row.says == "" && said.Len() > 0 {
				t.Errorf("logged %s", &said)
			}
		})
	}
}
