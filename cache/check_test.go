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
)

var checkedAt = time.UnixMilli(1_790_000_000_000)

// sound is content as a load returns it, in three forms.
func sound() Content {
	c := textContent("some text that is said three times, some text that is said three times")
	c.Forms[0][0].Compress = true
	link := Body{Status: http.StatusFound, Type: "text/plain", Location: "https://example.org/a"}
	link.Data = []byte(link.Location)
	c.Forms = append(c.Forms, Form{link, link}, nil)
	c.Edition, c.Expires, c.Since = "2026-09-21", checkedAt.Add(time.Hour), checkedAt.Add(-time.Hour)
	return c
}

func soundMeta() *Meta {
	return &Meta{Created: checkedAt.Add(-time.Minute), Modified: checkedAt.Add(-time.Hour)}
}

func rawOf(t testing.TB, c Content, m *Meta) []byte {
	t.Helper()
	raw, err := encode(&c, m, 7)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestCheck(t *testing.T) {
	le := binary.LittleEndian
	put := func(at int, when time.Time) func([]byte) {
		return func(raw []byte) { le.PutUint64(raw[at:], uint64(when.UnixMilli())) }
	}
	forge := func(change func(*Content)) func([]byte) []byte {
		return func([]byte) []byte { c := sound(); change(&c); return rawOf(t, c, soundMeta()) }
	}
	patch := func(f func([]byte)) func([]byte) []byte {
		return func(raw []byte) []byte { f(raw); return raw }
	}
	for name, r := range map[string]struct {
		change func([]byte) []byte
		want   bool
	}{
		"as it was made":             {patch(func([]byte) {}), true},
		"a last resort":              {forge(func(c *Content) { c.LastResort = true }), true},
		"a no":                       {forge(func(c *Content) { *c = negativeContent() }), true},
		"a clock a bit ahead":        {patch(put(4, checkedAt.Add(30*time.Second))), true},
		"created in the future":      {patch(put(4, checkedAt.Add(2*time.Minute))), false},
		"created at the end":         {patch(func(raw []byte) { le.PutUint64(raw[4:], 1<<63-1) }), false},
		"created before computers":   {patch(put(4, time.UnixMilli(-1))), false},
		"changed after its creation": {patch(put(12, checkedAt)), false},
		"expires in ages":            {patch(put(20, checkedAt.Add(2*maxDistance))), false},
		"a part of the future":       {patch(put(28, checkedAt.Add(2*time.Minute))), false},
		"another layout":             {patch(func(raw []byte) { raw[0]++ }), false},
		"negative without a message": {patch(func(raw []byte) { raw[1] |= flagNegative }), false},
		"split":                      {patch(func(raw []byte) { raw[1] |= flagSplit }), false},
		"an unknown flag":            {patch(func(raw []byte) { raw[1] |= 64 }), false},
		"another digest":             {patch(func(raw []byte) { raw[48]++ }), false},
		"cut":                        {func(raw []byte) []byte { return raw[:len(raw)-1] }, false},
		"longer":                     {func(raw []byte) []byte { return append(raw, 0) }, false},
		"empty":                      {func([]byte) []byte { return nil }, false},
		"nothing in it":              {forge(func(c *Content) { c.Forms = nil }), false},
		"status 255":                 {forge(func(c *Content) { c.Forms[0][0].Status = 255 }), false},
		"status 456":                 {forge(func(c *Content) { c.Forms[0][0].Status = 456 }), false},
		"status 100":                 {forge(func(c *Content) { c.Forms[0][0].Status = 100 }), false},
		"a type in two lines":        {forge(func(c *Content) { c.Forms[0][0].Type = "text/plain\r\nX: y" }), false},
		"a location in two":          {forge(func(c *Content) { c.Forms[1][0].Location = "https://a/\n" }), false},
		"an ETag without quotes":     {forge(func(c *Content) { c.Forms[0][0].ETag = "tag" }), false},
		"an ETag with too many":      {forge(func(c *Content) { c.Forms[0][0].ETag = `"a"b"` }), false},
		"a weak ETag":                {forge(func(c *Content) { c.Forms[0][0].ETag = `W/"tag"` }), true},
		"a pool to be compressed":    {func([]byte) []byte { return compressedPool(t) }, false},
		"an edition of no day":       {forge(func(c *Content) { c.Edition = "2026/09/21" }), false},
		"a source of two lines":      {forge(func(c *Content) { c.Source = "a\nb" }), false},
	} {
		e, err := parse(r.change(rawOf(t, sound(), soundMeta())))
		if err == nil {
			err = e.check(checkedAt)
		}
		if (err == nil) != r.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// compressedPool is an entry that says of a pool that it is compressed: all of its bodies
// would be sent in the coding of one.
func compressedPool(t *testing.T) []byte {
	t.Helper()
	c := sound()
	raw := rawOf(t, c, soundMeta())
	e, err := parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	raw[e.table+formRow+4] |= formCompresses
	sum, err := e.content()
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint64(raw[48:], sum)
	return raw
}

// mutate patches bytes: each triple of the patch is a place and what is
// changed there.
func mutate(raw, patch []byte) {
	for ; len(patch) >= 3 && len(raw) > 0; patch = patch[3:] {
		raw[int(binary.LittleEndian.Uint16(patch))%len(raw)] ^= patch[2]
	}
}

// FuzzFar mutates entries, their digest with them so that the other checks are
// tested, as Redis holds them, compressed or not: what is accepted is sane. The
// decoder is left to its own tests.
func FuzzFar(f *testing.F) {
	f.Add([]byte{}, true, false, false, false)
	f.Add([]byte{1, 0, 1, 60, 0, 4}, true, false, false, false)
	f.Add([]byte{11, 0, 127, 4, 0, 255}, true, false, true, true)
	f.Add([]byte{7, 0, 255}, false, true, false, false)
	f.Add([]byte{7, 0, 255}, false, true, false, true)
	codec, err := newCompressor()
	if err != nil {
		f.Fatal(err)
	}
	s := newCache(f, Config{Far: newFakeRemote()}).Space("story", usual())
	now := time.Now()
	f.Fuzz(func(t *testing.T, patch []byte, forge, packed, negative, small bool) {
		c := sound()
		if negative {
			c = negativeContent()
		}
		raw := rawOf(t, c, &Meta{Created: now.Add(-time.Second), Modified: now.Add(-time.Minute)})
		if !packed {
			mutate(raw, patch)
		}
		if e, err := parse(raw); err == nil && forge && e.checkTable() == nil {
			if sum, err := e.content(); err == nil {
				binary.LittleEndian.PutUint64(raw[48:], sum)
			}
		}
		value := codec.enc.EncodeAll(raw, nil)
		if small {
			value = codec.pack(raw)
		}
		if packed {
			mutate(value, patch)
		}
		if e, ok := s.unpack(value, now.Add(-time.Second)); ok {
			sane(t, s, e)
		}
	})
}

func sane(t *testing.T, s *Space, e *entry) {
	t.Helper()
	now := time.Now()
	for form := range max(1, e.forms) {
		for _, accept := range []Codings{0, Codings(0).With(Gzip), Codings(0).With(Zstd)} {
			h, err := s.resultHit("k", &flightResult{entry: e, tier: Far}, Want{form, accept}, now)
			if err != nil {
				t.Fatalf("believed, but cannot be presented: %v", err)
			}
			if h.Left > s.policy.TTL+skew || h.Age < 0 || h.Meta.Negative != (h.Message != "") {
				t.Errorf("%v left at an age of %v, no: %v (%q)", h.Left, h.Age, h.Meta.Negative, h.Message)
			}
			if st := h.Rep.Status; !h.Meta.Negative && !h.Missing && (st < 200 || st > 599 || http.StatusText(st) == "") {
				t.Errorf("status %d", st)
			}
			if !printable(h.Rep.Type + h.Rep.ETag + h.Rep.Location + h.Meta.Source) {
				t.Errorf("%+v", h.Rep)
			}
		}
	}
	if keep := s.policy.Keep(&e.meta); keep > s.policy.TTL+s.policy.StaleIfError {
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
		raw := rawOf(t, sound(), &Meta{Created: now.Add(-time.Second), Modified: now.Add(-time.Minute)})
		for range 1 + r.IntN(3) {
			raw[r.IntN(len(raw))] ^= byte(1 + r.IntN(255))
		}
		if e, ok := s.unpack(s.cache.compressor.pack(raw), now.Add(-time.Second)); ok {
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
		raw := rawOf(t, sound(), &Meta{Created: now.Add(24 * time.Hour), Modified: now})
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
