package far

import (
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache/far/redistest"
)

// gauges are the tier's, as scraped.
func gauges(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		if g := f.GetMetric()[0].GetGauge(); g != nil {
			got[f.GetName()] = g.GetValue()
		} else if c := f.GetMetric()[0].GetCounter(); c != nil {
			got[f.GetName()] = c.GetValue()
		}
	}
	return got
}

func TestSizeIsReadAtScrapeAndOutlivesRedis(t *testing.T) {
	server := redistest.Start(t)
	if _, err := server.Do("CONFIG SET maxmemory 64mb"); err != nil {
		t.Fatal(err)
	}
	reg := prometheus.NewRegistry()
	tier, err := Open(Config{URL: server.URL(), Timeout: time.Second}, reg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Close(t.Context())
	if _, err := server.Do("SET other 1"); err != nil {
		t.Fatal(err)
	}
	got := gauges(t, reg)
	if got["sundry_far_keys"] != 1 || got["sundry_far_memory_bytes"] < 100_000 || got["sundry_far_memory_limit_bytes"] != 64<<20 {
		t.Errorf("%v", got)
	}
	if got["sundry_far_eviction_enabled"] != 0 || got["sundry_far_evictions_total"] != 0 {
		t.Errorf("without evictions: %v", got)
	}
	for _, command := range []string{"CONFIG SET maxmemory-policy allkeys-lru", "CONFIG SET maxmemory 1mb", "SET more 1"} {
		if _, err := server.Do(command); err != nil {
			t.Fatal(err)
		}
	}
	if got := gauges(t, reg); got["sundry_far_eviction_enabled"] != 1 || got["sundry_far_evictions_total"] < 1 {
		t.Errorf("with evictions: %v", got)
	}
	if _, err := server.Do("CONFIG SET maxmemory 64mb"); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Do("SET other 1"); err != nil {
		t.Fatal(err)
	}
	_ = gauges(t, reg)
	server.Stop()
	if after := gauges(t, reg); after["sundry_far_keys"] != 1 || after["sundry_far_memory_limit_bytes"] != 64<<20 {
		t.Errorf("without Redis: %v", after)
	}
}

func TestSizeBeforeRedisCame(t *testing.T) {
	reg := prometheus.NewRegistry()
	tier, err := Open(Config{URL: "redis://127.0.0.1:1"}, reg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Close(t.Context())
	got := gauges(t, reg)
	for _, name := range []string{"sundry_far_keys", "sundry_far_memory_bytes", "sundry_far_memory_limit_bytes"} {
		if v, ok := got[name]; !ok || v != 0 {
			t.Errorf("%s: %v %v", name, v, ok)
		}
	}
}

func TestField(t *testing.T) {
	const info = "# Memory\r\nused_memory:1234\r\nused_memory_human:1.2K\r\nmaxmemory:99\r\nmaxmemory_policy:noeviction\r\n"
	for name, want := range map[string]int64{"used_memory": 1234, "maxmemory": 99, "maxmemory_policy": 0, "absent": 0} {
		if got := field(info, name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}
