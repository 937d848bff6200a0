package whatif_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/cache"
	"sundry/cache/whatif"
)

// exact is a rule without jitter and eager refreshes.
func exact(ttl, grace, staleIfError time.Duration) cache.Policy {
	p := rule(ttl, grace)
	p.StaleIfError, p.Jitter, p.Eager = staleIfError, 0, 0
	return p
}

// TestOneKey tells what becomes of a few requests for one key.
func TestOneKey(t *testing.T) {
	negative := exact(time.Minute, 0, 0)
	negative.Negative = 10 * time.Second
	for _, test := range []struct {
		name                   string
		rule                   cache.Policy
		latency                time.Duration
		negative               bool
		at                     []time.Duration
		calls, hits, fallbacks uint64
		meanAge                time.Duration
	}{
		{"a miss, then hits", exact(time.Minute, 0, 0), time.Second, false, secondsOf(0, 10, 20), 1, 2, 0, 31 * time.Second / 3},
		{"callers wait for the same fill", exact(time.Minute, 0, 0), 3 * time.Second, false, secondsOf(0, 1, 2), 1, 0, 0, 3 * time.Second},
		{"an expired entry is filled anew", exact(time.Minute, 0, 0), time.Second, false, secondsOf(0, 61), 2, 0, 0, time.Second},
		{"within grace nobody waits, and one refresh runs", exact(time.Minute, time.Minute, 0), 5 * time.Second, false, secondsOf(0, 70, 72, 80), 2, 3, 0, (5 + 70 + 72 + 10) * time.Second / 4},
		{"a slow refresh of a stale entry falls back", exact(time.Minute, 0, time.Hour), time.Second, false, secondsOf(0, 70), 2, 0, 1, (1 + 70.3) * 1000 / 2 * time.Millisecond},
		{"a fast refresh of a stale entry is waited for", exact(time.Minute, 0, time.Hour), 100 * time.Millisecond, false, secondsOf(0, 70), 2, 0, 0, 100 * time.Millisecond},
		{"negative answers are kept for less", negative, time.Second, true, secondsOf(0, 5, 11), 2, 1, 0, 7 * time.Second / 3},
		{"negative answers that are not kept", exact(time.Minute, 0, 0), time.Second, true, secondsOf(0, 5, 11), 3, 0, 0, time.Second},
		{"nothing is stored", cache.Policy{}, time.Second, false, secondsOf(0, 5), 2, 0, 0, time.Second},
		{"a fill that ends after its freshness refreshes at once", exact(2*time.Second, time.Minute, 0), 3 * time.Second, false, secondsOf(0, 7), 3, 1, 0, 3500 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := whatif.New(whatif.Config{Rules: []cache.Policy{test.rule}, Latency: test.latency})
			for _, at := range test.at {
				if err := r.Add(whatif.Request{At: midnight.Add(at), Key: 1, Negative: test.negative}); err != nil {
					t.Fatal(err)
				}
			}
			o := r.Outcomes()[0]
			if o.Calls != test.calls || o.Hits != test.hits || o.Fallbacks != test.fallbacks || o.MeanAge != test.meanAge || o.Requests != uint64(len(test.at)) || o.OlderKnown {
				t.Errorf("%+v", o)
			}
		})
	}
}

func secondsOf(all ...int) (out []time.Duration) {
	for _, s := range all {
		out = append(out, time.Duration(s)*time.Second)
	}
	return out
}

func TestWeightsAndTheWarmUp(t *testing.T) {
	r := whatif.New(whatif.Config{Rules: []cache.Policy{exact(time.Minute, 0, 0)}, Latency: time.Second, From: midnight.Add(10 * time.Second)})
	for _, req := range []whatif.Request{{At: midnight}, {At: midnight.Add(20 * time.Second), Weight: 9}, {At: midnight.Add(15 * time.Second)}, {At: midnight.Add(3620 * time.Second)}} {
		if err := r.Add(req); err != nil {
			t.Fatal(err)
		}
	}
	if o := r.Outcomes()[0]; o.Requests != 11 || o.Hits != 10 || o.Calls != 1 || o.CallsPerHour != 1 || r.Span() != time.Hour || r.Requests() != 11 || r.Keys() != 1 {
		t.Errorf("%+v in %v", o, r.Span())
	}
}

// TestSourcesLimitTheTTL: the policy knows of sources whose answers are fresh for less.
func TestSourcesLimitTheTTL(t *testing.T) {
	p := exact(time.Hour, 0, 0)
	p.Limits = map[string]time.Duration{"hasty": time.Minute}
	r := whatif.New(whatif.Config{Rules: []cache.Policy{p}, Latency: time.Second})
	for key, source := range []string{"hasty", "other"} {
		for i := range 10 {
			if err := r.Add(whatif.Request{At: midnight.Add(time.Duration(i) * 2 * time.Minute), Key: uint64(key), Source: source}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if o := r.Outcomes()[0]; o.Calls != 11 {
		t.Errorf("%d calls, expected one for each request of the limited source and one for the other", o.Calls)
	}
}

func TestKeysAreBounded(t *testing.T) {
	r := whatif.New(whatif.Config{Rules: []cache.Policy{exact(time.Minute, 0, 0)}, Memory: whatif.NewMemory(1 << 20)})
	for key := range uint64(1 << 20) {
		if err := r.Add(whatif.Request{At: midnight, Key: key}); err != nil {
			if !errors.Is(err, whatif.ErrMemory) || key < 1000 || key > 1<<15 {
				t.Errorf("key %d: %v", key, err)
			}
			return
		}
	}
	t.Error("no bound")
}

func TestEmptyTrace(t *testing.T) {
	o := whatif.New(whatif.Config{Rules: []cache.Policy{exact(time.Minute, 0, 0)}, Changes: whatif.Random(time.Hour)}).Outcomes()[0]
	if o.HitRatio() != 0 || o.Older != 0 || o.MeanAge != 0 || o.P99Age != 0 || math.IsNaN(o.CallsPerHour) {
		t.Errorf("%+v", o)
	}
}

func TestP99Age(t *testing.T) {
	r := whatif.New(whatif.Config{Rules: []cache.Policy{exact(10*time.Hour, 0, 0)}, Latency: time.Second})
	for i := range 1000 {
		if err := r.Add(whatif.Request{At: midnight.Add(time.Duration(i) * 10 * time.Second)}); err != nil {
			t.Fatal(err)
		}
	}
	if o := r.Outcomes()[0]; o.P99Age < 9890*time.Second || o.P99Age > 9890*1031/1000*time.Second {
		t.Errorf("%v, expected 9890 s to 3 %% more", o.P99Age)
	}
}

func TestParseChanges(t *testing.T) {
	for text, want := range map[string]string{
		"unknown": "unknown", "30m": "at random, every 30m in the mean", "every 30m": "every 30m", "daily@06:00": "at its publications",
		"daily@06:00 18:00 Asia/Shanghai": "at its publications",
	} {
		c, err := whatif.ParseChanges(text, time.ParseDuration)
		if err != nil || c.String() != want || c.Known() != (text != "unknown") {
			t.Errorf("%s: %q %v", text, c.String(), err)
		}
	}
	for _, text := range []string{"", "0s", "-5m", "daily", "daily@25:00", "daily@", "every", "every day", "30m 40m", "daily@06:00 Nowhere/City"} {
		if c, err := whatif.ParseChanges(text, time.ParseDuration); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v %v", text, c, err)
		}
	}
}

func TestLadder(t *testing.T) {
	for _, test := range []struct {
		around time.Duration
		want   string
	}{
		{6 * time.Hour, "30m 1h 2h 3h 12h 24h 2d"}, {7 * time.Hour, "1h 2h 3h 6h 12h 24h 2d"}, {time.Second, "2s 5s 10s"},
		{365 * 24 * time.Hour, "30d 60d 90d 180d"}, {400 * 24 * time.Hour, "60d 90d 180d 365d"},
	} {
		var got []string
		ladder := whatif.Ladder(test.around, 4, 3)
		for _, d := range ladder {
			got = append(got, whatif.Duration(d))
		}
		if strings.Join(got, " ") != test.want || !slices.IsSorted(ladder) {
			t.Errorf("%v: %v, expected %s", test.around, got, test.want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 1500 * time.Millisecond: "1.5s", 90 * time.Second: "1m30s", time.Hour: "1h", 90 * time.Minute: "1h30m", 10 * time.Minute: "10m",
		24 * time.Hour: "24h", 48 * time.Hour: "2d", 49 * time.Hour: "49h", 30 * 24 * time.Hour: "30d", time.Hour + time.Second: "1h0m1s",
	} {
		if got := whatif.Duration(d); got != want {
			t.Errorf("%d: %s, expected %s", d, got, want)
		}
	}
}

// BenchmarkSimulation is a day of ten million requests under eight rules, by the
// request.
func BenchmarkSimulation(b *testing.B) {
	var rules []cache.Policy
	for _, ttl := range append(whatif.Ladder(time.Hour, 4, 3), time.Hour) {
		rules = append(rules, rule(ttl, time.Hour))
	}
	trace := traceOf(3, 100_000, 1_000_000)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		r := whatif.New(whatif.Config{Rules: rules, Changes: whatif.Random(3 * time.Hour), Latency: 200 * time.Millisecond})
		b.StartTimer()
		for _, a := range trace {
			if err := r.Add(whatif.Request{At: midnight.Add(a.at), Key: a.key}); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(trace)), "ns/request")
}
