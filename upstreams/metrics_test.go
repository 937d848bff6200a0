package upstreams

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/upstreams/host"
)

func TestLastAnswerIsOfAnswersOnly(t *testing.T) {
	m, err := NewMetrics(prometheus.NewRegistry(), &host.Hosts{})
	if err != nil {
		t.Fatal(err)
	}
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
