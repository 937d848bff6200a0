package advise

import (
	"testing"
	"time"

	"sundry/cache/policy"
)

// TestTargetsAreRead, and written as they are read.
func TestTargetsAreRead(t *testing.T) {
	for text, want := range map[string]Target{
		"old=2%": {Old: 0.02}, "old=0.5%": {Old: 0.005}, "calls=100/h": {Calls: 100}, "calls=0.25/h": {Calls: 0.25},
	} {
		got, err := ParseTarget(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: %+v, %v, written as %s", text, got, err, got)
		}
	}
	for _, text := range []string{"", "2%", "old", "old=2", "old=0%", "old=-1%", "old=100%", "old=NaN%", "calls=100", "calls=5%", "calls=2%/h", "old=2/h", "calls=Inf/h", "ttl=5%"} {
		if got, err := ParseTarget(text); err == nil {
			t.Errorf("%q is taken for %+v", text, got)
		}
	}
}

// TestATargetOfCallsWantsRequestsOfAnHour, and no refreshes.
func TestATargetOfCallsWantsRequestsOfAnHour(t *testing.T) {
	policy, began := &policy.Policy{TTL: time.Hour}, time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for every, advised := range map[time.Duration]bool{time.Second: false, 10 * time.Minute: true} {
		var seen Seen
		for i := range 30 {
			seen.Request(1, began.Add(time.Duration(i)*every), 1, policy.TTL)
		}
		if a := seen.Past().Advise(policy, Ladder(policy.TTL), Target{Calls: 4}); a.TTL > 0 != advised {
			t.Errorf("a request every %v: advised %v, because %s", every, a.TTL, a.Reason.EN())
		}
	}
}
