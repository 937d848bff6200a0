package upstreams

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"sundry/upstreams/host"
)

func TestLastAnswerIsOfAnswersOnly(t *testing.T) {
	m := NewMetrics(prometheus.NewRegistry(), &host.Hosts{}, &host.Quotas{})
	for _, c := range []struct {
		result string
		counts bool
	}{
		{"success", true}, {Negative.String(), true}, {Unavailable.String(), false}, {Timeout.String(), false},
		{Malformed.String(), false}, {Rejected.String(), false}, {Skipped.String(), false}, {Invalid.String(), false},
	} {
		s := m.source("e", c.result)
		if v := testutil.ToFloat64(s.answered); v != 0 {
			t.Fatalf("%s: %v before any attempt", c.result, v)
		}
		s.observe(c.result, time.Second)
		at := testutil.ToFloat64(s.answered)
		if now := float64(time.Now().Unix()); c.counts && (at < now-60 || at > now+60) || !c.counts && at != 0 {
			t.Errorf("%s: %v", c.result, at)
		}
	}
}

// TestSkippedSourcesHaveNoDuration: they are not called, and their zeros would
// make a slow source look fast.
func TestSkippedSourcesHaveNoDuration(t *testing.T) {
	m := NewMetrics(prometheus.NewRegistry(), &host.Hosts{}, &host.Quotas{})
	s := NewSource("e", SourceConfig{Declared: "s"}, &Environment{Metrics: m})
	_ = s.notAsked(&Error{Kind: Skipped}, nil)
	if n := histogramCount(t, m.duration.WithLabelValues("e", "s")); n != 0 {
		t.Errorf("%d durations of calls that were not made", n)
	}
	if n := testutil.ToFloat64(s.metrics.attempts.WithLabelValues(Skipped.String())); n != 1 {
		t.Errorf("%v skipped", n)
	}
	s.metrics.observe(Throttled.String(), time.Microsecond)
	if n := histogramCount(t, m.duration.WithLabelValues("e", "s")); n != 0 {
		t.Errorf("%d durations after a throttled attempt", n)
	}
	s.metrics.observe("success", time.Second)
	if n := histogramCount(t, m.duration.WithLabelValues("e", "s")); n != 1 {
		t.Errorf("%d durations after one call", n)
	}
}

func histogramCount(t *testing.T, o prometheus.Observer) uint64 {
	t.Helper()
	var out dto.Metric
	if err := o.(prometheus.Metric).Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.GetHistogram().GetSampleCount()
}

// TestResultsAtZero: a series of each source, so only what its alerts are about.
func TestResultsAtZero(t *testing.T) {
	m := NewMetrics(nil, &host.Hosts{}, &host.Quotas{})
	m.source("e", "s")
	if n := testutil.CollectAndCount(m.attempts); n != 7 {
		t.Errorf("%d results", n)
	}
	for _, k := range []ErrorKind{Invalid, Forbidden, Throttled, Skipped, Negative, Busy} {
		m.attempts.WithLabelValues("e", "s", k.String())
	}
	if n := testutil.CollectAndCount(m.attempts); n != 7+6 {
		t.Errorf("one of them existed at zero: %d results", n)
	}
}
