package web

import (
	"errors"
	"testing"
	"time"

	"sundry/cache/purged"
)

func TestPurgesAsTexts(t *testing.T) {
	for text, want := range map[string]Purge{
		"url /a?b=c d":    {Key: "x/a?b=c d"},
		"prefix /":        {Prefix: "x/"},
		"soft prefix /n/": {Prefix: "x/n/", Soft: true},
		"tag front":       {Prefix: "x/", Tag: "front"},
		"group a, b":      {Prefix: "x/", Group: "a, b"},
		"soft group a":    {Prefix: "x/", Group: "a", Soft: true},
	} {
		if got, err := ParsePurge("x", text); err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "url", "url a", "prefix x", "tag ", "tag a b", "tag a,b", "group ", "soft", "hard tag a", "x:7f3a"} {
		if _, err := ParsePurge("x", text); !errors.Is(err, ErrPurge) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestATagThatIsNoUTF8 is the same one for a purge when it has been in a file or in Redis, as JSON, as that purge may have been.
func TestATagThatIsNoUTF8(t *testing.T) {
	const octets, inJSON = "\xd0\xc2a", "\ufffd\ufffda"
	kept := object(0, "1", "Cache-Tag: "+octets)
	value, err := encode(kept)
	if err != nil {
		t.Fatal(err)
	}
	again, err := decode(value, time.Time{}, &usualRules, noon.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{octets, inJSON} {
		p, err := ParsePurge("x", "tag "+tag)
		p.At = noon.Add(time.Hour)
		if err != nil || !p.Covers("x/a", kept) || !p.Covers("x/a", again) {
			t.Errorf("%q: %+v %v, of %q and %q", tag, p, err, kept.Tags, again.Tags)
		}
	}
}

// TestASoftPurgeOutlivesTheMemoryOfURIs: what instances share of before is stale whenever it is found.
func TestASoftPurgeOutlivesTheMemoryOfURIs(t *testing.T) {
	s := newTestStore(t, 1<<20)
	o := object(0, "1")
	s.Purge(Purge{At: noon.Add(time.Second), Key: "x/a", Soft: true})
	s.Purge(Purge{At: noon.Add(2 * purged.Life), Key: "x/b"})
	s.Put("x/a", o)
	if got := s.Get("x/a"); len(got) != 1 || got[0].Left(noon.Add(2*time.Second)) > 0 {
		t.Errorf("%d, fresh for %v", len(got), got[0].Left(noon.Add(2*time.Second)))
	}
}

// TestAPurgeThatIsOrderedAgainTakesThePlaceOfTheLast, so that those of a clock that is read again and again are one.
func TestAPurgeThatIsOrderedAgainTakesThePlaceOfTheLast(t *testing.T) {
	s := newTestStore(t, 1<<20)
	for i := range 100 {
		s.Purge(Purge{At: noon.Add(time.Duration(i) * time.Millisecond), Prefix: "x/"})
		s.Purge(Purge{At: noon.Add(time.Duration(i) * time.Millisecond), Prefix: "x/", Soft: true})
	}
	if len(s.wide.all) != 2 || s.Put("x/a", object(0, "1")) || !s.Put("x/a", object(1, "2")) {
		t.Errorf("%d purges are remembered", len(s.wide.all))
	}
}
