package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// settle is how long all is well at the end, before the last checks.
const settle = 12 * time.Second

// Run runs a schedule in the bubble of the caller, with files in a directory, and returns what was observed. An error
// means that it could not begin.
func Run(s Schedule, p Program, dir string) (*Report, error) {
	f, err := newFleet(s, p, dir)
	if err != nil {
		return nil, err
	}
	for _, i := range f.instances {
		f.start(i)
	}
	time.Sleep(startTime)
	f.began = time.Now()
	table := actions()
	for _, e := range s.Events {
		time.Sleep(time.Until(f.began.Add(e.At)))
		f.pending.Go(func() { table[e.Do].run(f, e) })
	}
	f.pending.Wait()
	f.calm()
	f.ended = time.Now()
	f.look()
	f.pending.Wait()
	f.finish()
	return f.report(), nil
}

// calm ends all faults, and waits until their consequences are gone.
func (f *fleet) calm() {
	time.Sleep(f.lastTrouble())
	f.healLinks()
	f.redis.refuses("")
	f.origin.setDown(false)
	time.Sleep(settle)
}

// lastTrouble is how long the last fault still lasts.
func (f *fleet) lastTrouble() (d time.Duration) {
	f.note(func() {
		for _, t := range f.troubles {
			d = max(d, time.Until(t.to))
		}
	})
	return d
}

// finish stops everything. What remains in the bubble is a leak, and ends it with a panic.
func (f *fleet) finish() {
	for _, i := range f.instances {
		i.stop()
	}
	for _, i := range f.instances {
		f.awaitEnd(i, false)
		i.clients.CloseIdleConnections()
		i.admin.CloseIdleConnections()
	}
	f.redis.stop()
	_ = f.server.Close()
	time.Sleep(handshakes * handshake) // dials outlive their clients, in go-redis and in net/http
}

// Report is the outcome of a run.
type Report struct {
	Failures                 []Failure // in order; nil means that all promises were kept
	Requests, Changes, Loads int
	Lasted                   time.Duration // in the time of the fleet
	Logs                     []string      // of each instance, if a promise was broken
	Story                    string        // a line for each thing that happened, if a promise was broken
}

// Failure is a promise that was broken.
type Failure struct {
	At   time.Duration // since the fleet began to serve
	Rule string
	Text string
}

// String is a line of a report.
func (f Failure) String() string {
	return fmt.Sprintf("%8.3fs  %s: %s", f.At.Seconds(), f.Rule, f.Text)
}

// Breaks reports whether a promise was broken that is the first broken one of another report.
func (r *Report) Breaks(like *Report) bool {
	return slices.ContainsFunc(r.Failures, func(f Failure) bool { return f.Rule == like.Failures[0].Rule })
}

func (f *fleet) report() *Report {
	f.check()
	r := &Report{Failures: f.failures, Requests: len(f.requests), Changes: len(f.changes), Loads: len(f.origin.loads), Lasted: time.Since(f.began)}
	if len(f.failures) == 0 {
		return r
	}
	slices.SortStableFunc(r.Failures, func(a, b Failure) int { return cmp.Compare(a.At, b.At) })
	r.Story = f.story()
	for _, i := range f.instances {
		r.Logs = append(r.Logs, i.log.String())
	}
	return r
}
