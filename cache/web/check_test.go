package web

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"golang.org/x/net/http/httpguts"

	"sundry/cache/entry"
	"sundry/cache/snapshot"
)

// TestCheck covers what an object from Redis or a file may have, and what it may not.
func TestCheck(t *testing.T) {
	later := noon.Add(time.Minute)
	for name, c := range map[string]struct {
		change func(o *Object)
		valid  bool
	}{
		"as it was stored":         {func(*Object) {}, true},
		"its length":               {func(o *Object) { o.Header["Content-Length"] = []string{"4"} }, true},
		"octets":                   {func(o *Object) { o.Header["X-B"] = []string{"\xb1\xa8\t"} }, true},
		"an empty field":           {func(o *Object) { o.Header["X-B"] = []string{""} }, true},
		"a name that is not sent":  {func(o *Object) { o.Header["X B"], o.Header["x-c"], o.Header["X-D"] = []string{"a"}, []string{"a"}, nil }, true},
		"requested after received": {func(o *Object) { o.Requested = o.Received.Add(time.Millisecond) }, true}, // by a POST
		"ancient by its Date":      {func(o *Object) { o.Born = o.Received.Add(math.MinInt64) }, true},
		"a clock that is ahead":    {func(o *Object) { o.Requested, o.Received = later.Add(time.Second), later.Add(time.Second) }, true},
		"a routing field":          {func(o *Object) { o.Names = []string{"X-A", "X-Host"} }, true},
		"no content":               {func(o *Object) { o.Status, o.Body = http.StatusNoContent, nil }, true},
		"a part":                   {func(o *Object) { o.Status, o.Header["Content-Range"] = 206, []string{"bytes 2-5/9"} }, true},

		"no status":             {func(o *Object) { o.Status = 0 }, false},
		"an interim status":     {func(o *Object) { o.Status = 101 }, false},
		"a status of 304":       {func(o *Object) { o.Status, o.Body = 304, nil }, false},
		"a huge status":         {func(o *Object) { o.Status = 99999 }, false},
		"no content, and some":  {func(o *Object) { o.Status = http.StatusNoContent }, false},
		"a part of nothing":     {func(o *Object) { o.Status = 206 }, false},
		"a part beyond the end": {func(o *Object) { o.Status, o.Header["Content-Range"] = 206, []string{"bytes 2-5/5"} }, false},
		"a part beyond numbers": {func(o *Object) {
			o.Status, o.Header["Content-Range"] = 206, []string{"bytes 9223372036854775807-9223372036854775807/*"}
		}, false},
		"another length":         {func(o *Object) { o.Header["Content-Length"] = []string{"5"} }, false},
		"two lengths":            {func(o *Object) { o.Header["Content-Length"] = []string{"4", "4"} }, false},
		"a length with a zero":   {func(o *Object) { o.Header["Content-Length"] = []string{"04"} }, false},
		"framing":                {func(o *Object) { o.Header["Transfer-Encoding"] = []string{"chunked"} }, false},
		"an age":                 {func(o *Object) { o.Header["Age"] = []string{"1"} }, false},
		"a line break":           {func(o *Object) { o.Header["X-B"] = []string{"a\r\nb: c"} }, false},
		"from the future":        {func(o *Object) { o.Requested, o.Received = later.Add(2*time.Second), later.Add(2*time.Second) }, false},
		"received later":         {func(o *Object) { o.Received = later.Add(2 * time.Second) }, false},
		"received before":        {func(o *Object) { o.Received = o.Requested.Add(-2 * time.Second) }, false},
		"generated later":        {func(o *Object) { o.Born = o.Received.Add(1) }, false},
		"older than a duration":  {func(o *Object) { o.Born = time.Time{} }, false},
		"before any clock":       {func(o *Object) { o.Requested, o.Received = time.Time{}, time.Time{} }, false},
		"fewer names":            {func(o *Object) { o.Names = nil }, false},
		"names in no order":      {func(o *Object) { o.Names = []string{"X-A", "Accept"} }, false},
		"more names":             {func(o *Object) { o.Names = []string{"Accept", "X-A"} }, false},
		"a name of no field":     {func(o *Object) { o.Names = []string{"X-A", "X-B\r\n"} }, false},
		"selected by everything": {func(o *Object) { o.Header["Vary"] = []string{"X-A, *"} }, false},
		"compressed":             {func(o *Object) { o.Header["Content-Encoding"] = []string{"gzip"} }, false},
	} {
		o := object(1, "body")
		c.change(o)
		value, err := encode(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decode(value, time.Time{}, &Rules{}, later); (err == nil) != c.valid || errors.Is(err, errOrigin) {
			t.Errorf("%s: %v", name, err)
		}
	}
	value, _ := encode(object(1, "body"))
	if _, err := decode(value, time.Time{}, &Rules{Origin: "another"}, later); !errors.Is(err, errOrigin) {
		t.Errorf("of another origin: %v", err)
	}
}

// FuzzObject requires of what is believed that it harms nothing but the URL that it is stored under.
func FuzzObject(f *testing.F) {
	plain, part, octets := object(1, "body", `Etag: "e"`), object(2, "part", "Content-Range: bytes 0-3/9"), object(3, "", "X-B: \xb1\xa8", "Cache-Tag: a b")
	part.Status = http.StatusPartialContent
	softly := object(4, "body").staleFrom(noon.Add(5 * time.Second))
	for _, o := range []*Object{plain, part, octets, softly} {
		value, err := encode(o)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(value, int64(1000))
		f.Add(value, int64(math.MaxInt64))
	}
	f.Add([]byte{farVersion}, int64(0))
	f.Add(append([]byte{farVersion}, bytes.Repeat([]byte{0xff}, 12)...), int64(-1))
	f.Add(append(binary.AppendUvarint([]byte{farVersion}, 1<<62), '{', '}'), int64(1))
	for _, head := range []string{"null", "{}", "[]", `{"status":200}`, `{"status":200,"header":null,"lifetime":-9223372036854775808}`, `{"status":1e9}`, `{"names":[null]}`, `{"octets":{"A":null}}`} {
		f.Add(append(binary.AppendUvarint([]byte{farVersion}, uint64(len(head))), head...), int64(1))
	}
	rules := &Rules{Tags: []string{"Cache-Tag"}, HeuristicShare: 0.1, HeuristicMost: time.Hour, StaleIfError: time.Hour}
	now := noon.Add(time.Hour)
	f.Fuzz(func(t *testing.T, value []byte, created int64) {
		o, err := decode(value, time.UnixMilli(created), rules, now)
		if err != nil {
			return
		}
		harmless(t, o, now)
		again, err := encode(o)
		if err != nil {
			t.Fatalf("it cannot be written again: %v", err)
		}
		if same, err := decode(again, time.UnixMilli(created), rules, now); err != nil || !same.is(o) || same.selecting != o.selecting {
			t.Errorf("written again it is another one: %v", err)
		}
		s, err := NewStore(StoreConfig{Memory: 1 << 20, Variants: 3})
		if err != nil {
			t.Fatal(err)
		}
		if s.put("x/a", o, 0); len(s.Get("x/b")) > 0 {
			t.Error("it is stored under another URL")
		}
	})
}

func harmless(t *testing.T, o *Object, now time.Time) {
	t.Helper()
	if o.Status < 200 || o.Status > 999 || !bodyAllowed(o.Status) && len(o.Body) > 0 {
		t.Errorf("status %d, %d bytes", o.Status, len(o.Body))
	}
	for name, lines := range o.Header {
		if !httpguts.ValidHeaderFieldName(name) || !slices.ContainsFunc(lines, httpguts.ValidHeaderFieldValue) || http.CanonicalHeaderKey(name) != name {
			t.Errorf("%q: %q", name, lines)
		}
	}
	if n := o.Header.Get("Content-Length"); n != "" && n != strconv.Itoa(len(o.Body)) || HasConnectionFields(o.Header) {
		t.Errorf("%d bytes with %v", len(o.Body), o.Header)
	}
	for _, at := range []time.Time{now, now.Add(maxSeconds*time.Second + time.Hour)} {
		if o.Left(at) > maxSeconds*time.Second+entry.Skew || o.Age(at) < 0 {
			t.Errorf("fresh for %v at an age of %v", o.Left(at), o.Age(at))
		}
	}
	if o.Left(now.Add(maxSeconds*time.Second+time.Hour)) > 0 {
		t.Errorf("fresh for ever: %v from %v", o.Lifetime, o.Born)
	}
	if p := o.Part; p != nil && (p.First < 0 || p.Length() != int64(len(o.Body)) || p.Total >= 0 && p.Last >= p.Total) {
		t.Errorf("%d bytes with %+v", len(o.Body), p)
	}
	if names, _ := varyFields(o.Header, nil); len(names) > 0 && len(o.Names) == 0 && selector().Selects(o) {
		t.Error("one variant answers all")
	}
	_ = o.Weight()
	_, _ = Variants{o}.Select(selector("Accept-Language: de"), true), o.Judge(&Directives{}, now)
}

// FuzzKept requires that what is read from a file does no harm.
func FuzzKept(f *testing.F) {
	s := newTestStore(f, 1<<20)
	s.Put("x/a", object(1, "body"))
	s.Put("x/b", object(2, "body", "Vary: X-A"))
	for _, value := range s.kept {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		again := newTestStore(t, 1<<20)
		read := again.admit("x/a", value, &usualRules, time.Time{}, noon.Add(time.Hour)) == snapshot.Read
		if v := again.Get("x/a"); (len(v) > 0) != read {
			t.Errorf("read: %v, %d are stored", read, len(v))
		}
		for _, o := range again.Get("x/a") {
			harmless(t, o, noon.Add(time.Hour))
		}
	})
}

// TestForgedObjectsOfAFile are left out and counted.
func TestForgedObjectsOfAFile(t *testing.T) {
	forged := object(1, "body", "Content-Length: 1000")
	forged.Status = http.StatusSwitchingProtocols
	value, err := encode(forged)
	if err != nil {
		t.Fatal(err)
	}
	s := newTestStore(t, 1<<20)
	if got := s.admit("x/f", value, &usualRules, time.Time{}, noon.Add(time.Hour)); got != snapshot.Broken || stored(s, "x/f", "1") != "" {
		t.Error(got)
	}
	if broken := testutil.ToFloat64(s.broken.file); broken != 1 {
		t.Errorf("%v are counted", broken)
	}
}
