package far

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache/far/redistest"
)

// TestLookReadsEachReplyForItself: what is missing, or no string, hides nothing
// else.
func TestLookReadsEachReplyForItself(t *testing.T) {
	type seen struct {
		value, failure string
		leased         bool
	}
	cases := map[string]struct {
		put  []string
		want seen
	}{
		"nothing":                {nil, seen{}},
		"a value":                {[]string{"SET sundry:k v"}, seen{value: "v"}},
		"a failure":              {[]string{"SET sundry:failed:k f"}, seen{failure: "f"}},
		"a lease":                {[]string{"SET sundry:lease:k t"}, seen{leased: true}},
		"all":                    {[]string{"SET sundry:k v", "SET sundry:failed:k f", "SET sundry:lease:k t"}, seen{"v", "f", true}},
		"a list for a value":     {[]string{"LPUSH sundry:k v", "SET sundry:failed:k f", "SET sundry:lease:k t"}, seen{"", "f", true}},
		"a list for a failure":   {[]string{"SET sundry:k v", "LPUSH sundry:failed:k f", "SET sundry:lease:k t"}, seen{"v", "", true}},
		"a list for the lease":   {[]string{"SET sundry:k v", "LPUSH sundry:lease:k t"}, seen{"v", "", true}},
		"lists alone":            {[]string{"LPUSH sundry:k v", "LPUSH sundry:failed:k f"}, seen{}},
		"an empty value is none": {[]string{`SET sundry:k ""`}, seen{}},
	}
	server := redistest.Start(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server.Must("FLUSHALL")
			for _, command := range c.put {
				server.Must(command)
			}
			tier := open(t, server.URL(), func(c *Config) { c.Timeout = time.Second })
			for range 10 {
				value, failure, leased := tier.Look(t.Context(), "k")
				if got := (seen{string(value), string(failure), leased}); got != c.want {
					t.Fatalf("%+v, want %+v", got, c.want)
				}
			}
			if tier.reads.shut() {
				t.Error("the tier takes it for a failure")
			}
			result := "miss"
			if c.want.value != "" {
				result = "hit"
			}
			if n := testutil.ToFloat64(tier.seen.reads.WithLabelValues(result)); n != 10 {
				t.Errorf("%v of ten counted as %s", n, result)
			}
		})
	}
}
