package cache

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
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
		raw, err := encode(&c, m, 42)
		if err != nil {
			t.Fatal(err)
		}
		e, err := parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.checkTable(); err != nil {
			t.Fatalf("table: %v", err)
		}
		if e.meta.Source != c.Source || e.meta.Edition != c.Edition || !e.meta.Created.Equal(m.Created) ||
			!e.meta.Modified.Equal(m.Modified) || !e.meta.Expires.Equal(c.Expires) || e.meta.Fresh != c.Fresh || e.meta.Spread != 77 || e.gen != 42 {
			t.Fatalf("meta came back as %+v", e.meta)
		}
		checkBodies(t, &c, &e)
	}
}

func checkBodies(t *testing.T, c *Content, e *entry) {
	t.Helper()
	for fi, form := range c.Forms {
		bodies, compresses := e.form(fi)
		if bodies != len(form) || compresses != (len(form) == 1 && form[0].Compress) {
			t.Fatalf("form %d has %d bodies, compresses %v, want %d", fi, bodies, compresses, len(form))
		}
		for bi, body := range form {
			rec, err := e.record(e.ordinal(fi, bi))
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
	raw, err := encode(&c, &Meta{Created: time.Now(), Modified: time.Now()}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []byte{layoutVersion - 1, layoutVersion + 1, 99} {
		raw[0] = version
		if _, err := parse(raw); err == nil {
			t.Errorf("an entry of version %d was read", version)
		}
	}
}

func TestEncodeRefusesWhatDoesNotFit(t *testing.T) {
	long := string(bytes.Repeat([]byte("x"), 300))
	wide := textContent("x")
	wide.Forms[0][0].Type = long
	for name, c := range map[string]Content{"source": {Source: long}, "edition": {Edition: long}, "type": wide} {
		if _, err := encode(&c, &Meta{}, 1); err == nil {
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
		raw, err := encode(&c, &Meta{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := parse(raw); err != nil || e.meta.Fresh != want {
			t.Errorf("%v came back as %v (%v), want %v", given, e.meta.Fresh, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		c := randomContent(r)
		raw, err := encode(&c, &Meta{Created: time.Now(), Modified: time.Now()}, 7)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
		f.Add(raw[:len(raw)/2])
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := parse(raw)
		if err != nil {
			return
		}
		if _, err := e.content(); e.split() || e.checkTable() != nil || err != nil {
			return
		}
		for form := range e.forms {
			bodies, varies := e.form(form)
			for body := range bodies {
				rec, err := e.record(e.ordinal(form, body))
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
