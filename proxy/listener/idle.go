package listener

import (
	"container/heap"
	"time"
)

// idleConnections are those on which net/http handles no request, as a heap: the first has been
// idle for longest, as far as is known. The express lane, which may have answered on it since,
// is asked only then: so there is no more to look at than there were requests.
type idleConnections []*connection

// add adds a connection that has become idle; nil is none.
func (i *idleConnections) add(c *connection, now time.Time) {
	if c == nil {
		return
	}
	i.remove(c)
	c.since, c.answers = now, false
	heap.Push(i, c)
}

// remove removes a connection, if it is there; nil is none.
func (i *idleConnections) remove(c *connection) {
	if c != nil && c.place >= 0 {
		heap.Remove(i, c.place)
	}
}

// longest returns the connection that has been idle for longest; nil where there is none.
func (i *idleConnections) longest(now time.Time) *connection {
	for len(*i) > 0 {
		first := (*i)[0]
		if first.answers && now.Before(first.since) {
			return nil
		}
		if !first.look(now) {
			return first
		}
		heap.Fix(i, 0)
	}
	return nil
}

// look asks the lane about a connection, and reports whether that knows better since when it has
// been idle.
func (c *connection) look(now time.Time) (better bool) {
	lane, known := c.Conn.(waiting)
	if !known {
		return false
	}
	since, idle := lane.Waiting()
	if !idle {
		since = now.Add(lookAgain)
	}
	better = !idle || c.answers || since.After(c.since)
	c.since, c.answers = since, !idle
	return better
}

// Len implements heap.Interface.
func (i idleConnections) Len() int { return len(i) }

// Less implements heap.Interface.
func (i idleConnections) Less(a, b int) bool { return i[a].since.Before(i[b].since) }

// Swap implements heap.Interface.
func (i idleConnections) Swap(a, b int) {
	i[a], i[b] = i[b], i[a]
	i[a].place, i[b].place = a, b
}

// Push implements heap.Interface.
func (i *idleConnections) Push(c any) {
	c.(*connection).place = len(*i)
	*i = append(*i, c.(*connection))
}

// Pop implements heap.Interface.
func (i *idleConnections) Pop() any {
	last := len(*i) - 1
	c := (*i)[last]
	c.place = -1
	(*i)[last] = nil // or it would stay in memory
	*i = (*i)[:last]
	return c
}
