package cache

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/entry"
	"sundry/cache/near"
	"sundry/cache/policy"
)

// ready fetches a key until it is in the hot table.
func mustBeHot(t *testing.T, s *Space, key string, l Loader) {
	t.Helper()
	mustFetch(t, s, key, l)
	mustFetch(t, s, key, l)
	synctest.Wait()
	if s.cache.near.Hot(key) == nil {
		t.Fatalf("%s is not in the hot table", key)
	}
}

// What is asked for once does not enter; what is asked for again does.
func TestHotTableTakesWhatIsReadAgain(t *testing.T) {
	story(t, classed(policy.Keyed), nil, func(t *testing.T, s *Space) {
		l := &script{}
		mustFetch(t, s, "k", l)
		if s.cache.near.Hot("k") != nil {
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
		time.Sleep(near.RefreshLook)
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
		s.cache.near.Wait()
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
	})
}

// An entry that only the hot table still has keeps the date of its last change.
func TestRefreshOfAnEntryThatOnlyTheHotTableHas(t *testing.T) {
	l := &script{text: "same"}
	story(t, classed(policy.Keyed), l, func(t *testing.T, s *Space) {
		mustBeHot(t, s, "k", l)
		changed := mustFetch(t, s, "k", l).Meta.Modified
		if err := s.cache.near.Queue(policy.Keyed).Delete("k"); err != nil { // as eviction does
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		mustFetch(t, s, "k", l) // in grace
		synctest.Wait()
		answer := mustFetch(t, s, "k", l)
		if answer.Age != 0 || !answer.Meta.Modified.Equal(changed) {
			t.Errorf("aged %v, changed %v, want %v", answer.Age, answer.Meta.Modified, changed)
		}
		if _, ok := s.cache.near.Stored(policy.Keyed, "k"); !ok {
			t.Error("the refresh is not in bigcache")
		}
	})
}
