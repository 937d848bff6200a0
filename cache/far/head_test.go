package far

import (
	"bytes"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/upstreams/lib/waittest"
)

// TestHeads covers what unseal accepts and refuses.
func TestHeads(t *testing.T) {
	at := time.UnixMilli(1_764_331_200_000)
	sound := string(seal("k", false, at, []byte("payload")))
	if want := "=01764331200000.7d8e9bf8f6f5d59cpayload"; sound != want {
		t.Errorf("%s, want %s: what instances of this version have written could not be read", sound, want)
	}
	again := "=01764331100000<" + sound[1:]
	for stored, want := range map[string]time.Time{
		sound: at,
		again: at.Add(-100 * time.Second),
		string(seal("k", true, at, []byte("payload"))): at,
	} {
		if payload, created, ok := unseal("k", []byte(stored)); !ok || string(payload) != "payload" || !created.Equal(want) {
			t.Errorf("%s: %q %v %v", stored, payload, created, ok)
		}
	}
	for name, stored := range map[string]string{
		"nothing":              "",
		"no payload":           string(seal("k", false, at, nil)),
		"of another key":       string(seal("K", false, at, []byte("payload"))),
		"without a checksum":   "=01764331200000payload",
		"of upper case":        "=01764331200000.7D8E9BF8F6F5D59Cpayload",
		"a record":             string(sealRecord("k", []byte("payload"))),
		"dated later":          "=01764331300000<" + sound[1:],
		"dated as it was":      "=01764331200000<" + sound[1:],
		"of two times at once": "=01764331000000<" + again[1:],
		"replaceable now":      "~01764331100000<" + sound[1:],
	} {
		if payload, _, ok := unseal("k", []byte(stored)); ok || payload != nil {
			t.Errorf("%s: %s is believed", name, stored)
		}
	}
	for at := range len(sound) {
		for bit := range 8 {
			damaged := []byte(sound)
			damaged[at] ^= 1 << bit
			if _, _, ok := unseal("k", damaged); ok {
				t.Errorf("%s is believed", damaged)
			}
		}
		if _, _, ok := unseal("k", []byte(sound[:at])); ok {
			t.Errorf("%s is believed", sound[:at])
		}
	}
}

// TestDamageIsAMissAndCounted, of a value and of the record of a failed fill.
func TestDamageIsAMissAndCounted(t *testing.T) {
	server := miniredis.RunT(t)
	tier := open(t, "redis://"+server.Addr(), patient)
	tier.set("k", []byte("value"), time.Minute)
	tier.set("other", []byte("value"), time.Minute)
	tier.Fail("f", []byte("record"), time.Minute)
	waittest.Until(t, "the writes", empty(tier))
	if f := tier.Look(t.Context(), "k", 0); string(f.Value) != "value" || f.Broken {
		t.Fatalf("%+v", f)
	}
	if f := tier.Look(t.Context(), "f", 0); string(f.Failure) != "record" || f.Broken {
		t.Fatalf("%+v", f)
	}
	broken := 0
	for name, key := range map[string]string{"sundry:k": "k", "sundry:failed:f": "f"} {
		stored, err := server.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		for at := range len(stored) {
			damaged := bytes.Clone([]byte(stored))
			damaged[at] ^= 0x20
			_ = server.Set(name, string(damaged))
			broken++
			if f := tier.Look(t.Context(), key, 0); f.Value != nil || f.Failure != nil || !f.Broken || !f.Answered {
				t.Errorf("%q: %+v", damaged, f)
			}
		}
	}
	other, _ := server.Get("sundry:other")
	_ = server.Set("sundry:k", other)
	broken++
	if f := tier.Look(t.Context(), "k", 0); f.Value != nil || !f.Broken {
		t.Errorf("of another key: %+v", f)
	}
	if n := testutil.ToFloat64(tier.metrics.reads.WithLabelValues("broken")); n != float64(broken) {
		t.Errorf("%v of %d counted", n, broken)
	}
	if tier.reads.blocked() {
		t.Error("it counts as a failure of Redis")
	}
}

// TestWhatRedisDatesAnewCanBeRead: an entry from the future, by a clock that is ahead.
func TestWhatRedisDatesAnewCanBeRead(t *testing.T) {
	server := miniredis.RunT(t)
	tier := open(t, "redis://"+server.Addr(), patient)
	tier.Set("k", time.Now().Add(time.Hour), false, 5, ready([]byte("value"), time.Minute))
	waittest.Until(t, "the write", empty(tier))
	if f := tier.Look(t.Context(), "k", 0); string(f.Value) != "value" || f.Created.After(time.Now().Add(time.Second)) {
		t.Errorf("%+v", f)
	}
}

// FuzzHead requires that nothing but what was sealed is believed.
func FuzzHead(f *testing.F) {
	at := time.UnixMilli(1_764_331_200_000)
	sound := seal("k", false, at, []byte("payload"))
	f.Add("k", sound)
	f.Add("K", sound)
	f.Add("k", append([]byte("=01764331100000<"), sound[1:]...))
	f.Add("", sealRecord("", []byte("record")))
	f.Add("k", []byte("=01764331200000."))
	f.Fuzz(func(t *testing.T, key string, stored []byte) {
		payload, created, ok := unseal(key, stored)
		if ok && stored[dateSize] == marked {
			stored = append(stored[:dateSize:dateSize], stored[2*dateSize:]...)
		}
		if ok && !bytes.Equal(seal(key, stored[0] == replaceable, created, payload), stored) && stored[dateSize] != redated {
			t.Errorf("%q is believed", stored)
		}
		if record, ok := unsealRecord(key, stored); ok && !bytes.Equal(sealRecord(key, record), stored) {
			t.Errorf("%q is believed", stored)
		}
	})
}
