package advise

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache"
	"sundry/cache/durable"
	"sundry/cache/policy"
)

// hourly is a rule in force.
func hourly(ttl time.Duration) []InForce {
	return []InForce{{Space: "ip", Policy: &policy.Policy{TTL: ttl, Jitter: policy.DefaultJitter}, Target: Default(), Version: "1"}}
}

// watched is an observer of a key whose content changes every five hours, refreshed each
// hour and asked for each minute, for some days.
func watched(days int) (o *Observer, now time.Time) {
	o = NewObserver()
	o.Rules(hourly(time.Hour), epoch)
	for minute := range days * 24 * 60 {
		now = epoch.Add(time.Duration(minute) * time.Minute)
		o.Requested("ip", 7, 1, now)
		if minute%60 == 0 {
			f := cache.Filled{Space: "ip", Key: 7, Source: "a", At: now, BeforeSource: "a", Changed: minute/60%5 == 0}
			if minute > 0 {
				f.Before = now.Add(-time.Hour)
			}
			o.Filled(f)
		}
	}
	return o, now
}

// TestReports: what was seen under the rule in force, what was predicted of it, and advice,
// also on a TTL that is asked for; what comes of a failure, of another source or beside an
// endpoint counts for nothing.
func TestReports(t *testing.T) {
	o, now := watched(10)
	for _, f := range []cache.Filled{
		{Space: "ip", Key: 7, Failed: errors.ErrUnsupported, At: now, Before: now.Add(-time.Hour)},
		{Space: "ip/pictures", Key: 7, Source: "a", At: now, BeforeSource: "a", Before: now.Add(-time.Hour), Changed: true},
	} {
		o.Filled(f)
	}
	r, ok := o.Report("ip", []time.Duration{17 * time.Minute}, Target{})
	if !ok || r.Seen == nil || r.Predicted != nil || r.Evidence.Refreshes != 239 || r.TTL == 0 || r.TTL >= time.Hour {
		t.Fatalf("%v %+v", ok, r)
	}
	if r.Seen.Older < 0.05 || r.Seen.Older > 0.2 {
		t.Errorf("%.3f old", r.Seen.Older)
	}
	o.Rules(hourly(17*time.Minute), now)
	again, _ := o.Report("ip", nil, Target{Calls: 2})
	if again.Predicted == nil || again.Predicted.TTL != 17*time.Minute || again.Since != now || again.Seen != nil || again.Target.Calls != 2 {
		t.Errorf("%+v", again)
	}
	if _, ok := o.Report("nope", nil, Target{}); ok {
		t.Error("a report on nothing")
	}
}

// TestOtherContentIsForgotten once its declaration changed, and spaces without a rule.
func TestOtherContentIsForgotten(t *testing.T) {
	o, now := watched(3)
	all := hourly(time.Hour)
	all[0].Version = "2"
	o.Rules(all, now)
	if r, _ := o.Report("ip", nil, Target{}); r.Evidence.Requests != 0 {
		t.Errorf("%+v", r.Evidence)
	}
	o.Rules(nil, now)
	if _, ok := o.Report("ip", nil, Target{}); ok {
		t.Error("a report without a rule")
	}
}

// TestAnotherSourceTellsNothing of a change.
func TestAnotherSourceTellsNothing(t *testing.T) {
	o := NewObserver()
	o.Rules(hourly(time.Hour), epoch)
	o.Requested("ip", 1, 1, epoch)
	o.Filled(cache.Filled{Space: "ip", Key: 1, Source: "b", At: epoch, Before: epoch.Add(-time.Hour), BeforeSource: "a", Changed: true})
	if r, _ := o.Report("ip", nil, Target{}); r.Evidence.Changes != 0 || r.Evidence.Refreshes != 0 {
		t.Errorf("%+v", r.Evidence)
	}
	if e := o.spaces["ip"].seen.events[1]; e.outcome() != First || e.n == 0 {
		t.Errorf("%+v: a copy that was replaced was not gone", e)
	}
}

// TestStateSurvivesARestart, but not what another process has seen of other content, what is
// damaged, nor a file that is something else.
func TestStateSurvivesARestart(t *testing.T) {
	o, now := watched(10)
	file := filepath.Join(t.TempDir(), "advice")
	if err := o.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	again := NewObserver()
	again.Rules(hourly(time.Hour), now)
	again.Requested("ip", 7, 1, now)
	if err := again.ReadFile(file, now); err != nil {
		t.Fatal(err)
	}
	want, _ := o.Report("ip", nil, Target{})
	got, _ := again.Report("ip", nil, Target{})
	want.Evidence.Requests++
	if !reflect.DeepEqual(got.Evidence, want.Evidence) || got.Since != want.Since || got.TTL != want.TTL {
		t.Errorf("%+v, want %+v", got.Evidence, want.Evidence)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"cut off": written[:len(written)/2], "short": written[:len(stateKind)], "a bit": append(bytes.Clone(written[:len(written)-1]), written[len(written)-1]^1)} {
		write(t, file, b)
		if err := NewObserver().ReadFile(file, now); !errors.Is(err, errDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if err := o.WriteFile(file); err != nil {
			t.Errorf("%s is not written anew: %v", name, err)
		}
	}
	write(t, file, []byte("sundry advice 0\nof an earlier version"))
	if err := o.WriteFile(file); err != nil {
		t.Error(err)
	}
	write(t, file, []byte("sundry advice 2\nof a later version"))
	if err := o.WriteFile(file); !errors.Is(err, ErrForeign) {
		t.Errorf("of a later version: %v", err)
	}
	write(t, file, []byte("something else"))
	if err := o.WriteFile(file); !errors.Is(err, ErrForeign) {
		t.Errorf("%v", err)
	}
	if err := o.ReadFile(file, now); !errors.Is(err, ErrForeign) {
		t.Errorf("%v", err)
	}
	if err := o.ReadFile(file+".none", now); err != nil {
		t.Error(err)
	}
}

// TestFilesOfStrangersCostNoMemory, however large they are.
func TestFilesOfStrangersCostNoMemory(t *testing.T) {
	o, now := watched(10)
	file := filepath.Join(t.TempDir(), "advice")
	large := func(begin string, size int64) {
		write(t, file, []byte(begin))
		if err := os.Truncate(file, size); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, size := range []int64{maxState, 3 << 30} {
		large("something else", size)
		if err := errors.Join(o.WriteFile(file), o.ReadFile(file, now)); !errors.Is(err, ErrForeign) {
			t.Error(err)
		}
	}
	large(stateKind, 3<<30)
	if err := o.ReadFile(file, now); !errors.Is(err, durable.ErrTooLarge) {
		t.Error(err)
	}
	if err := o.WriteFile(file); err != nil {
		t.Error(err)
	}
	if err := o.ReadFile(file, now); err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}

func write(t *testing.T, file string, b []byte) {
	t.Helper()
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestMetrics: after an update, of endpoints of which a refresh was seen.
func TestMetrics(t *testing.T) {
	o, now := watched(10)
	if n := testutil.CollectAndCount(o.Collector()); n != 0 {
		t.Errorf("%d series before an update", n)
	}
	o.Update()
	if n := testutil.CollectAndCount(o.Collector()); n != 7 { // seen, low, high, target; seen; present, advised
		t.Errorf("%d series", n)
	}
	o.Rules(hourly(30*time.Minute), now)
	o.Requested("ip", 7, 1, now.Add(time.Hour))
	o.Filled(cache.Filled{Space: "ip", Key: 7, Source: "a", At: now.Add(time.Hour), Before: now, BeforeSource: "a"})
	o.Update()
	if n := testutil.CollectAndCount(o.Collector()); n != 9 {
		t.Errorf("%d series with what was predicted", n)
	}
}

// TestBusySpacesAreSampled: the weight follows the load.
func TestBusySpacesAreSampled(t *testing.T) {
	o := NewObserver()
	o.Rules(hourly(time.Hour), epoch)
	weight := uint32(1)
	for range 1000 {
		weight = o.Requested("ip", 7, weight, epoch)
	}
	if weight < 1<<10 {
		t.Errorf("weight %d for many in one second", weight)
	}
	if next := o.Requested("ip", 7, weight, epoch.Add(time.Minute)); next != 1 {
		t.Errorf("weight %d after a pause", next)
	}
}
