package entry

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// randomContent makes content of any shape that the codec supports.
func randomContent(r *rand.Rand) Content {
	c := Content{Source: "src", Edition: "2026-11-21"}
	if r.IntN(2) == 0 {
		c.Expires = time.UnixMilli(1_800_000_000_000)
		c.Fresh = 1500 * time.Second
	}
	for f := range r.IntN(4) {
		var form Form
		compress := r.IntN(2) == 0
		for b := range r.IntN(5) {
			body := Body{Status: 200 + r.IntN(300), Type: "t/x", ETag: `"e"`, Location: "https://example.org/"}
			body.Data, body.Compress = []byte(fmt.Sprintf("form %d body %d", f, b)), compress
			form = append(form, body)
		}
		c.Forms = append(c.Forms, form)
	}
	return c
}

func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		c := randomContent(r)
		m := &Meta{Created: time.UnixMilli(1_790_000_000_123), Modified: time.UnixMilli(1_780_000_000_000), Spread: 77}
		raw, err := Encode(&c, m, 42)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.checkTable(); err != nil {
			t.Fatalf("table: %v", err)
		}
		if e.Meta.Source != c.Source || e.Meta.Edition != c.Edition || !e.Meta.Created.Equal(m.Created) ||
			!e.Meta.Modified.Equal(m.Modified) || !e.Meta.Expires.Equal(c.Expires) || e.Meta.Fresh != c.Fresh || e.Meta.Spread != 77 || e.Generation != 42 {
			t.Fatalf("meta came back as %+v", e.Meta)
		}
		checkBodies(t, &c, &e)
	}
}

func checkBodies(t *testing.T, c *Content, e *Entry) {
	t.Helper()
	for fi, form := range c.Forms {
		bodies, compresses := e.Form(fi)
		if bodies != len(form) || compresses != (len(form) == 1 && form[0].Compress) {
			t.Fatalf("form %d has %d bodies, compresses %v, want %d", fi, bodies, compresses, len(form))
		}
		for bi, body := range form {
			rec, err := e.Record(e.ordinal(fi, bi))
			if err != nil {
				t.Fatal(err)
			}
			rep, err := parseRecord(rec, compresses)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(rep.Data, body.Data) || rep.Status != body.Status || rep.Location != body.Location || rep.ETag != body.ETag || rep.Varies != compresses {
				t.Fatalf("form %d body %d came back as %+v", fi, bi, rep)
			}
		}
	}
}

func TestUnknownLayoutIsNoEntry(t *testing.T) {
	c := textContent("x")
	raw, err := Encode(&c, &Meta{Created: time.Now(), Modified: time.Now()}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []byte{LayoutVersion - 1, LayoutVersion + 1, 99} {
		raw[0] = version
		if _, err := Parse(raw); err == nil {
			t.Errorf("an entry of version %d was read", version)
		}
	}
}

func TestEncodeRefusesWhatDoesNotFit(t *testing.T) {
	long := string(bytes.Repeat([]byte("x"), 300))
	wide := textContent("x")
	wide.Forms[0][0].Type = long
	for name, c := range map[string]Content{"source": {Source: long}, "edition": {Edition: long}, "type": wide} {
		if _, err := Encode(&c, &Meta{}, 1); err == nil {
			t.Errorf("%s of 300 bytes was encoded", name)
		}
	}
}

func TestFreshInWholeSeconds(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{
		0: 0, -time.Hour: 0, time.Nanosecond: time.Second, 1999 * time.Millisecond: time.Second,
		24 * time.Hour: 24 * time.Hour, math.MaxInt64: math.MaxUint32 * time.Second,
	} {
		c := textContent("x")
		c.Fresh = given
		raw, err := Encode(&c, &Meta{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := Parse(raw); err != nil || e.Meta.Fresh != want {
			t.Errorf("%v came back as %v (%v), want %v", given, e.Meta.Fresh, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		c := randomContent(r)
		raw, err := Encode(&c, &Meta{Created: time.Now(), Modified: time.Now()}, 7)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
		f.Add(raw[:len(raw)/2])
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := Parse(raw)
		if err != nil {
			return
		}
		if _, err := e.content(); e.Split() || e.checkTable() != nil || err != nil {
			return
		}
		for form := range e.Forms {
			bodies, varies := e.Form(form)
			for body := range bodies {
				rec, err := e.Record(e.ordinal(form, body))
				if err != nil {
					t.Fatalf("verified, but record fails: %v", err)
				}
				if _, err := parseRecord(rec, varies); err != nil {
					t.Fatalf("verified, but representation fails: %v", err)
				}
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	c := textContent(strings.Repeat("x", 1<<10))
	c.Forms[0][0].ETag = `"x"`
	raw, err := Encode(&c, &Meta{Created: time.Now(), Modified: time.Now()}, 1)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		e, err := Parse(raw)
		if err != nil {
			b.Fatal(err)
		}
		rec, err := e.Record(0)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := parseRecord(rec, false); err != nil {
			b.Fatal(err)
		}
	}
}

// textContent is an answer of one form with these bodies.
func textContent(texts ...string) Content {
	var f Form
	for _, t := range texts {
		f = append(f, Body{Status: 200, Type: "text/plain", ETag: `"tag"`, Data: []byte(t)})
	}
	return Content{Source: "first", Forms: []Form{f}}
}
