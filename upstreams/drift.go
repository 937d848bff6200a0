package upstreams

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sundry/upstreams/lib/shape"
)

// Bounds of watching replies.
const (
	// driftEvery is how often a reply to one request of a source is looked at.
	driftEvery = time.Minute
	// driftLasts is how many of these replies in a row must have changed in the same
	// way: what one of them lacks may just not be there.
	driftLasts = 3
)

// KnownReplies has the replies of sources whose shapes are known.
type KnownReplies interface {
	// Replies are the bodies of good replies to a step of a source, or for "" to its
	// own request: those of one call together, which are several if it has parts.
	Replies(endpoint, source, step string) [][][]byte
}

// Drifts remembers how the replies of sources differ from what is known of them. The
// zero value is ready. It is safe for concurrent use.
type Drifts struct {
	// Every is how often a reply to one request of a source is looked at; 0: once a
	// minute. Set it before the first request.
	Every    time.Duration
	mu       sync.Mutex
	bySource map[string]*drift
}

// Of lists the changes of a source's replies, by field. Those of a step have its name
// in front.
func (d *Drifts) Of(endpoint, source string) []shape.Change {
	return d.of(endpoint, source).changes()
}

func (d *Drifts) of(endpoint, source string) *drift {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := endpoint + "/" + source
	if d.bySource == nil {
		d.bySource = map[string]*drift{}
	}
	if d.bySource[id] == nil {
		d.bySource[id] = &drift{seen: map[string]map[shape.Change]int{}}
	}
	return d.bySource[id]
}

// drift is that of one source. It outlives reloads.
type drift struct {
	mu sync.Mutex
	// seen counts for each step in how many replies in a row a change was seen.
	seen map[string]map[shape.Change]int
}

// changes are those that were seen often enough.
func (d *drift) changes() []shape.Change {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []shape.Change
	for _, step := range slices.Sorted(maps.Keys(d.seen)) {
		for c, times := range d.seen[step] {
			if times < driftLasts {
				continue
			}
			if step != "" {
				c.Field = strings.TrimSpace(step + ": " + c.Field)
			}
			all = append(all, c)
		}
	}
	shape.Sort(all)
	return all
}

// note notes the changes in one more reply.
func (d *drift) note(step string, changes []shape.Change) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := map[shape.Change]int{}
	for _, c := range changes {
		now[c] = min(d.seen[step][c]+1, driftLasts)
	}
	d.seen[step] = now
}

// ReplyWatch compares some of the replies to one request of a source with what is
// known of them. It is safe for concurrent use.
type ReplyWatch struct {
	// Step whose request it is; "" for the source's own.
	Step string
	// Reads are the names of the fields that programs read.
	Reads map[string]bool
	// Decode decodes the bodies of one call: several if it has parts.
	Decode func(bodies [][]byte) (any, error)

	endpoint, source string
	env              *Environment
	drift            *drift

	mu    sync.Mutex
	next  time.Time
	known *shape.Watch // nil until the first reply
}

// WatchReplies watches the replies to a request of the compiled source. It returns nil
// where nothing is known, or no field is read.
func (c *Compiler) WatchReplies(step string, reads map[string]bool, decode func([][]byte) (any, error)) *ReplyWatch {
	if c.Env.Known == nil || len(reads) == 0 {
		return nil
	}
	return &ReplyWatch{
		Step: step, Reads: reads, Decode: decode,
		endpoint: c.Endpoint, source: c.Source, env: c.Env, drift: c.Env.Drifts.of(c.Endpoint, c.Source),
	}
}

// Observe looks at a decoded reply, unless one was looked at a moment ago. A nil watch
// looks at none.
func (w *ReplyWatch) Observe(body any) {
	if w == nil || body == nil || !w.mu.TryLock() {
		return
	}
	defer w.mu.Unlock()
	now := time.Now()
	if now.Before(w.next) {
		return
	}
	w.next = now.Add(cmp.Or(w.env.Drifts.Every, driftEvery))
	if w.known == nil {
		w.known = w.learn()
	}
	before := w.drift.changes()
	w.drift.note(w.Step, w.known.Changes(body))
	after := w.drift.changes()
	fields := byKind(after)
	w.env.Metrics.setDrift(w.endpoint, w.source, fields)
	if !slices.Equal(before, after) {
		w.report(fields)
	}
}

// Compare lists how a decoded reply differs from what is known. A nil watch knows nothing.
func (w *ReplyWatch) Compare(body any) []shape.Change {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == nil {
		w.known = w.learn()
	}
	return w.known.Changes(body)
}

// learn makes the shape of the known replies.
func (w *ReplyWatch) learn() *shape.Watch {
	known := &shape.Shape{}
	for _, bodies := range w.env.Known.Replies(w.endpoint, w.source, w.Step) {
		if v, err := w.Decode(bodies); err == nil {
			known.Add(v)
		}
	}
	return known.Watch(w.Reads)
}

// byKind are the fields of changes.
func byKind(changes []shape.Change) map[shape.Kind][]string {
	fields := map[shape.Kind][]string{}
	for _, c := range changes {
		fields[c.Kind] = append(fields[c.Kind], c.Field)
	}
	return fields
}

// report logs what has changed.
func (w *ReplyWatch) report(fields map[shape.Kind][]string) {
	if len(fields) == 0 {
		w.env.Log.Info("replies of a source are again as known", "endpoint", w.endpoint, "source", w.source)
		return
	}
	w.env.Log.Warn("replies of a source have changed", "endpoint", w.endpoint, "source", w.source,
		"missing", fields[shape.Missing], "retyped", fields[shape.Retyped], "emptied", fields[shape.Emptied], "new", fields[shape.New])
}

// setDrift sets the series of a source. They are absent until one of its replies was
// looked at: 0 means that it was as known.
func (m *Metrics) setDrift(endpoint, source string, fields map[shape.Kind][]string) {
	for _, kind := range shape.Kinds() {
		m.drift.WithLabelValues(endpoint, source, string(kind)).Set(float64(len(fields[kind])))
	}
}
