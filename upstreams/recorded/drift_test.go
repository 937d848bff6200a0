package recorded

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/httpsource"
	"sundry/upstreams/plainjson"
	"sundry/upstreams/replay"
	"sundry/upstreams/shape"
)

// watchedReplies calls each with the watch of every request of every built-in source,
// and the decoded replies of its recorded successes.
func watchedReplies(t *testing.T, each func(name string, w *upstreams.ReplyWatch, replies []any)) {
	t.Helper()
	c := mustLoad(t, replay.New(nil))
	calls(c, func(e *catalog.Endpoint, s *upstreams.Source) {
		for _, w := range s.Replies {
			var replies []any
			for _, bodies := range (Known{}).Replies(e.Name, s.Declared, w.Step) {
				if v, err := w.Decode(bodies); err == nil && v != nil {
					replies = append(replies, v)
				}
			}
			if len(replies) > 0 {
				each(path.Join(e.Name, s.Declared, w.Step), w, replies)
			}
		}
	})
}

func watchOf(w *upstreams.ReplyWatch, replies []any) *shape.Watch {
	known := &shape.Shape{}
	for _, v := range replies {
		known.Add(v)
	}
	return known.Watch(w.Reads)
}

// TestRecordedRepliesDoNotDrift from each other.
func TestRecordedRepliesDoNotDrift(t *testing.T) {
	watched := 0
	watchedReplies(t, func(name string, w *upstreams.ReplyWatch, replies []any) {
		known := watchOf(w, replies)
		for _, v := range replies {
			watched++
			if changes := known.Changes(v); len(changes) > 0 {
				t.Errorf("%s: %v", name, changes)
			}
		}
	})
	if watched < 60 {
		t.Errorf("%d replies are watched", watched)
	}
}

// readField is a field that programs read, in fields that they read.
type readField struct {
	path   []string // names, * for any, and [] for the items of an array
	types  map[string]bool
	always bool // no reply lacks it, or has null there
}

func (f *readField) String() string {
	return strings.TrimPrefix(strings.ReplaceAll("."+strings.Join(f.path, "."), ".[]", "[]"), ".")
}

// readFields finds those of replies, by their path.
func readFields(reads map[string]bool, replies []any) []*readField {
	found := map[string]*readField{}
	walkFields(reads, replies, nil, found)
	var all []*readField
	for _, name := range slices.Sorted(maps.Keys(found)) {
		f := found[name]
		for _, v := range replies {
			f.edit(v, func(_ map[string]any, _ string, has bool) { f.always = f.always && has })
		}
		all = append(all, f)
	}
	return all
}

// walkFields finds those of all values at one place.
func walkFields(reads map[string]bool, values []any, path []string, found map[string]*readField) {
	var items, others []any
	named := map[string][]any{}
	for _, v := range values {
		switch v := v.(type) {
		case []any:
			items = append(items, v...)
		case map[string]any:
			for name, value := range v {
				if others = append(others, value); reads[name] {
					named[name] = append(named[name], value)
				}
			}
		}
	}
	if len(items) > 0 {
		walkFields(reads, items, append(slices.Clip(path), "[]"), found)
	}
	if len(named) == 0 && len(others) > 0 {
		walkFields(reads, others, append(slices.Clip(path), "*"), found)
	}
	for name, values := range named {
		f := &readField{path: append(slices.Clip(path), name), types: map[string]bool{}, always: true}
		for _, v := range values {
			if v != nil {
				found[f.String()] = f
				f.types[fmt.Sprintf("%T", v)] = true
			}
		}
		walkFields(reads, values, f.path, found)
	}
}

// edit calls back for every object that may have the field, and reports whether any
// has.
func (f *readField) edit(v any, do func(object map[string]any, name string, has bool)) (any bool) {
	return editAt(v, f.path, do)
}

func editAt(v any, path []string, do func(map[string]any, string, bool)) (found bool) {
	if path[0] == "[]" {
		items, _ := v.([]any)
		for _, item := range items {
			found = editAt(item, path[1:], do) || found
		}
		return found
	}
	object, ok := v.(map[string]any)
	if !ok {
		return false
	}
	if path[0] == "*" {
		for _, value := range object {
			found = editAt(value, path[1:], do) || found
		}
		return found
	}
	value := object[path[0]]
	if len(path) > 1 {
		return value != nil && editAt(value, path[1:], do)
	}
	do(object, path[0], value != nil)
	return value != nil
}

// alteration changes the value of a field.
type alteration struct {
	kind  shape.Kind
	apply func(object map[string]any, name string)
}

func alterations() []alteration {
	return []alteration{
		{shape.Missing, func(object map[string]any, name string) { delete(object, name) }},
		{shape.Missing, func(object map[string]any, name string) { object[name] = nil }},
		{shape.Missing, func(object map[string]any, name string) {
			object["renamed_"+name] = object[name]
			delete(object, name)
		}},
		{shape.Retyped, func(object map[string]any, name string) { object[name] = true }},
		{shape.Retyped, func(object map[string]any, name string) { object[name] = "text" }},
		{shape.Retyped, func(object map[string]any, name string) { object[name] = map[string]any{} }},
	}
}

// known reports whether replies differed like this already.
func (a *alteration) known(f *readField) bool {
	if a.kind == shape.Missing {
		return !f.always
	}
	object := map[string]any{}
	a.apply(object, "x")
	return f.types[fmt.Sprintf("%T", object["x"])]
}

// altered is a copy of a reply with an alteration of the field; ok is false where it
// had no such field.
func (f *readField) altered(t *testing.T, v any, a alteration) (altered any, ok bool) {
	t.Helper()
	altered = copyOf(t, v)
	return altered, f.edit(altered, func(object map[string]any, name string, has bool) {
		if has {
			a.apply(object, name)
		}
	})
}

func copyOf(t *testing.T, v any) any {
	t.Helper()
	b, err := plainjson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if v, err = httpsource.DecodeJSON(b); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestEveryChangeOfAReplyIsNoticed alters each field that the programs of a source
// read, in each recorded reply.
func TestEveryChangeOfAReplyIsNoticed(t *testing.T) {
	noticed := map[shape.Kind]int{}
	watchedReplies(t, func(name string, w *upstreams.ReplyWatch, replies []any) {
		known := watchOf(w, replies)
		for _, f := range readFields(w.Reads, replies) {
			for i, a := range alterations() {
				for _, v := range replies {
					altered, ok := f.altered(t, v, a)
					if !ok || a.known(f) {
						continue
					}
					if changes := known.Changes(altered); !slices.Contains(changes, shape.Change{Kind: a.kind, Field: f.String()}) {
						t.Errorf("%s: alteration %d of %s is not noticed: %v", name, i, f, changes)
					}
					noticed[a.kind]++
				}
			}
		}
	})
	if noticed[shape.Missing] < 300 || noticed[shape.Retyped] < 300 {
		t.Errorf("altered: %v", noticed)
	}
}

// TestEveryNewFieldIsNoticed: one that programs read and that no known reply had.
func TestEveryNewFieldIsNoticed(t *testing.T) {
	noticed := 0
	watchedReplies(t, func(name string, w *upstreams.ReplyWatch, replies []any) {
		for _, f := range readFields(w.Reads, replies) {
			var without []any
			for _, v := range replies {
				altered := copyOf(t, v)
				f.edit(altered, func(object map[string]any, name string, _ bool) { delete(object, name) })
				without = append(without, altered)
			}
			known := watchOf(w, without)
			for _, v := range replies {
				if !f.edit(v, func(map[string]any, string, bool) {}) {
					continue
				}
				if changes := known.Changes(v); !slices.Equal(changes, []shape.Change{{Kind: shape.New, Field: f.String()}}) {
					t.Errorf("%s: %s is new, which is not noticed: %v", name, f, changes)
				}
				noticed++
			}
		}
	})
	if noticed < 300 {
		t.Errorf("%d new fields", noticed)
	}
}

// TestDriftIsReported plays a source whose replies change, and change back: once, after
// three replies that were looked at, a minute apart.
func TestDriftIsReported(t *testing.T) {
	var log bytes.Buffer
	network := replay.New(nil)
	env := testEnvironment(t, network)
	env.Log = slog.New(slog.NewTextHandler(&log, nil))
	c, err := catalog.Load(catalog.Options{}, env)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := c.Get("ip")
	play := func(t *testing.T, region string, times int) {
		exchanges, _ := Exchanges(c, mustCases(t))
		for _, x := range exchanges {
			if x.Source == "ipwhois" && x.Name == "good" {
				x.RoundTrips[0].Body = bytes.Replace(x.RoundTrips[0].Body, []byte(`"region":`), []byte(`"`+region+`":`), 1)
			}
		}
		network.Set(exchanges)
		for range times {
			for _, s := range e.Sources() {
				if s.Declared == "ipwhois" {
					if _, err := s.Probe(t.Context(), &upstreams.Call{Endpoint: "ip", Params: map[string]any{"ip": "203.0.114.9"}, Now: time.Now()}, nil); err != nil {
						t.Fatal(err)
					}
				}
			}
			time.Sleep(time.Minute)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		changed := []shape.Change{{Kind: shape.Missing, Field: "region"}}
		play(t, "region", 3)
		play(t, "province", 2)
		if got := env.Drifts.Of("ip", "ipwhois"); len(got) > 0 || log.Len() > 0 {
			t.Errorf("after two replies: %v %s", got, &log)
		}
		play(t, "province", 3)
		if got := env.Drifts.Of("ip", "ipwhois"); !slices.Equal(got, changed) || strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), `endpoint=ip source=ipwhois missing=[region]`) {
			t.Errorf("after five: %v %s", got, &log)
		}
		play(t, "region", 1)
		if got := env.Drifts.Of("ip", "ipwhois"); len(got) > 0 || strings.Count(log.String(), "\n") != 2 {
			t.Errorf("after it changed back: %v %s", got, &log)
		}
	})
}

// BenchmarkObserve measures what a refresh pays: for the largest replies that are known,
// when one is looked at, and when it is not yet time to.
func BenchmarkObserve(b *testing.B) {
	env := testEnvironment(b, replay.New(nil))
	for _, row := range []struct {
		name  string
		every time.Duration
	}{{"looked at", time.Nanosecond}, {"too soon", time.Hour}} {
		env.Drifts.Every = row.every
		c, err := catalog.Load(catalog.Options{}, env)
		if err != nil {
			b.Fatal(err)
		}
		calls(c, func(e *catalog.Endpoint, s *upstreams.Source) {
			for _, w := range s.Replies {
				known := (Known{}).Replies(e.Name, s.Declared, w.Step)
				if len(known) == 0 {
					continue
				}
				size := 0
				for _, body := range known[0] {
					size += len(body)
				}
				if size < 20_000 {
					continue
				}
				reply, err := w.Decode(known[0])
				if err != nil {
					b.Fatal(err)
				}
				b.Run(fmt.Sprintf("%s/%s/%s of %d kB", row.name, e.Name, s.Declared, size>>10), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						w.Observe(reply)
					}
				})
			}
		})
	}
}
