package cache

import (
	"encoding/binary"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache/entry"
)

// sound is content as a load returns it, in three forms.
func sound() entry.Content {
	c := textContent("some text that is said three times, some text that is said three times")
	c.Forms[0][0].Compress = true
	link := entry.Body{Status: http.StatusFound, Type: "text/plain", Location: "https://example.org/a"}
	link.Data = []byte(link.Location)
	c.Forms = append(c.Forms, entry.Form{link, link}, nil)
	c.Edition = "2026-09-21"
	return c
}

func rawOf(t testing.TB, c entry.Content, m *entry.Meta) []byte {
	t.Helper()
	raw, err := entry.Encode(&c, m, 7)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// mutate patches bytes: each triple of the patch is a place and what is
// changed there.
func mutate(raw, patch []byte) {
	for ; len(patch) >= 3 && len(raw) > 0; patch = patch[3:] {
		raw[int(binary.LittleEndian.Uint16(patch))%len(raw)] ^= patch[2]
	}
}

// FuzzFar mutates entries as Redis holds them, compressed or not: what is accepted is sane.
func FuzzFar(f *testing.F) {
	f.Add([]byte{}, true, false, false)
	f.Add([]byte{11, 0, 127, 4, 0, 255}, false, true, true)
	f.Add([]byte{7, 0, 255}, true, false, false)
	f.Add([]byte{7, 0, 255}, true, false, true)
	codec, err := newCompressor()
	if err != nil {
		f.Fatal(err)
	}
	s := newCache(f, Config{Far: newFakeRemote()}).Space("story", usual())
	now := time.Now()
	f.Fuzz(func(t *testing.T, patch []byte, packed, negative, small bool) {
		c := sound()
		if negative {
			c = negativeContent()
		}
		raw := rawOf(t, c, &entry.Meta{Created: now.Add(-time.Second), Modified: now.Add(-time.Minute)})
		if !packed {
			mutate(raw, patch)
		}
		value := codec.enc.EncodeAll(raw, nil)
		if small {
			value = codec.pack(raw)
		}
		if packed {
			mutate(value, patch)
		}
		if e, ok := s.unpack(&entry.Found{Value: value, Created: now.Add(-time.Second)}); ok {
			sane(t, s, e)
		}
	})
}

func sane(t *testing.T, s *Space, e *entry.Entry) {
	t.Helper()
	now := time.Now()
	for form := range max(1, e.Forms) {
		for _, accept := range []entry.Codings{0, entry.Codings(0).With(entry.Gzip), entry.Codings(0).With(entry.Zstd)} {
			h, err := s.resultAnswer("k", &flightResult{entry: e, tier: Far}, Want{form, accept}, now)
			if err != nil {
				t.Fatalf("believed, but cannot be presented: %v", err)
			}
			if h.Left > s.policy.TTL+entry.Skew || h.Age < 0 || h.Meta.Negative != (h.Message != "") {
				t.Errorf("%v left at an age of %v, no: %v (%q)", h.Left, h.Age, h.Meta.Negative, h.Message)
			}
			if st := h.Rep.Status; !h.Meta.Negative && !h.Missing && (st < 200 || st > 599 || http.StatusText(st) == "") {
				t.Errorf("status %d", st)
			}
			if !entry.Printable(h.Rep.Type + h.Rep.ETag + h.Rep.Location + h.Meta.Source) {
				t.Errorf("%+v", h.Rep)
			}
		}
	}
	if keep := s.policy.Keep(&e.Meta); keep > s.policy.TTL+s.policy.StaleIfError {
		t.Errorf("to be kept for %v", keep)
	}
}

// Random mutations soon find what they found before: invalid statuses, and entries
// that never end.
func TestMutatedEntriesAreMissesAndCounted(t *testing.T) {
	s := newCache(t, Config{Far: newFakeRemote()}).Space("story", usual())
	r := rand.New(rand.NewPCG(5, 6))
	now := time.Now()
	for range 3000 {
		raw := rawOf(t, sound(), &entry.Meta{Created: now.Add(-time.Second), Modified: now.Add(-time.Minute)})
		for range 1 + r.IntN(3) {
			raw[r.IntN(len(raw))] ^= byte(1 + r.IntN(255))
		}
		if e, ok := s.unpack(&entry.Found{Value: s.cache.compressor.pack(raw), Created: now.Add(-time.Second)}); ok {
			sane(t, s, e)
		}
	}
}

func TestBrokenEntryIsLoadedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := newFakeRemote()
		c := newCache(t, Config{Far: far})
		s := c.Space("story", usual())
		now := time.Now()
		raw := rawOf(t, sound(), &entry.Meta{Created: now.Add(24 * time.Hour), Modified: now})
		far.values["k"] = c.compressor.pack(raw)
		l := &script{}
		if h := mustFetch(t, s, "k", l); h.Tier != Upstream || h.Left != time.Minute {
			t.Errorf("%+v", h)
		}
		if n := testutil.ToFloat64(s.metrics.farBroken); n != 1 {
			t.Errorf("%v broken entries were counted", n)
		}
	})
}

// Decompressing a large entry delays no small one.
func TestEntriesAreDecompressedConcurrently(t *testing.T) {
	codec, err := newCompressor()
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 24<<20)
	for i := range noise {
		noise[i] = "0123456789abcdef"[rand.IntN(16)]
	}
	large, small := codec.enc.EncodeAll(noise, nil), codec.enc.EncodeAll([]byte("small"), nil)
	decode := func(b []byte) time.Duration {
		start := time.Now()
		if _, err := codec.dec.DecodeAll(b, nil); err != nil {
			t.Error(err)
		}
		return time.Since(start)
	}
	var longest time.Duration
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				decode(large)
			}
		}
	})
	alone := decode(large)
	for range 20 {
		longest += decode(small)
	}
	close(stop)
	wg.Wait()
	if longest > 5*alone {
		t.Errorf("20 small ones took %v, a large one %v", longest, alone)
	}
}
