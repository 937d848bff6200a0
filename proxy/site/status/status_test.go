package status

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// counts are requests that worked, got a stale answer, and failed.
func counts(works, stale, failing uint64) Bucket {
	return Bucket{Known: true, Counts: Counts{Requests: works + stale + failing, Works: works, Stale: stale, Failing: failing}}
}

// refused are requests that say nothing about the endpoint.
func refused() Bucket {
	return Bucket{Known: true, Counts: Counts{Requests: 9}}
}

// lineOf is a history that ends with these minutes and half hours.
func lineOf(minutes, halfHours []Bucket) Line {
	l := Line{Hour: make([]Bucket, Minutes), Day: make([]Bucket, HalfHours)}
	copy(l.Hour[Minutes-len(minutes):], minutes)
	copy(l.Day[HalfHours-len(halfHours):], halfHours)
	return l
}

func TestStateNow(t *testing.T) {
	type list = []Bucket
	longAgo := append(list{counts(0, 0, 3)}, make(list, recent)...)
	for _, row := range []struct {
		name      string
		hour, day list
		blocked   bool
		want      State
	}{
		{name: "nobody asked", want: Unknown},
		{name: "callers' mistakes alone", hour: list{refused()}, day: list{refused()}, want: Unknown},
		{name: "all works", hour: list{counts(5, 0, 0)}, want: Works},
		{name: "one of many fails", hour: list{counts(9, 0, 1)}, want: Works},
		{name: "one in five fails", hour: list{counts(4, 0, 1)}, want: Failing},
		{name: "one in five is stale", hour: list{counts(4, 1, 0)}, want: Stale},
		{name: "a few of each", hour: list{counts(16, 2, 2)}, want: Stale},
		{name: "all fails", hour: list{counts(0, 0, 1)}, want: Failing},
		{name: "the minutes count together", hour: list{counts(0, 0, 1), counts(20, 0, 0), counts(0, 0, 0)}, want: Works},
		{name: "it failed, and nobody asked since", hour: longAgo, want: Failing},
		{name: "it failed before it worked", hour: append(slices.Clone(longAgo), counts(1, 0, 0)), want: Works},
		{name: "hours ago it worked", day: list{counts(0, 0, 9), counts(9, 0, 0), {}, {}}, want: Works},
		{name: "blocked, nobody asked lately", day: list{counts(9, 0, 0), {}}, blocked: true, want: Failing},
		{name: "blocked, but cached", hour: list{counts(9, 0, 0)}, blocked: true, want: Stale},
		{name: "blocked and failing", hour: list{counts(0, 0, 2)}, blocked: true, want: Failing},
	} {
		line := lineOf(row.hour, row.day)
		if got := stateNow(&line, row.blocked); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
	if got := stateNow(&Line{}, false); got != Unknown {
		t.Errorf("an endpoint without history: %v", got)
	}
}

// TestShares: what occurred is never rounded away, nor more than what occurred, and the
// whole is a whole.
func TestShares(t *testing.T) {
	for _, row := range []struct {
		works, stale, failing uint64
		shares                Shares
		bar                   Bar
	}{
		{0, 0, 0, Shares{}, Bar{}},
		{1, 0, 0, Shares{100, 0, 0}, Bar{10, 0, 0}},
		{2, 0, 1, Shares{66.7, 0, 33.3}, Bar{7, 0, 3}},
		{1_000_000, 0, 1, Shares{99.9, 0, 0.1}, Bar{9, 0, 1}},
		{1, 1_000_000, 1, Shares{0.1, 99.8, 0.1}, Bar{1, 8, 1}},
		{1, 1, 1, Shares{33.4, 33.3, 33.3}, Bar{4, 3, 3}},
		{0, 0, 7, Shares{0, 0, 100}, Bar{0, 0, 10}},
	} {
		b := counts(row.works, row.stale, row.failing)
		if got := sharesOf(&b.Counts); got != row.shares {
			t.Errorf("%v: %v", row, got)
		}
		if got := barOf(&b.Counts); got != row.bar || got.Known() != (b.Judged() > 0) {
			t.Errorf("%v: %v", row, got)
		}
	}
}

func TestReport(t *testing.T) {
	from := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	bad := lineOf([]Bucket{counts(0, 0, 1)}, []Bucket{
		counts(0, 0, 4), counts(0, 0, 4), counts(1, 0, 0), counts(0, 3, 0), counts(0, 0, 1),
	})
	v := &View{DayFrom: from, Endpoints: map[string]Line{"good": lineOf([]Bucket{counts(12345, 0, 0)}, []Bucket{counts(12345, 0, 0)}), "bad": bad}}
	r := Of(v, from.Add(24*time.Hour), []Subject{{Name: "good"}, {Name: "bad"}, {Name: "new"}})
	if r.Trouble() != 1 || r.Count(Works) != 1 || r.Count(Unknown) != 1 {
		t.Errorf("%+v", r)
	}
	at := func(halfHours int) time.Time { return from.Add(time.Duration(halfHours) * HalfHour) }
	want := []Spell{{at(47), at(48), Failing}, {at(46), at(47), Stale}, {at(43), at(45), Failing}}
	if got := r.Spells(&r.Endpoints[1]); !slices.Equal(got, want) {
		t.Errorf("spells %v, want %v", got, want)
	}
	text, err := json.Marshal(&r)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"trouble":1`, `"from":"2026-03-01T00:00:00Z","seconds":1800`, `"good":{"state":"works","day":{"works":100,"stale":0,"failing":0},"bars":{"works":[null,`,
		`"new":{"state":"unknown","day":null,`, `null,100,100,0,0,100]}}`,
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %s in %s", part, text)
		}
	}
	if strings.Contains(string(text), "12345") {
		t.Error("the number of requests can be read")
	}
}
