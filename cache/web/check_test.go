package web

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"golang.org/x/net/http/httpguts"

	"sundry/cache/entry"
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

// FuzzFile requires that a file brings no more than has the right digest, under the key that it was stored under.
func FuzzFile(f *testing.F) {
	dir := f.TempDir()
	s, err := NewStore(StoreConfig{Memory: 1 << 20, Variants: 3})
	if err != nil {
		f.Fatal(err)
	}
	s.Put("x/a", object(1, "body"))
	s.Put("x/b", object(2, "body"))
	name := filepath.Join(dir, "seed")
	if _, err := s.WriteFile(name); err != nil {
		f.Fatal(err)
	}
	seed, err := os.ReadFile(name)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(restartMagic))
	f.Add(binary.AppendUvarint([]byte(restartMagic), math.MaxUint64))
	f.Add(append(binary.AppendUvarint(append(binary.AppendUvarint([]byte(restartMagic), 3), "x/a"...), 1<<40), 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		again, file := newTestStore(t, 1<<20), filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		n, _ := again.ReadFile(file, func(string) *Rules { return &usualRules }, time.Time{}, noon.Add(time.Hour))
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Error("the file is still there")
		}
		for key, v := range again.table.All() {
			for _, o := range v {
				n--
				harmless(t, o, noon.Add(time.Hour))
			}
			if key == "" {
				t.Error("of no key")
			}
		}
		if n < 0 {
			t.Errorf("%d more are stored than are counted", -n)
		}
	})
}

// TestAFileOfAnotherVersion is none that is damaged.
func TestAFileOfAnotherVersion(t *testing.T) {
	for text, want := range map[string]error{"sundry web 1\n\x00": ErrOtherVersion, "sundry web 9\n": ErrOtherVersion, "sundry wob 2\n": errForeign, "sundry web": errRestart, "": errRestart} {
		file, s := filepath.Join(t.TempDir(), "file"), newTestStore(t, 1<<20)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if n, err := s.ReadFile(file, func(string) *Rules { return &usualRules }, time.Time{}, noon); n != 0 || !errors.Is(err, want) {
			t.Errorf("%q: %d %v", text, n, err)
		}
	}
}

// TestForgedObjectsOfAFile are left out, those of another key end what is read, and each is counted.
func TestForgedObjectsOfAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write := func(records ...[]byte) {
		if err := os.WriteFile(file, append([]byte(restartMagic), bytes.Join(records, nil)...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	record := func(key string, o *Object) []byte {
		var b bytes.Buffer
		if err := writeObject(&b, key, o); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	forged := object(1, "body", "Content-Length: 1000")
	forged.Status = http.StatusSwitchingProtocols
	moved := bytes.Replace(record("x/m", object(1, "body")), []byte("x/m"), []byte("x/n"), 1)
	write(record("x/a", object(1, "a")), record("x/f", forged), record("x/b", object(2, "b")), moved, record("x/c", object(3, "c")))
	s := newTestStore(t, 1<<20)
	n, err := s.ReadFile(file, func(string) *Rules { return &usualRules }, time.Time{}, noon.Add(time.Hour))
	if n != 2 || !errors.Is(err, errRestart) || stored(s, "x/a", "1") != "a" || stored(s, "x/b", "1") != "b" || stored(s, "x/f", "1")+stored(s, "x/n", "1") != "" {
		t.Errorf("%d %v", n, err)
	}
	if broken := testutil.ToFloat64(s.broken.file); broken != 2 {
		t.Errorf("%v are counted", broken)
	}
}
