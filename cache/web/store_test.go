package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache/entry"
	"sundry/cache/purged"
	"sundry/cache/web/webtest"
)

// object is one that was asked for so many seconds after noon.
func object(after int, body string, lines ...string) *Object {
	r := received(http.StatusOK, append([]string{"Cache-Control: max-age=600", "Vary: X-A"}, lines...)...)
	r.Requested = noon.Add(time.Duration(after) * time.Second)
	r.Received = r.Requested
	terms := TermsOf(r, &usualRules)
	o := NewObject(r, &terms, selector("X-A: 1"), &Rules{Tags: []string{"Cache-Tag"}})
	o.Body = []byte(body)
	return o
}

// selector is that of a request with these fields, in a store of newTestStore.
func selector(lines ...string) *Selector {
	store := Store{}
	store.DigestWith([KeyBytes]byte{})
	s := store.Selector(fields(lines...), &usualRules)
	return &s
}

func newTestStore(t testing.TB, memory int64) *Store {
	t.Helper()
	s, err := NewStore(StoreConfig{Memory: memory, Variants: 3})
	if err != nil {
		t.Fatal(err)
	}
	s.DigestWith([KeyBytes]byte{})
	s.background = func(confirm func()) { confirm() }
	return s
}

// stored is the body of what is stored for a request.
func stored(s *Store, key, a string) string {
	if o := s.Get(key).Select(selector("X-A: "+a), false); o != nil {
		return string(o.Body)
	}
	return ""
}

func TestTheNewestOfASelectionIsKept(t *testing.T) {
	s := newTestStore(t, 1<<20)
	if !s.Put("/a", object(1, "one")) || !s.Put("/a", object(2, "two")) || s.Put("/a", object(1, "late")) {
		t.Error("the order of requests does not decide")
	}
	if got := stored(s, "/a", "1"); got != "two" || len(s.Get("/a")) != 1 || stored(s, "/a", "2") != "" || stored(s, "/b", "1") != "" {
		t.Errorf("%q of %d", got, len(s.Get("/a")))
	}
	for i := range 5 {
		s.Put("/a", object(3, fmt.Sprint("variant ", i)).forRequest(fmt.Sprint("X-A: v", i)))
	}
	if n := len(s.Get("/a")); n != 3 || stored(s, "/a", "v4") != "variant 4" || stored(s, "/a", "1") != "" {
		t.Errorf("%d variants", n)
	}
}

func TestPurges(t *testing.T) {
	for name, row := range map[string]struct {
		purge Purge
		gone  []string
	}{
		"a key":    {Purge{Key: "/a/1"}, []string{"/a/1"}},
		"a prefix": {Purge{Prefix: "/a/"}, []string{"/a/1", "/a/2"}},
		"a tag":    {Purge{Tag: "t2"}, []string{"/a/2", "/b/2"}},
		"all":      {Purge{}, []string{"/a/1", "/a/2", "/b/1", "/b/2"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, soft := range []bool{false, true} {
				s := newTestStore(t, 1<<20)
				keys := map[string]bool{}
				for _, d := range []string{"a", "b"} {
					for _, n := range []string{"1", "2"} {
						key := "/" + d + "/" + n
						keys[key] = true
						s.Put(key, object(0, "old", "Cache-Tag: x, t"+n))
					}
				}
				p := row.purge
				p.At, p.Soft = noon.Add(10*time.Second), soft
				if n := s.Purge(p); n != len(row.gone) {
					t.Errorf("%d are purged", n)
				}
				for _, key := range row.gone {
					delete(keys, key)
					o := s.Get(key).Select(selector("X-A: 1"), false)
					if soft && (o == nil || o.Left(p.At) > 0) || !soft && o != nil {
						t.Errorf("soft %v: %s: %+v", soft, key, o)
					}
					s.Put(key, object(9, "was under way", "Cache-Tag: x, t"+key[len(key)-1:]))
					if o := s.Get(key).Select(selector("X-A: 1"), false); o != nil && (!soft || o.Left(p.At) > 0) {
						t.Errorf("soft %v: %s: what was asked for before is stored after", soft, key)
					}
					if !s.Put(key, object(11, "new")) || stored(s, key, "1") != "new" {
						t.Errorf("%s: what was asked for later is not stored", key)
					}
				}
				for key := range keys {
					if stored(s, key, "1") != "old" {
						t.Errorf("%s is gone", key)
					}
				}
			}
		})
	}
}

// apart is the time between two purges: as many as are remembered take four seconds.
const apart = time.Second / 16_000

// TestManyPurgesForgetNothing: past its memory of purges, the store takes nothing that began before those it forgot.
func TestManyPurgesForgetNothing(t *testing.T) {
	s := newTestStore(t, 1<<20)
	for i := range purged.Limit + 10 {
		s.Purge(Purge{At: noon.Add(time.Duration(i) * apart), Key: fmt.Sprint("/", i)})
	}
	if s.Put("/0", object(-1, "old")) || s.Put("/other", object(-1, "old")) || !s.Put("/other", object(10, "new")) {
		t.Error("a purge that was forgotten was in vain, or keeps new ones out")
	}
}

// TestOneURIIsPurgedOften: that others are filled slowly meanwhile is no reason not to keep them.
func TestOneURIIsPurgedOften(t *testing.T) {
	s := newTestStore(t, 1<<20)
	for i := range 3 * purged.Limit {
		s.Purge(Purge{At: noon.Add(time.Duration(i) * apart), Key: "/hot"})
		s.Purge(Purge{At: noon.Add(time.Duration(i) * apart), Key: fmt.Sprint("/", i/10)})
	}
	if s.Put("/hot", object(12, "old")) || s.Put("/0", object(-1, "old")) || !s.Put("/other", object(-1, "slow")) || !s.Put("/hot", object(20, "new")) {
		t.Error("a purge was in vain, or keeps out what it is not about")
	}
}

// TestManyPurgesHideNothing that instances share, and that none of them is about.
func TestManyPurgesHideNothing(t *testing.T) {
	s, far := newTestStore(t, 1<<20), webtest.Far{}
	s.Far = far
	for i := range 2 * purged.Limit {
		s.Purge(Purge{At: noon.Add(time.Minute + time.Duration(i)*apart), Key: fmt.Sprint("/", i)})
	}
	s.Purge(Purge{At: noon.Add(time.Hour), Key: "/b"})
	for key, after := range map[string]int{"/a": 1, "/b": 2} {
		value, err := encode(object(after, key))
		if err != nil {
			t.Fatal(err)
		}
		far[s.farKey(key)] = entry.Found{Value: value}
	}
	for range 2 { // from there, and from here
		for key, want := range map[string]int{"/a": 1, "/b": 0} {
			if got := s.Find(t.Context(), key, selector("X-A: 1"), &usualRules, noon.Add(2*time.Minute)); len(got) != want {
				t.Errorf("%s: %d are found", key, len(got))
			}
		}
		delete(far, s.farKey("/a"))
	}
}

// variant is an object for requests with a value of X-A.
func variant(after int, value string) *Object {
	return object(after, value).forRequest("X-A: " + value)
}

// forRequest makes the object one that was sent to a request with these fields.
func (o *Object) forRequest(lines ...string) *Object {
	o.Selected = selector(lines...).selected(o.Names)
	o.selecting = o.keyFor(o.Names)
	return o
}

// TestWhatAnotherInstanceRemoved is not served here, also where it has filled another variant since: a purge of the URI, or one
// variant that an answer has outdated.
func TestWhatAnotherInstanceRemoved(t *testing.T) {
	for name, remove := range map[string]func(one *Store){
		"the URI": func(one *Store) { one.Purge(Purge{At: noon.Add(10 * time.Second), Key: "/x"}) },
		"a variant": func(one *Store) {
			one.Drop("/x", one.Get("/x").Select(selector("X-A: fr"), false), noon.Add(10*time.Second))
		},
	} {
		t.Run(name, func(t *testing.T) {
			one, two, far := newTestStore(t, 1<<20), newTestStore(t, 1<<20), webtest.Far{}
			one.Far, two.Far = far, far
			find := func(s *Store, value string, after int) *Object {
				request := selector("X-A: " + value)
				return s.Find(t.Context(), "/x", request, &usualRules, noon.Add(time.Duration(after)*time.Second)).Select(request, false)
			}
			two.Put("/x", variant(0, "en"))
			two.Put("/x", variant(1, "fr"))
			if find(one, "en", 5) == nil || find(one, "fr", 5) == nil {
				t.Fatal("the instances share nothing")
			}
			remove(one)
			one.Put("/x", variant(20, "en"))
			two.Marked(two.farKey("/x"), noon.Add(10*time.Second))
			if o := find(two, "en", 30); o == nil || !o.Requested.Equal(noon.Add(20*time.Second)) {
				t.Errorf("%+v is served", o)
			}
			if o := find(two, "fr", 30); o != nil {
				t.Errorf("what was removed is served: %s", o.Body)
			}
		})
	}
}

// TestAFillFromBeforeAPurgeElsewhere is not kept beside what was asked for since, be it that this instance knows of the purge by nothing
// else.
func TestAFillFromBeforeAPurgeElsewhere(t *testing.T) {
	one, two, far := newTestStore(t, 1<<20), newTestStore(t, 1<<20), webtest.Far{}
	for _, s := range []*Store{one, two} {
		s.Far = far
		s.Missed() // as at a start
	}
	find := func(s *Store, value string) *Object {
		request := selector("X-A: " + value)
		return s.Find(t.Context(), "/x", request, &usualRules, noon.Add(30*time.Second)).Select(request, false)
	}
	slow := variant(5, "fr") // is asked for by the second one
	one.Purge(Purge{At: noon.Add(10 * time.Second), Key: "/x"})
	one.Put("/x", variant(20, "en"))
	if find(two, "en") == nil {
		t.Fatal("the instances share nothing")
	}
	two.Put("/x", slow)
	for i, s := range []*Store{one, two} {
		if find(s, "fr") != nil || find(s, "en") == nil {
			t.Errorf("instance %d serves what was asked for before the purge, or not what was since", i+1)
		}
	}
}

// TestWhatIsKeptOfAnotherOrigin is not served, be it that a request which began before a reload finds it in Redis after what is kept was
// purged: other instances are reloaded later.
func TestWhatIsKeptOfAnotherOrigin(t *testing.T) {
	here, there, far := newTestStore(t, 1<<20), newTestStore(t, 1<<20), webtest.Far{}
	here.Far, there.Far = far, far
	before, now := usualRules, usualRules
	before.Origin, now.Origin = "before", "now"
	there.Put("/x", object(20, "old").of("before"))
	here.Purge(Purge{At: noon.Add(10 * time.Second), Prefix: "/"})
	at, all := noon.Add(30*time.Second), func(*Object) (yes, known bool) { return true, true }
	if len(here.Find(t.Context(), "/x", selector("X-A: 1"), &before, at)) != 1 || here.Ready("/x", &before, at, all) == nil {
		t.Fatal("the instances share nothing")
	}
	if len(here.Find(t.Context(), "/x", selector("X-A: 1"), &now, at)) != 0 || here.Ready("/x", &now, at, all) != nil {
		t.Error("what is of another origin is served")
	}
}

func (o *Object) of(origin string) *Object {
	o.origin = origin
	return o
}

// TestOfALongURINobodyTells, so each time it is looked whether it was replaced.
func TestOfALongURINobodyTells(t *testing.T) {
	one, two, far := newTestStore(t, 1<<20), newTestStore(t, 1<<20), webtest.Far{}
	one.Far, two.Far = far, far
	key := "/" + strings.Repeat("x", entry.MostAnnounced)
	find := func() Variants {
		return two.Find(t.Context(), key, selector("X-A: 1"), &usualRules, noon.Add(time.Minute))
	}
	two.Missed() // as at a start
	one.Put(key, object(0, "old"))
	if find(); len(find()) != 1 {
		t.Fatal("the instances share nothing")
	}
	one.Purge(Purge{At: noon.Add(10 * time.Second), Key: key}) // of an unsafe method, of which the admin API does not tell
	if two.Ready(key, &usualRules, noon.Add(time.Minute), func(*Object) (yes, known bool) { return true, true }) != nil || len(find()) != 0 {
		t.Error("what was removed is served")
	}
}

// TestAPurgeElsewhereAllowsForClocks, by which instances may differ.
func TestAPurgeElsewhereAllowsForClocks(t *testing.T) {
	s, far := newTestStore(t, 1<<20), webtest.Far{}
	s.Far = far
	far.Mark(s.farKey("/x"), noon, []byte{farGone}, farTime, false)
	s.put("/x", object(0, "just before, by a clock that is ahead").later(ClockSkew/2), 0)
	s.put("/y", object(0, "other").later(ClockSkew/2), 0)
	s.Missed()
	for key, want := range map[string]int{"/x": 0, "/y": 1} {
		if v := s.Find(t.Context(), key, selector("X-A: 1"), &usualRules, noon.Add(time.Second)); len(v) != want {
			t.Errorf("%s: %d are found", key, len(v))
		}
	}
}

func (o *Object) later(d time.Duration) *Object {
	o.Requested = o.Requested.Add(d)
	return o
}

// TestVariantsLeaveRoom for what else is asked for.
func TestVariantsLeaveRoom(t *testing.T) {
	s, err := NewStore(StoreConfig{Memory: 8 << 20, Variants: 50})
	if err != nil {
		t.Fatal(err)
	}
	s.DigestWith([KeyBytes]byte{})
	for i := range 100 {
		s.Put(fmt.Sprint("/", i), object(0, string(make([]byte, 50_000))))
	}
	for i := range 50 {
		s.Put("/varies", object(1, string(make([]byte, 150_000))).forRequest(fmt.Sprint("X-A: v", i)))
	}
	s.table.CleanUp()
	if n := s.table.EstimatedSize(); n != 101 || len(s.Get("/varies")) != 6 || stored(s, "/varies", "v49") == "" {
		t.Errorf("%d URIs, %d variants of the one", n, len(s.Get("/varies")))
	}
}

// TestTagsTakeMemory, which is bounded: a response may have many more of them than it has bytes.
func TestTagsTakeMemory(t *testing.T) {
	const memory = 1 << 20
	s := newTestStore(t, memory)
	for i := range 1000 {
		s.Put(fmt.Sprint("/", i), object(0, "body", "Cache-Tag: "+strings.Repeat(fmt.Sprint("node:", i, ","), 200)))
	}
	s.table.CleanUp()
	taken := 0
	for _, variants := range s.table.All() {
		for _, tag := range variants[0].Tags {
			taken += len(tag) + 16
		}
	}
	if taken == 0 || taken > memory {
		t.Errorf("tags take %d bytes of %d", taken, memory)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	s := newTestStore(t, 1<<20)
	for i := range 1000 {
		s.Put(fmt.Sprint("/", i), object(0, string(make([]byte, 10_000))))
	}
	s.table.CleanUp()
	if w := s.table.WeightedSize(); w > 1<<20 {
		t.Errorf("%d bytes", w)
	}
}

func TestStoreTellsHowFullItIs(t *testing.T) {
	reg := prometheus.NewRegistry()
	s, err := NewStore(StoreConfig{Memory: 1 << 20, Variants: 3, Registerer: reg})
	if err != nil {
		t.Fatal(err)
	}
	s.Put("/a", object(1, strings.Repeat("a", 10_000)))
	s.table.CleanUp() // it is weighed behind who stores
	told := map[string]float64{}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		told[f.GetName()] = f.GetMetric()[0].GetGauge().GetValue()
	}
	if used := told["sundry_apis_memory_bytes"]; used < 10_000 || used > 20_000 || told["sundry_apis_memory_limit_bytes"] != 1<<20 {
		t.Errorf("%v", told)
	}
}

// replaceability notes which values of instances may be replaced by any other, and replace none but such ones.
type replaceability struct {
	webtest.Far
	of map[string]bool // body: whether it is
}

// Share implements Far.
func (f *replaceability) Share(key string, created time.Time, replaceable bool, size int, value func() ([]byte, time.Duration), purged func(time.Time)) {
	b, _ := value()
	for _, body := range []string{"whole", "part"} {
		if strings.HasSuffix(string(b), body) {
			f.of[body] = replaceable
		}
	}
	f.Far.Share(key, created, replaceable, size, value, purged)
}

// TestPartsAmongOtherObjects: a part takes nothing away, is kept beside other parts, and is not selected where there is something better.
func TestPartsAmongOtherObjects(t *testing.T) {
	part := func(after, first, last int, lines ...string) *Object {
		o := object(after, "part", append(lines, fmt.Sprintf("Content-Range: bytes %d-%d/100", first, last))...)
		o.Status = http.StatusPartialContent
		o.Part = &Part{Range: Range{int64(first), int64(last)}, Total: 100}
		return o
	}
	s := newTestStore(t, 1<<20)
	far := &replaceability{webtest.Far{}, map[string]bool{}}
	s.Far = far
	s.Variants = 10
	for i, row := range []struct {
		o      *Object
		stored bool
		left   int
	}{
		{part(1, 10, 19), true, 1},
		{part(2, 30, 39), true, 2},
		{part(3, 12, 13), true, 3},
		{part(1, 31, 32), false, 3}, // a newer one has it
		{part(4, 10, 39), true, 1},
		{part(5, 0, 9, `Etag: "1"`), true, 2},
		{object(3, "whole", `Etag: "1"`), true, 1}, // it took longer
		{part(6, 0, 9), false, 1},
	} {
		if got := s.Put("/a", row.o); got != row.stored || len(s.Get("/a")) != row.left {
			t.Errorf("%d: stored %v, %d are left", i, got, len(s.Get("/a")))
		}
	}
	if !far.of["part"] || far.of["whole"] {
		t.Errorf("what may be replaced in Redis: %v", far.of)
	}
	s.Put("/b", part(1, 10, 19))
	s.Put("/b", part(2, 0, 0, `Etag: "1"`))
	if s.Put("/b", object(1, "whole", `Etag: "2"`)) {
		t.Error("a whole of an older version replaces a part")
	}
	for wanted, want := range map[string]int64{"bytes=11-12": 10, "bytes=0-0": 0, "bytes=50-": 0} {
		if o := s.Get("/b").Select(selector("X-A: 1", "Range: "+wanted), false); o == nil || o.Part.First != want {
			t.Errorf("%s: %+v", wanted, o)
		}
	}
}
