package far

import (
	"testing"
	"time"
)

// strange are commands that leave under a key what no instance puts there.
func strange(key string) map[string]string {
	return map[string]string{
		"a text":          "SET " + key + " text",
		"another list":    "RPUSH " + key + " text nan inf -inf 0x10 1e999 -5 99999999999999999999 text text text text",
		"a hash":          "HSET " + key + " a b",
		"a set":           "SADD " + key + " a",
		"another ranking": "ZADD " + key + " inf a -inf b 1 c",
		"a stream":        "XADD " + key + " * a b",
	}
}

// TestAStrangeQuotaCountsNoCalls, and does not keep others from writing.
func TestAStrangeQuotaCountsNoCalls(t *testing.T) {
	server, tier := started(t, patient)
	for name, command := range strange("sundry:quota:q") {
		server.Must("FLUSHALL")
		server.Must(command)
		for n := range 4 {
			wait, made, err := tier.TakeQuota(t.Context(), "q", []bound{{3, time.Hour}})
			if want := min(n+1, 3); err != nil || (wait > 0) != (n == 3) || made != want {
				t.Errorf("%s: call %d: wait %v, %d made, %v", name, n, wait, made, err)
			}
		}
		if tier.writes.blocked() {
			t.Errorf("%s: nothing is written any more", name)
		}
	}
}

// TestAStrangeLeaseIsNotRenewed, and does not keep others from writing.
func TestAStrangeLeaseIsNotRenewed(t *testing.T) {
	server, tier := started(t, patient)
	for name, command := range strange("sundry:lease:k") {
		server.Must("FLUSHALL")
		server.Must(command)
		r := &renewal{tier: tier, key: "k", token: "token", until: time.Now().Add(time.Minute), timer: time.NewTimer(time.Hour)}
		r.stop()
		for range 2 * refusalsBeforePause {
			r.renew()
		}
		if tier.writes.blocked() {
			t.Errorf("%s: nothing is written any more", name)
		}
		if held, release := tier.Lease(t.Context(), "k", time.Minute); !held {
			t.Errorf("%s: it keeps everybody waiting", name)
		} else {
			release()
		}
	}
}
