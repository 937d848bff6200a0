package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// story has a line for each thing that happened, in order.
func (f *fleet) story() string {
	type line struct {
		at   time.Time
		text string
	}
	var all []line
	for _, q := range f.requests {
		all = append(all, line{q.sent, fmt.Sprintf("instance %d start %d: %s: %d load %d after %s (%s)", q.instance, q.start, q.target, q.status, q.load, q.received.Sub(q.sent), q.how)})
	}
	for _, c := range f.changes {
		all = append(all, line{c.sent, fmt.Sprintf("instance %d start %d: %s %s: %d after %s, pending %v", c.instance, c.start, c.event.Do, c.event.Target, c.status, c.answered.Sub(c.sent), c.pending)})
	}
	for _, l := range f.origin.loads {
		all = append(all, line{l.began, fmt.Sprintf("load %d of %s by %s: %d after %s", l.number, l.target, l.instance, l.status, l.ended.Sub(l.began))})
	}
	for _, t := range f.troubles {
		all = append(all, line{t.from, fmt.Sprintf("trouble of instance %d: %s for %s", t.instance, t.what, t.to.Sub(t.from))})
	}
	slices.SortStableFunc(all, func(a, b line) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
	var b strings.Builder
	for _, l := range all {
		fmt.Fprintf(&b, "%8.3fs  %s\n", l.at.Sub(f.began).Seconds(), l.text)
	}
	return b.String()
}
