package entry

import (
	"encoding/binary"
	"net/http"
	"testing"
	"time"
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
	raw, err := Encode(&c, m, 7)
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
		"a no":                       {forge(func(c *Content) { *c = Content{Source: "second", Negative: "no such thing"} }), true},
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
		e, err := Parse(r.change(rawOf(t, sound(), soundMeta())))
		if err == nil {
			err = e.Check(checkedAt)
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
	e, err := Parse(raw)
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

// FuzzCheck mutates entries, and their digest with them so that the other checks are
// tested: what is accepted is sane.
func FuzzCheck(f *testing.F) {
	f.Add([]byte{}, false, false)
	f.Add([]byte{1, 0, 1, 60, 0, 4}, false, false)
	f.Add([]byte{11, 0, 127, 4, 0, 255}, false, true)
	f.Add([]byte{7, 0, 255}, true, false)
	f.Fuzz(func(t *testing.T, patch []byte, forge, negative bool) {
		c := sound()
		if negative {
			c = Content{Source: "second", Negative: "no such thing"}
		}
		raw := rawOf(t, c, soundMeta())
		mutate(raw, patch)
		e, err := Parse(raw)
		if err != nil {
			return
		}
		if forge && e.checkTable() == nil {
			if sum, err := e.content(); err == nil {
				binary.LittleEndian.PutUint64(raw[48:], sum)
				e.Digest = sum
			}
		}
		if e.Check(checkedAt) == nil {
			sane(t, &e)
		}
	})
}

func sane(t *testing.T, e *Entry) {
	t.Helper()
	if e.Meta.Negative != (e.Message != "") {
		t.Errorf("no: %v (%q)", e.Meta.Negative, e.Message)
	}
	for form := range max(1, e.Forms) {
		bodies, _ := e.Form(form)
		rep, err := e.Pick(form, e.Record)
		if err != nil {
			t.Fatalf("believed, but cannot be presented: %v", err)
		}
		if bodies > 0 && http.StatusText(rep.Status) == "" {
			t.Errorf("status %d", rep.Status)
		}
		if !Printable(rep.Type + rep.ETag + rep.Location + e.Meta.Source) {
			t.Errorf("%+v", rep)
		}
	}
}
