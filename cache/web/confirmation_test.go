package web

import (
	"context"
	"testing"
	"time"

	"sundry/cache/confirm"
	"sundry/cache/entry"
	"sundry/cache/web/webtest"
)

// countedFar counts the looks. It answers none of them while silent is set, and takes no writes while full is.
type countedFar struct {
	webtest.Far
	looks        int
	silent, full bool
}

// Share implements Far.
func (f *countedFar) Share(key string, created time.Time, replaceable bool, size int, value func() ([]byte, time.Duration), purged func(time.Time)) {
	if !f.full {
		f.Far.Share(key, created, replaceable, size, value, purged)
	}
}

// Look implements Far.
func (f *countedFar) Look(ctx context.Context, key string, lease time.Duration) entry.Found {
	f.looks++
	if f.silent {
		return entry.Found{}
	}
	return f.Far.Look(ctx, key, lease)
}

// confirmed is an instance with a fresh response of /x that was requested at noon, and what it shares with another one.
type confirmed struct {
	one, two *Store
	far      *countedFar
}

// uses are the ways of a request to a fresh response. They return the body that is served, so many milliseconds after noon.
func (c *confirmed) uses(t *testing.T) map[string]func(ms int) string {
	t.Helper()
	return map[string]func(ms int) string{
		"Find": func(ms int) string {
			request := selector("X-A: 1")
			if o := c.two.Find(t.Context(), "/x", request, &usualRules, noon.Add(time.Duration(ms)*time.Millisecond)).Select(request, false); o != nil {
				return string(o.Body)
			}
			return ""
		},
		"Ready": func(ms int) string {
			yes := func(*Object) (yes, known bool) { return true, true }
			if o := c.two.Ready("/x", &usualRules, noon.Add(time.Duration(ms)*time.Millisecond), yes); o != nil {
				return string(o.Body)
			}
			return ""
		},
	}
}

// TestServedResponsesAreConfirmed: behind the response, Redis is looked into, once in confirm.Every.
func TestServedResponsesAreConfirmed(t *testing.T) {
	for name, row := range map[string]struct {
		happens func(c *confirmed)
		then    string // is served 1 ms after the confirmation
		looks   int    // of each
		shared  string // what Redis has then
	}{
		"nothing":             {func(*confirmed) {}, "old", 1, "old"},
		"a newer one":         {func(c *confirmed) { c.one.Put("/x", object(3, "new")) }, "new", 1, "new"},
		"Redis lost it":       {func(c *confirmed) { clear(c.far.Far) }, "old", 1, "old"},
		"an older one":        {func(c *confirmed) { clear(c.far.Far); c.one.share("/x", object(-9, "older")) }, "old", 1, "old"},
		"a mark":              {func(c *confirmed) { c.one.Purge(Purge{Key: "/x", At: noon.Add(time.Second)}) }, "", 1, "\x02"},
		"no answer":           {func(c *confirmed) { c.far.silent = true }, "old", 1, "old"},
		"what cannot be read": {func(c *confirmed) { c.far.Far[c.two.farKey("/x")] = entry.Found{Value: []byte("??"), Created: noon} }, "old", 1, "??"},
		"many at once": {func(c *confirmed) {
			for range confirm.Most {
				c.two.confirmed.Begin()
			}
		}, "old", 0, "old"},
	} {
		for use := range (&confirmed{}).uses(t) {
			t.Run(name+", "+use, func(t *testing.T) {
				c := &confirmed{one: newTestStore(t, 1<<20), two: newTestStore(t, 1<<20), far: &countedFar{Far: webtest.Far{}}}
				c.one.Far, c.two.Far = c.far.Far, c.far
				c.two.Put("/x", object(0, "old"))
				row.happens(c)
				serve := c.uses(t)[use]
				for _, ms := range []int{100, 4999, 5000} {
					if got := serve(ms); got != "old" {
						t.Errorf("%q is served after %d ms", got, ms)
					}
				}
				looks := c.far.looks
				if got := serve(5001); looks != row.looks || got != row.then {
					t.Errorf("%q is served after %d looks, want %q after %d", got, looks, row.then, row.looks)
				}
				if got := string(c.far.Far[c.two.farKey("/x")].Value); !bytesEnd(got, row.shared) {
					t.Errorf("Redis has %q, want %q", got, row.shared)
				}
			})
		}
	}
}

func bytesEnd(value, body string) bool {
	return len(value) >= len(body) && value[len(value)-len(body):] == body
}

// TestAStaleResponseThatRedisLacksIsWrittenAgain: it is served if its origin fails, and another instance may have an older one.
func TestAStaleResponseThatRedisLacksIsWrittenAgain(t *testing.T) {
	for name, change := range map[string]func(c *confirmed){
		"nothing":      func(c *confirmed) { clear(c.far.Far) },
		"an older one": func(c *confirmed) { clear(c.far.Far); c.one.share("/x", object(-9, "older")) },
	} {
		t.Run(name, func(t *testing.T) {
			c := &confirmed{one: newTestStore(t, 1<<20), two: newTestStore(t, 1<<20), far: &countedFar{Far: webtest.Far{}}}
			c.one.Far, c.two.Far = c.far.Far, c.far
			c.two.Put("/x", object(0, "old"))
			change(c)
			ms := int(c.two.Get("/x")[0].Lifetime/time.Millisecond) + 1000
			if got := c.uses(t)["Find"](ms); got != "old" {
				t.Fatalf("%q is served", got)
			}
			if got := string(c.far.Far[c.two.farKey("/x")].Value); !bytesEnd(got, "old") {
				t.Errorf("Redis has %q", got)
			}
		})
	}
}

// TestOfWhatIsUnchangedOnlyTheVersionIsRead at each further confirmation: nothing is looked up until it changes. What Redis does not take is
// written again each time.
func TestOfWhatIsUnchangedOnlyTheVersionIsRead(t *testing.T) {
	c := &confirmed{one: newTestStore(t, 1<<20), two: newTestStore(t, 1<<20), far: &countedFar{Far: webtest.Far{}}}
	c.one.Far, c.two.Far = c.far.Far, c.far
	c.two.Put("/x", object(0, "old"))
	serve := c.uses(t)["Ready"]
	for i, row := range []struct {
		before func()
		looks  int
		served string
	}{
		{nil, 1, "old"}, {nil, 1, "old"}, {nil, 1, "old"},
		{func() { c.one.Put("/x", object(16, "new")) }, 2, "old"},
		{nil, 2, "new"}, {nil, 2, "new"},
		{func() { clear(c.far.Far); c.far.full = true }, 3, "new"},
		{nil, 4, "new"}, {func() { c.far.full = false }, 5, "new"},
		{nil, 6, "new"}, {nil, 6, "new"},
	} {
		if row.before != nil {
			row.before()
		}
		if got := serve(5000 * (i + 1)); got != row.served || c.far.looks != row.looks {
			t.Errorf("use %d: %q after %d looks, want %q after %d", i, got, c.far.looks, row.served, row.looks)
		}
	}
}

// TestConfirmationsThatCameToNothing are repeated after confirm.Again.
func TestConfirmationsThatCameToNothing(t *testing.T) {
	c := &confirmed{two: newTestStore(t, 1<<20), far: &countedFar{Far: webtest.Far{}, silent: true}}
	c.two.Far = c.far
	c.two.Put("/x", object(0, "old"))
	for i, ms := range []int{5000, 5999, 6000, 6999, 7000} {
		c.uses(t)["Ready"](ms)
		if want := 1 + i/2; c.far.looks != want {
			t.Errorf("%d looks after %d ms, want %d", c.far.looks, ms, want)
		}
	}
}

// TestWhatNeedsNoConfirmation: what is too large for Redis.
func TestWhatNeedsNoConfirmation(t *testing.T) {
	c := &confirmed{two: newTestStore(t, 64<<20), far: &countedFar{Far: webtest.Far{}}}
	c.two.Far = c.far
	large := object(0, "")
	large.Body = make([]byte, mostFar+1)
	c.two.Put("/x", large)
	if c.uses(t)["Ready"](9000); c.far.looks != 0 {
		t.Errorf("%d looks for what Redis never has", c.far.looks)
	}
}

// TestAConfirmationCountsForTheResponseItWasOf: one that the instance requests afterwards is written to Redis at the next confirmation, if
// Redis did not take it.
func TestAConfirmationCountsForTheResponseItWasOf(t *testing.T) {
	c := &confirmed{one: newTestStore(t, 1<<20), two: newTestStore(t, 1<<20), far: &countedFar{Far: webtest.Far{}}}
	c.one.Far, c.two.Far = c.far.Far, c.far
	c.two.Put("/x", object(0, "old"))
	serve := c.uses(t)["Ready"]
	serve(5000)
	c.far.full = true
	c.two.Put("/x", object(6, "new"))
	c.far.full = false
	if got := serve(10_999); got != "new" || !bytesEnd(string(c.far.Far[c.two.farKey("/x")].Value), "old") {
		t.Errorf("%q is served, or was confirmed too early", got)
	}
	if serve(11_000); !bytesEnd(string(c.far.Far[c.two.farKey("/x")].Value), "new") {
		t.Error("it is not written")
	}
}

// TestAVariantIsConfirmed by its own value, where that of the URI is of another variant.
func TestAVariantIsConfirmed(t *testing.T) {
	one, two, far := newTestStore(t, 1<<20), newTestStore(t, 1<<20), webtest.Far{}
	one.Far, two.Far = far, far
	two.Put("/x", variant(0, "fr"))
	one.Put("/x", variant(2, "fr"))
	one.Put("/x", variant(3, "en"))
	find := func(seconds int) time.Time {
		request := selector("X-A: fr")
		return two.Find(t.Context(), "/x", request, &usualRules, noon.Add(time.Duration(seconds)*time.Second)).Select(request, false).Requested
	}
	if first, then := find(6), find(7); !first.Equal(noon) || !then.Equal(noon.Add(2*time.Second)) {
		t.Errorf("%v, then %v", first, then)
	}
}
