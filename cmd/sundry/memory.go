package main

import (
	"errors"
	"log/slog"
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// memoryShare is the part of the memory allowed that the Go runtime aims at: the rest is for what it does not count (deploy/sizing.md).
const memoryShare = 0.78

// limitMemory makes the garbage collector work harder before the kernel kills this process, by the limit of its cgroup, which
// containers and systemd set. GOMEMLIMIT takes precedence.
func limitMemory(allowed memlimit.Provider, log *slog.Logger) {
	limit, err := memlimit.Set(memlimit.WithProvider(allowed), memlimit.WithRatio(memoryShare))
	switch {
	case err == nil && limit > 0 && limit < math.MaxInt64:
		log.Info("memory limit, by that of the cgroup", "gomemlimit", limit)
	case err == nil, errors.Is(err, memlimit.ErrNoLimit), errors.Is(err, memlimit.ErrNoCgroup), errors.Is(err, memlimit.ErrCgroupsNotSupported):
	default:
		log.Warn("the memory limit of the cgroup could not be read: set GOMEMLIMIT", "error", err)
	}
}
