package advisor

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"sundry/cache"
)

// zipf are the rates of keys of which the i-th is requested 1/i^power as often as the
// first, per second, all together.
func zipf(keys int, power, all float64) []float64 {
	rates, sum := make([]float64, keys), 0.0
	for i := range rates {
		rates[i] = math.Pow(float64(i+1), -power)
		sum += rates[i]
	}
	for i := range rates {
		rates[i] *= all / sum
	}
	return rates
}

// TestTrafficIsKnownFromASample: of keys by the thousand, as a cache with the weights that
// are asked for reports them, the rules' outcomes come out as from the true rates.
func TestTrafficIsKnownFromASample(t *testing.T) {
	for _, row := range []struct {
		keys  int
		power float64
		all   float64 // requests per second
	}{{1, 1, 0.01}, {20, 0.5, 2}, {5000, 1, 1}, {5000, 0.7, 20}} {
		rates := zipf(row.keys, row.power, row.all)
		a, chance := New(Config{}), rand.New(rand.NewPCG(1, 9))
		sums := make([]float64, len(rates))
		for i, r := range rates {
			sums[i] = r + sums[max(0, i-1)]*min(1, float64(i))
		}
		weight, at, n := uint32(1), monday0(), 0
		for ; at.Before(monday0().Add(10 * time.Hour)); at = at.Add(time.Duration(chance.ExpFloat64() / row.all * 1e9)) {
			n++
			key := mix(pick(sums, chance.Float64()*row.all))
			if weight > 1 && chance.Uint32()&(weight-1) != 0 {
				continue
			}
			weight = a.Requested("s", key, weight, at)
		}
		loads := alike(a.spaces["s"].traffic.rates(at).loads())
		var truth []Load
		for _, r := range rates {
			truth = append(truth, Load{1, r})
		}
		t.Logf("%+v: %d requests, weight %d, %d loads of %.0f keys", row, n, weight, len(loads), keysOf(loads))
		if got := sumOf(loads) * 10 * 3600; math.Abs(got-float64(n)) > 0.05*float64(n) {
			t.Errorf("%+v: %.0f requests of %d", row, got, n)
		}
		for _, ttl := range []time.Duration{time.Minute, 10 * time.Minute, time.Hour} {
			policy := cache.Policy{TTL: ttl}
			got, want := (&Prediction{Loads: loads}).Of(&policy), (&Prediction{Loads: truth}).Of(&policy)
			if math.Abs(got.HitRatio-want.HitRatio) > 0.05 || math.Abs(got.CallsPerHour-want.CallsPerHour) > 0.12*want.CallsPerHour {
				t.Errorf("%+v, %v: %+v, want %+v", row, ttl, got, want)
			}
		}
	}
}

func pick(sums []float64, v float64) uint64 {
	low, high := 0, len(sums)-1
	for low < high {
		if mid := (low + high) / 2; sums[mid] < v {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return uint64(low) + 1
}

// mix makes hashes of numbers.
func mix(i uint64) uint64 {
	i = (i ^ i>>33) * 0xff51afd7ed558ccd
	i = (i ^ i>>33) * 0xc4ceb9fe1a85ec53
	return i ^ i>>33
}

func TestDistinct(t *testing.T) {
	for _, n := range []int{0, 1, 10, 500, 5000, 200_000} {
		var d distinct
		for range 2 {
			for i := range n {
				d.note(mix(uint64(i)))
			}
		}
		if got := d.estimate(); math.Abs(got-float64(n)) > 0.1*float64(n) {
			t.Errorf("%d: %.0f", n, got)
		}
	}
}

// TestAFloodIsSampled: of 100,000 requests a second, some dozens are looked at.
func TestAFloodIsSampled(t *testing.T) {
	a, weight, looked := New(Config{}), uint32(1), 0
	chance := rand.New(rand.NewPCG(1, 1))
	for i := range 1_000_000 {
		if weight > 1 && chance.Uint32()&(weight-1) != 0 {
			continue
		}
		looked++
		weight = a.Requested("s", 1, weight, monday0().Add(time.Duration(i)*10*time.Microsecond))
	}
	if got := a.spaces["s"].traffic.requests; looked > 3000 || got < 900_000 || got > 1_100_000 {
		t.Errorf("%d were looked at, which stand for %.0f", looked, got)
	}
	if weight = a.Requested("s", 1, weight, monday0().Add(time.Hour)); weight != 1 {
		t.Errorf("an hour later, the next one stands for %d", weight)
	}
}

// TestMemoryIsBounded: of spaces, sources, observations, keys.
func TestMemoryIsBounded(t *testing.T) {
	a := New(Config{})
	chance := rand.New(rand.NewPCG(1, 1))
	names := []string{"s", "t"}
	for i := range 40_000 {
		at := monday0().Add(time.Duration(i) * time.Minute)
		for n, name := range names {
			key := uint64(1) // of one space, all are of one key
			if n == 1 {
				key = chance.Uint64()
			}
			source := string(rune('a' + i%20))
			a.Filled(cache.Filled{Space: name, Key: key, Source: source, BeforeSource: source, At: at, Before: at.Add(-time.Minute), Changed: i%2 == 0})
			a.Requested(name, key, 1, at)
		}
	}
	for range 1000 {
		a.Requested(time.Duration(chance.Int64()).String(), 1, 1, monday0())
	}
	if len(a.spaces) != maxSpaces {
		t.Errorf("%d spaces", len(a.spaces))
	}
	for _, name := range names {
		s := a.spaces[name]
		if n := len(s.history.list); n > maxObservations || n < maxObservations/4 || cap(s.history.list) > 2*maxObservations || len(s.history.sources) > maxSources || len(s.traffic.top) > topKeys || len(s.traffic.index) > topKeys {
			t.Errorf("%s: %d observations (room for %d), %d sources, %d keys", name, n, cap(s.history.list), len(s.history.sources), len(s.traffic.top))
		}
	}
	if state := a.State(monday0().Add(40_000 * time.Minute)); len(state) > MaxState/20 {
		t.Errorf("the state has %d bytes", len(state))
	}
}

// TestWhatIsNoChange: a first fill, other words of another source, what is out of order.
func TestWhatIsNoChange(t *testing.T) {
	at := monday0()
	var h history
	for _, f := range []cache.Filled{
		{Key: 1, Source: "a", At: at, Changed: true},
		{Key: 1, Source: "b", BeforeSource: "a", Before: at, At: at.Add(time.Hour), Changed: true},
		{Key: 1, Source: "a", BeforeSource: "a", Before: at, At: at, Changed: true},
	} {
		if h.add(&f); len(h.list) > 0 {
			t.Errorf("%+v counts", f)
		}
	}
	for i := range 10 {
		from := at.Add(time.Duration(i) * time.Hour)
		h.add(&cache.Filled{Key: 1, Source: "a", BeforeSource: "a", Before: from, At: from.Add(time.Hour), Changed: i == 5})
	}
	if len(h.list) != 3 || h.list[0].looks != 5 || !h.list[1].changed || h.list[2].looks != 4 {
		t.Errorf("%+v", h.list)
	}
}
