package host

import "sync/atomic"

// failedChecks is how many checks in a row must fail until an address is out. A single one may have been lost on the way.
const failedChecks = 2

// Check holds the results of the health checks of an address for an API. It survives reloads. It is safe for concurrent use; nil means that
// the address is not checked.
type Check struct {
	API, Host string
	running   atomic.Int32
	failed    atomic.Int32 // in a row
}

// Begin counts a checker of the address until end is called. Results without a running checker are out of date.
func (c *Check) Begin() (end func()) {
	c.running.Add(1)
	return func() { c.running.Add(-1) }
}

// Runs reports whether the address is checked.
func (c *Check) Runs() bool { return c != nil && c.running.Load() > 0 }

// Out reports whether the address is asked only after others. One successful check ends this.
func (c *Check) Out() bool { return c.Runs() && c.failed.Load() >= failedChecks }

// Note records the result of a check; nil means success. changed reports whether Out has changed by it.
func (c *Check) Note(err error) (changed bool) {
	if err != nil {
		return c.failed.Add(1) == failedChecks
	}
	return c.failed.Swap(0) >= failedChecks
}

// Check returns the check of an address for an API, and creates it if there is none. Names come from catalog files, so they are few.
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

// Checks returns the checks that are running, in no order.
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
