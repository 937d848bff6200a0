package cache

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// ready fetches a key until it is in the hot table.
func mustBeHot(t *testing.T, s *Space, key string, l Loader) {
	t.Helper()
	mustFetch(t, s, key, l)
	mustFetch(t, s, key, l)
	synctest.Wait()
	if s.cache.near.hot.get(key) == nil {
		t.Fatalf("%s is not in the hot table", key)
	}
}

// What is asked for once does not enter; what is asked for again does.
func TestHotTableTakesWhatIsReadAgain(t *testing.T) {
	story(t, classed(policy.Keyed), nil, func(t *testing.T, s *Space) {
		l := &script{}
		mustFetch(t, s, "k", l)
		if s.cache.near.hot.get("k") != nil {
			t.Error("a key that was asked for once is in the hot table")
		}
		mustBeHot(t, s, "k", l)
		var answer Answer
		if !s.GetHot("k", Want{}, time.Now(), &answer) || answer.State != policy.Fresh || string(answer.Rep.Data) != "answer 1" || answer.Tier != Near {
			t.Errorf("%+v", answer)
		}
	})
}

// A shorter TTL, a purge and a new answer apply at once to an entry in the hot table.
func TestHotEntryObeysChangesAtOnce(t *testing.T) {
	for name, r := range map[string]struct {
		change func(s *Space, l *script) *Space
		want   string
	}{
		"shorter TTL": {func(s *Space, _ *script) *Space {
			p := classed(policy.Keyed)
			p.TTL, p.Grace, p.StaleIfError = time.Second, 0, 0
			return s.cache.Space("story", p)
		}, "answer 2"},
		"purge of the endpoint": {func(s *Space, _ *script) *Space {
			s.cache.SetPurges(map[string]policy.Purge{"story": {Hard: time.Now()}})
			return s
		}, "answer 2"},
		"purge of the key": {func(s *Space, _ *script) *Space { s.PurgeKey("k", time.Now()); return s }, "answer 2"},
		"longer TTL": {func(s *Space, _ *script) *Space {
			time.Sleep(12 * time.Minute) // past its grace
			p := classed(policy.Keyed)
			p.TTL = time.Hour
			return s.cache.Space("story", p)
		}, "answer 1"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &script{}
			story(t, classed(policy.Keyed), l, func(t *testing.T, s *Space) {
				mustBeHot(t, s, "k", l)
				time.Sleep(2 * time.Second)
				s = r.change(s, l)
				wantText(t, mustFetch(t, s, "k", l), r.want)
			})
		})
	}
}

// A refresh replaces the entry in the hot table.
func TestRefreshReplacesTheHotEntry(t *testing.T) {
	l := &script{}
	story(t, classed(policy.Keyed), l, func(t *testing.T, s *Space) {
		mustBeHot(t, s, "k", l)
		time.Sleep(2 * time.Minute)
		wantText(t, mustFetch(t, s, "k", l), "answer 1") // in grace
		synctest.Wait()
		var answer Answer
		if !s.GetHot("k", Want{}, time.Now(), &answer) || string(answer.Rep.Data) != "answer 2" {
			t.Errorf("after the refresh: %q", answer.Rep.Data)
		}
	})
}

// What a reader found in bigcache before a write does not come after it.
func TestSlowReaderDoesNotBringBackAnOldEntry(t *testing.T) {
	story(t, classed(policy.Keyed), nil, func(t *testing.T, s *Space) {
		l := &script{}
		mustFetch(t, s, "k", l)
		near := s.cache.near
		version := near.hot.version("k")
		old, _ := near.stored(policy.Keyed, "k")
		if !near.put(policy.Keyed, "k", made(t, s, "k", textContent("new"), time.Now())) {
			t.Fatal("it was not stored")
		}
		near.hot.offer(near, policy.Keyed, "k", &old, version)
		if near.hot.get("k") != nil {
			t.Error("an entry that was replaced is in the hot table")
		}
		near.remove(policy.Keyed, "k")
		near.hot.offer(near, policy.Keyed, "k", &old, version)
		if near.hot.get("k") != nil {
			t.Error("an entry that was removed is in the hot table")
		}
	})
}

// Writers and readers of one key, without a fake clock: at the end the last write
// is what is read.
func TestHotTableUnderConcurrentWrites(t *testing.T) {
	c := newCache(t, Config{})
	s := c.Space("story", classed(policy.Keyed))
	for round := range 200 {
		key := fmt.Sprint("story:", round)
		var group sync.WaitGroup
		for reader := range 3 {
			group.Go(func() {
				for range 20 {
					if _, rep, ok := c.near.get(policy.Keyed, key, Want{}); ok && !strings.HasPrefix(string(rep.Data), "write") {
						t.Errorf("reader %d: %q", reader, rep.Data)
					}
				}
			})
		}
		for n := range 20 {
			if !c.near.put(policy.Keyed, key, made(t, s, key, textContent(fmt.Sprint("write ", n)), time.Now())) {
				t.Fatal("it was not stored")
			}
		}
		group.Wait()
		want := "write 19"
		if r := c.near.hot.get(key); r != nil {
			if rep, err := r.Pick(0, r.Record); err != nil || string(rep.Data) != want {
				t.Fatalf("round %d: the hot table has %q", round, rep.Data)
			}
		}
	}
}

// While an eager refresh runs, hits look for it only now and then, and the entry is
// ready in between.
func TestHitsDuringARefreshAreReady(t *testing.T) {
	p := classed(policy.Keyed)
	p.Eager = 0.5
	l := &script{}
	story(t, p, l, func(t *testing.T, s *Space) {
		mustBeHot(t, s, "k", l)
		l.set(func(l *script) { l.takes = 5 * time.Second })
		time.Sleep(40 * time.Second)
		var answer Answer
		if s.GetHot("k", Want{}, time.Now(), &answer) {
			t.Error("ready, although a refresh has to be started")
		}
		wantText(t, mustFetch(t, s, "k", l), "answer 1")
		synctest.Wait()
		if !s.GetHot("k", Want{}, time.Now(), &answer) || answer.State != policy.Eager {
			t.Errorf("not ready while the refresh runs: %+v", answer)
		}
		time.Sleep(refreshLook)
		if s.GetHot("k", Want{}, time.Now(), &answer) {
			t.Error("nobody looks after the refresh")
		}
		wantCalls(t, l, 2)
	})
}

// A failed refresh is tried again by later hits.
func TestFailedRefreshOfAHotEntryIsTriedAgain(t *testing.T) {
	l := &script{}
	story(t, classed(policy.Keyed), l, func(t *testing.T, s *Space) {
		mustBeHot(t, s, "k", l)
		l.set(func(l *script) { l.err = errDown })
		time.Sleep(2 * time.Minute)
		for range 3 {
			wantText(t, mustFetch(t, s, "k", l), "answer 1")
			synctest.Wait()
			time.Sleep(policy.DefaultPauseMax)
		}
		if n := l.calls.Load(); n < 4 {
			t.Errorf("%d calls", n)
		}
	})
}

// A flood of keys that are asked for twice does not displace what is read often.
func TestHotTableResistsScans(t *testing.T) {
	c := newCache(t, Config{Memory: MinMemory})
	s := c.Space("story", classed(policy.Keyed))
	l := &script{text: strings.Repeat("x", 1<<10)}
	var often []string
	for i := range 20 {
		often = append(often, fmt.Sprint("often", i))
	}
	readOften := func() {
		for _, key := range often {
			mustFetch(t, s, key, l)
		}
	}
	for range 50 {
		readOften()
	}
	for i := range 20_000 {
		key := fmt.Sprint("scan", i)
		mustFetch(t, s, key, l)
		mustFetch(t, s, key, l)
		if i%100 == 0 {
			readOften()
		}
	}
	c.near.hot.table.CleanUp()
	kept := 0
	for _, key := range often {
		if r, ok := c.near.hot.table.GetEntryQuietly(key); ok && r.Value != nil {
			kept++
		}
	}
	if kept < len(often)*9/10 {
		t.Errorf("%d of %d keys that are read often are left", kept, len(often))
	}
	if c.near.hot.evicted.Load() == 0 {
		t.Error("nothing was evicted, so nothing was tested")
	}
}

// The hot table is bounded in bytes, codings included.
func TestHotTableHoldsItsLimit(t *testing.T) {
	c := newCache(t, Config{Memory: MinMemory})
	p := usual()
	s := c.Space("story", p)
	for i := range 500 {
		key := fmt.Sprint("k", i)
		l := &script{make: func(int64) (entry.Content, error) { return compressible(i), nil }}
		for range 3 {
			if _, err := s.Get(t.Context(), key, Want{Accept: entry.Codings(0).With(entry.Zstd)}, l); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.near.hot.workers.Wait()
	c.near.hot.table.CleanUp()
	if got := c.near.hot.table.WeightedSize(); got > uint64(c.near.hot.limit) || got < uint64(c.near.hot.limit)/4 {
		t.Errorf("%d bytes of %d", got, c.near.hot.limit)
	}
	sum := 0
	for r := range c.near.hot.table.Values() {
		sum += int(r.weight())
	}
	if sum > c.near.hot.limit {
		t.Errorf("entries of %d bytes, limit %d", sum, c.near.hot.limit)
	}
}

// compressible is an answer that is worth compressing.
func compressible(n int) entry.Content {
	c := textContent(strings.Repeat(fmt.Sprint("said again and again ", n, "; "), 200))
	c.Forms[0][0].Compress = true
	return c
}

// A coding is made once it is asked for again, while nobody waits for it.
func TestCodingIsMadeWhenItIsAskedForAgain(t *testing.T) {
	l := &script{make: func(int64) (entry.Content, error) { return compressible(1), nil }}
	story(t, classed(policy.Keyed), l, func(t *testing.T, s *Space) {
		plain := string(compressible(1).Forms[0][0].Data)
		ask := func(c entry.Coding) Answer {
			t.Helper()
			h, err := s.Get(t.Context(), "k", Want{Accept: entry.Codings(0).With(c)}, l)
			if err != nil || !h.Rep.Varies {
				t.Fatalf("%+v, %v", h, err)
			}
			synctest.Wait()
			return h
		}
		for range 3 { // a miss, a read from bigcache, a read from the hot table
			if h := ask(entry.Gzip); h.Rep.Coding != entry.Identity || string(h.Rep.Data) != plain {
				t.Errorf("%v %d bytes", h.Rep.Coding, len(h.Rep.Data))
			}
		}
		h := ask(entry.Gzip)
		r, err := gzip.NewReader(bytes.NewReader(h.Rep.Data))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); h.Rep.Coding != entry.Gzip || string(got) != plain {
			t.Errorf("%v: %d bytes, %v", h.Rep.Coding, len(got), err)
		}
		if h := ask(entry.Identity); h.Rep.Coding != entry.Identity {
			t.Errorf("%v was not accepted", h.Rep.Coding)
		}
		ask(entry.Zstd)
		if h := ask(entry.Zstd); h.Rep.Coding != entry.Zstd || len(h.Rep.Data) >= len(plain)/2 {
			t.Errorf("%v %d bytes", h.Rep.Coding, len(h.Rep.Data))
		}
	})
}

// What compression does not make smaller is sent as it is, and tried once.
func TestCodingThatSavesTooLittleIsNotSent(t *testing.T) {
	l := &script{make: func(int64) (entry.Content, error) {
		c := textContent("short")
		c.Forms[0][0].Compress = true
		return c, nil
	}}
	story(t, classed(policy.Keyed), l, func(t *testing.T, s *Space) {
		for range 5 {
			h, err := s.Get(t.Context(), "k", Want{Accept: entry.Codings(0).With(entry.Gzip).With(entry.Zstd)}, l)
			if err != nil || h.Rep.Coding != entry.Identity || string(h.Rep.Data) != "short" {
				t.Errorf("%+v, %v", h, err)
			}
			synctest.Wait()
		}
	})
}

func TestReadyAllocatesNothing(t *testing.T) {
	s := newCache(t, Config{}).Space("story", classed(policy.Keyed))
	l := &script{make: func(int64) (entry.Content, error) { return compressible(1), nil }}
	for range 3 {
		mustFetch(t, s, "k", l)
	}
	var answer Answer
	want := Want{Accept: entry.Codings(0).With(entry.Gzip)}
	now := time.Now()
	for !s.GetHot("k", want, now, &answer) || answer.Rep.Coding != entry.Gzip {
		s.cache.near.hot.workers.Wait()
	}
	n := testing.AllocsPerRun(1000, func() {
		if !s.GetHot("k", want, now, &answer) {
			t.Error("not ready")
		}
		s.Served("k", &answer)
	})
	if n > 0 {
		t.Errorf("%.1f allocations", n)
	}
}

// A refresh that finds the same content keeps the codings, and what they weigh.
func TestUnchangedContentKeepsItsCodings(t *testing.T) {
	l := &script{make: func(int64) (entry.Content, error) { return compressible(1), nil }}
	story(t, classed(policy.Keyed), l, func(t *testing.T, s *Space) {
		want := Want{Accept: entry.Codings(0).With(entry.Gzip)}
		for range 4 {
			if _, err := s.Get(t.Context(), "k", want, l); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		time.Sleep(2 * time.Minute)
		mustFetch(t, s, "k", l)
		synctest.Wait()
		wantCalls(t, l, 2)
		var answer Answer
		if !s.GetHot("k", want, time.Now(), &answer) || answer.Rep.Coding != entry.Gzip || answer.Age != 0 {
			t.Errorf("%+v", answer)
		}
		s.cache.near.hot.table.CleanUp()
		if r := s.cache.near.hot.get("k"); s.cache.near.hot.table.WeightedSize() != uint64(r.weight()) || r.codings[0].size() == 0 {
			t.Errorf("%d bytes are counted, %d are there", s.cache.near.hot.table.WeightedSize(), r.weight())
		}
	})
}

// A compression may end when its entry was replaced by an answer without forms.
func TestCodingOfAnEntryThatIsNowNegative(t *testing.T) {
	l := &script{make: func(int64) (entry.Content, error) { return compressible(1), nil }}
	story(t, classed(policy.Keyed), l, func(t *testing.T, s *Space) {
		mustBeHot(t, s, "k", l)
		hot := s.cache.near.hot
		before := hot.get("k")
		if !s.cache.near.put(policy.Keyed, "k", made(t, s, "k", negativeContent(), time.Now())) {
			t.Fatal("it was not stored")
		}
		hot.reweigh(before)
		if now := hot.get("k"); now == nil || !now.Meta.Negative {
			t.Errorf("%+v", now)
		}
	})
}

// An entry that only the hot table still has keeps the date of its last change.
func TestRefreshOfAnEntryThatOnlyTheHotTableHas(t *testing.T) {
	l := &script{text: "same"}
	story(t, classed(policy.Keyed), l, func(t *testing.T, s *Space) {
		mustBeHot(t, s, "k", l)
		changed := mustFetch(t, s, "k", l).Meta.Modified
		if err := s.cache.near.class[policy.Keyed].Delete("k"); err != nil { // as eviction does
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		mustFetch(t, s, "k", l) // in grace
		synctest.Wait()
		answer := mustFetch(t, s, "k", l)
		if answer.Age != 0 || !answer.Meta.Modified.Equal(changed) {
			t.Errorf("aged %v, changed %v, want %v", answer.Age, answer.Meta.Modified, changed)
		}
		if _, ok := s.cache.near.stored(policy.Keyed, "k"); !ok {
			t.Error("the refresh is not in bigcache")
		}
	})
}

// A coding with which an entry would take more than its share of the table is not kept:
// the entry would be evicted for it, again and again.
func TestCodingThatIsTooLargeIsNotKept(t *testing.T) {
	c := newCache(t, Config{Memory: MinMemory})
	s := c.Space("story", usual())
	text := make([]byte, c.near.hot.largest*4/5) // of which compression leaves a good third
	random := rand.New(rand.NewPCG(1, 2))
	for i := range text {
		text[i] = "01234567"[random.IntN(8)]
	}
	content := textContent(string(text))
	content.Forms[0][0].Compress = true
	l := &script{make: func(int64) (entry.Content, error) { return content, nil }}
	for range 4 {
		h, err := s.Get(t.Context(), "k", Want{Accept: entry.Codings(0).With(entry.Gzip)}, l)
		if err != nil || h.Rep.Coding != entry.Identity {
			t.Errorf("%v, %v", h.Rep.Coding, err)
		}
		c.near.hot.workers.Wait()
	}
	r := c.near.hot.get("k")
	if r == nil {
		t.Fatal("the entry has left the table")
	}
	if int(r.weight()) > c.near.hot.largest || r.codings[0][entry.Gzip-1].Load() == nil {
		t.Errorf("weighs %d of %d", r.weight(), c.near.hot.largest)
	}
}
