package status

// Counts are requests by how they ended. As totals they count from any moment on, and
// only grow.
type Counts struct {
	// Requests are all, those refused for a mistake of the caller's included.
	Requests uint64
	// Cached were answered from the cache, fresh or stale; Fetched waited for a source.
	// An endpoint that is not cached has neither.
	Cached, Fetched uint64
	// Works were answered within the endpoint's rule, negative answers included; Stale
	// got an older answer because its sources failed; Failing got none, although
	// nothing was wrong with the request. A request that was refused for a mistake or
	// over its rate is none of them, nor is one whose caller left.
	Works, Stale, Failing uint64
}

func (c *Counts) tally() Tally { return Tally{c.Works, c.Stale, c.Failing} }

// Judged are the requests that say whether the endpoint does its work.
func (c *Counts) Judged() uint64 { return c.Works + c.Stale + c.Failing }

// HitRatio is the share of the requests, 0 to 1, that the cache answered, of those that waited for a source instead,
// that failed, or that it answered; false: there were none. Without those that failed an outage would hardly show in it.
func (c *Counts) HitRatio() (float64, bool) {
	all := c.Cached + c.Fetched + c.Failing
	if all == 0 {
		return 0, false
	}
	return float64(c.Cached) / float64(all), true
}

// Add adds the counts of other requests.
func (c *Counts) Add(d *Counts) {
	c.Requests += d.Requests
	c.Cached += d.Cached
	c.Fetched += d.Fetched
	c.Works += d.Works
	c.Stale += d.Stale
	c.Failing += d.Failing
}

// since is what was counted since before.
func (c *Counts) since(before *Counts) Counts {
	return Counts{
		c.Requests - before.Requests, c.Cached - before.Cached, c.Fetched - before.Fetched,
		c.Works - before.Works, c.Stale - before.Stale, c.Failing - before.Failing,
	}
}
