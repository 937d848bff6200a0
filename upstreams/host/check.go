package host

import "sync/atomic"

// failedChecks is how many checks in a row must fail until an address is out: one alone may have been lost on the way.
const failedChecks = 2

// Check holds what the health checks of an address have found for an API. It outlives reloads. It is safe for concurrent use; nil means that the
// address is not checked.
type Check struct {
	API, Host string
	running   atomic.Int32
	failed    atomic.Int32 // in a row
}

// Begin counts something that checks the address, until end is called. What was found before is out of date after that.
func (c *Check) Begin() (end func()) {
	c.running.Add(1)
	return func() { c.running.Add(-1) }
}

// Runs reports whether the address is checked.
func (c *Check) Runs() bool { return c != nil && c.running.Load() > 0 }

// Out reports whether an address is not asked while there are others. One check that succeeds brings it back.
func (c *Check) Out() bool { return c.Runs() && c.failed.Load() >= failedChecks }

// Note notes how a check ended; nil means success. changed reports whether the address is out by that, or back.
func (c *Check) Note(err error) (changed bool) {
	if err != nil {
		return c.failed.Add(1) == failedChecks
	}
	return c.failed.Swap(0) >= failedChecks
}

// Check returns the check of an address for an API, new if there is none yet. Names come from catalog files, so they are few.
func (hs *Hosts) Check(api, host string) *Check {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	key := [2]string{api, host}
	c := hs.checks[key]
	if c == nil {
		if hs.checks == nil {
			hs.checks = map[[2]string]*Check{}
		}
		c = &Check{API: api, Host: host}
		hs.checks[key] = c
	}
	return c
}

// Checks lists those that run, in no order.
func (hs *Hosts) Checks() (running []*Check) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	for _, c := range hs.checks {
		if c.Runs() {
			running = append(running, c)
		}
	}
	return running
}
