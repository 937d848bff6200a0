package far

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/far/redistest"
	"sundry/cache/jitter"
	"sundry/upstreams/lib/waittest"
)

// commands is how many MGET the server has carried out since its last CONFIG RESETSTAT.
func commands(t *testing.T, server *redistest.Server) int {
	t.Helper()
	found := regexp.MustCompile(`cmdstat_mget:calls=(\d+)`).FindStringSubmatch(server.Must("INFO commandstats"))
	if found == nil {
		return 0
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestLooksShareRoundTrips: each gets what is its own, also when one of the callers
// has left.
func TestLooksShareRoundTrips(t *testing.T) {
	const callers = 60
	server, tier := started(t, patient)
	for i := range callers {
		server.Must(fmt.Sprintf("SET sundry:%d %s", i, sealed(fmt.Sprint(i), fmt.Sprintf("value-%d", i))))
		server.Must(fmt.Sprintf("SET sundry:failed:%d %s", i, failed(fmt.Sprint(i), fmt.Sprintf("failure-%d", i))))
	}
	server.Must("SET sundry:lease:7 t")
	tier.Look(t.Context(), "0", 0) // connects
	server.Must("CONFIG RESETSTAT")
	server.Must("CLIENT PAUSE 200 ALL")
	left, leave := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			ctx := t.Context()
			if i%10 == 0 {
				ctx = left
			}
			f := tier.Look(ctx, strconv.Itoa(i), 0)
			if i%10 == 0 && f.Value == nil {
				return
			}
			if string(f.Value) != fmt.Sprint("value-", i) || string(f.Failure) != fmt.Sprint("failure-", i) || f.Leased != (i == 7) {
				t.Errorf("%d: %+v", i, f)
			}
		})
	}
	_ = jitter.Pause(t.Context(), 50*time.Millisecond, 0)
	leave()
	all.Wait()
	if n := commands(t, server); n > callers/3 {
		t.Errorf("%d commands for %d looks", n, callers)
	}
	if tier.looks.flying != 0 || len(tier.looks.waiting) != 0 {
		t.Errorf("%d round trips, %d waiting", tier.looks.flying, len(tier.looks.waiting))
	}
}

// flight makes round trips of some time, without Redis.
type flight struct {
	looks
	takes time.Duration
	sent  atomic.Int64
}

func (f *flight) look() (took time.Duration) {
	l := &lookup{start: time.Now()}
	all := f.enter(l)
	if all == nil {
		all = f.wait(l)
	}
	if all != nil {
		f.sent.Add(1)
		time.Sleep(f.takes)
		f.landed(false)
		share(all, nil)
	}
	return time.Since(l.start)
}

func TestLookWaitsNoLongerThanItsPatience(t *testing.T) {
	for name, r := range map[string]struct {
		takes   time.Duration
		callers int
		sent    int64
		longest time.Duration
	}{
		"alone":                     {time.Hour, 1, 1, time.Hour},
		"as many as fly":            {time.Hour, maxFlying, maxFlying, time.Hour},
		"behind a short one":        {patience / 2, maxFlying + 5, maxFlying + 1, patience},
		"behind a long one":         {time.Hour, maxFlying + 5, maxFlying + 1, time.Hour + patience},
		"more than share one":       {time.Hour, maxFlying + maxShared, maxFlying + 1, time.Hour},
		"more than share, and more": {patience / 2, maxFlying + maxShared + 1, maxFlying + 2, patience},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &flight{takes: r.takes}
				var all sync.WaitGroup
				for range r.callers {
					all.Go(func() {
						if took := f.look(); took > r.longest {
							t.Errorf("a look took %v", took)
						}
					})
				}
				all.Wait()
				if f.sent.Load() != r.sent || f.flying != 0 || len(f.waiting) != 0 {
					t.Errorf("%d were sent; %d under way, %d waiting", f.sent.Load(), f.flying, len(f.waiting))
				}
			})
		})
	}
}

// While large values are read, also those that are too large, no look waits for the bytes of another.
func TestLooksAfterALargeReplyAreAlone(t *testing.T) {
	server, tier := started(t, patient)
	server.Must("SETRANGE sundry:huge 35000000 x")
	tier.set("large", bytes.Repeat([]byte("x"), largeReply+1), time.Minute)
	waittest.Until(t, "the write", empty(tier))
	for _, key := range []string{"large", "huge"} {
		tier.looks.aloneUntil = time.Time{}
		tier.Look(t.Context(), key, 0)
		server.Must("CONFIG RESETSTAT")
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { tier.Look(t.Context(), "small", 0) })
		}
		all.Wait()
		if n := commands(t, server); n != 20 {
			t.Errorf("%s: %d commands for 20 looks", key, n)
		}
	}
}

// Whatever becomes of the one that sends, the others do not wait for ever.
func TestPanicOfTheSenderIsAnErrorForTheOthers(t *testing.T) {
	tier := open(t, "redis://127.0.0.1:1/0")
	client := tier.client
	one, other := &lookup{start: time.Now(), turn: make(chan []*lookup, 1)}, &lookup{start: time.Now(), turn: make(chan []*lookup, 1)}
	tier.looks.flying++
	tier.client = nil // panics
	defer func() {
		if recover() == nil || <-other.turn != nil || !errors.Is(other.err, errNotSent) || tier.looks.flying != 0 {
			t.Errorf("%v, %d round trips", other.err, tier.looks.flying)
		}
		tier.client = client
	}()
	tier.send(t.Context(), []*lookup{one, other})
}
