package cache

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sundry/cache/policy"
)

func TestFailureRecordsAreBounded(t *testing.T) {
	f := newFailures()
	p := usual()
	now := time.Now()
	for i := range maxFailures + 100 {
		f.add(fmt.Sprint(i), errDown, false, &p, now)
	}
	if n := f.lru.Len(); n != maxFailures {
		t.Errorf("%d records, want %d", n, maxFailures)
	}
}

// sharedError is a failure as it is restored from Redis.
type sharedError struct{ kind string }

func (e *sharedError) Error() string { return e.kind }

func TestFailureRecords(t *testing.T) {
	now := time.UnixMilli(1_790_000_000_000)
	c := newCache(t, Config{})
	p := usual()
	ms := now.UnixMilli()
	for text, want := range map[string]time.Duration{
		"":      0,
		"hello": 0,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":1}`, ms+800):                                   800 * time.Millisecond,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":1}`, ms+60_800):                                p.Pause, // by a clock that is a minute ahead
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":3}`, ms+60_800):                                4 * p.Pause,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":9,"more":1}`, ms+2500):                         2500 * time.Millisecond,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":1}`, ms):                                       0,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":9}`, ms+1_000_000_000):                         p.PauseMax,
		`{"text":"timeout","until":9223372036854775807,"times":9}`:                                       p.PauseMax,
		`{"text":"timeout","until":-9223372036854775808,"times":1}`:                                      0,
		fmt.Sprintf(`{"text":"","until":%d,"times":1}`, ms+2500):                                         0,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":0}`, ms+2500):                                  0,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":1000000}`, ms+2500):                            0,
		fmt.Sprintf(`{"text":%q,"until":%d,"times":1}`, strings.Repeat("x", 300), ms+9):                  0,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":1}`, ms+2500) + strings.Repeat(" ", maxRecord): 0,
	} {
		r, ok := c.readRecord([]byte(text), &p, now)
		if ok != (want > 0) || ok && r.until.Sub(now) != want {
			t.Errorf("%.80s: %v until %v, want %v", text, ok, r.until.Sub(now), want)
		}
	}
}

func TestRecordIsBounded(t *testing.T) {
	c := newCache(t, Config{})
	now := time.UnixMilli(1_790_000_000_000)
	p := usual()
	record := c.record(failure{err: errors.New(strings.Repeat("错", 10_000)), until: now.Add(time.Second), streak: 1 << 40, hadCopy: true})
	r, ok := c.readRecord(record, &p, now)
	if !ok || len(record) > maxRecord || !r.hadCopy || r.until.Sub(now) != time.Second || r.streak != maxStreak {
		t.Errorf("%d bytes, %+v", len(record), r)
	}
	silent := newCache(t, Config{Describe: func(error) string { return "" }})
	if silent.record(failure{err: errDown}) != nil {
		t.Error("a failure that is not to be shared is")
	}
}

func TestPausesStayWithinTheirBound(t *testing.T) {
	f, now := newFailures(), time.Now()
	p := policy.Policy{Pause: 3 * time.Hour, PauseMax: 24 * time.Hour}
	for i := range 100 {
		f.add("k", errDown, false, &p, now)
		if wait, err := f.paused("k", false, now); err == nil || wait < 2*time.Hour || wait > p.PauseMax {
			t.Fatalf("after %d: %v, %v", i, wait, err)
		}
	}
}
