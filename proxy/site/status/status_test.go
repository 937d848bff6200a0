package status

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// at is when these tests are, in the third minute of a slot.
var at = time.Date(2026, 3, 2, 10, 17, 30, 0, time.UTC)

// slotsOf are slots up to the one of at.
func slotsOf(all ...Tally) map[int64]Tally {
	m := map[int64]Tally{}
	for i, t := range all {
		m[number(at, slot)-int64(len(all)-1-i)] = t
	}
	return m
}

func TestStateNow(t *testing.T) {
	longAgo := make([]Tally, recent+1)
	longAgo[0] = Tally{0, 0, 3}
	today, yesterday := number(at, day), number(at, day)-1
	for _, row := range []struct {
		name    string
		slots   []Tally
		days    map[int64]Tally
		blocked bool
		want    State
	}{
		{name: "nobody asked", want: Unknown},
		{name: "all works", slots: []Tally{{5, 0, 0}}, want: Works},
		{name: "one of many fails", slots: []Tally{{9, 0, 1}}, want: Works},
		{name: "one in five fails", slots: []Tally{{4, 0, 1}}, want: Failing},
		{name: "one in five is stale", slots: []Tally{{4, 1, 0}}, want: Stale},
		{name: "a few of each", slots: []Tally{{16, 2, 2}}, want: Stale},
		{name: "all fails", slots: []Tally{{0, 0, 1}}, want: Failing},
		{name: "the slots count together", slots: []Tally{{0, 0, 1}, {20, 0, 0}, {}}, want: Works},
		{name: "it failed, and nobody asked since", slots: longAgo, want: Failing},
		{name: "it failed before it worked", slots: append(slices.Clone(longAgo), Tally{1, 0, 0}), want: Works},
		{name: "hours ago it worked", days: map[int64]Tally{today: {9, 0, 0}, yesterday: {0, 0, 9}}, want: Works},
		{name: "yesterday it failed", days: map[int64]Tally{yesterday: {0, 0, 9}}, want: Failing},
		{name: "long ago it failed", days: map[int64]Tally{yesterday - 1: {0, 0, 9}}, want: Unknown},
		{name: "blocked, nobody asked lately", days: map[int64]Tally{today: {9, 0, 0}}, blocked: true, want: Failing},
		{name: "blocked, but cached", slots: []Tally{{9, 0, 0}}, blocked: true, want: Stale},
		{name: "blocked and failing", slots: []Tally{{0, 0, 2}}, blocked: true, want: Failing},
	} {
		if got := stateNow(&past{row.days, slotsOf(row.slots...)}, at, row.blocked); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
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
		b := Tally{row.works, row.stale, row.failing}
		if got := sharesOf(b); got != row.shares {
			t.Errorf("%v: %v", row, got)
		}
		if got := barOf(b); got != row.bar || got.Known() != (b.judged() > 0) {
			t.Errorf("%v: %v", row, got)
		}
	}
	for tally, want := range map[Tally]Bar{{}: {}, {1000, 0, 9}: {10, 0, 0}, {990, 0, 10}: {9, 0, 1}, {0, 0, 1}: {0, 0, 10}} {
		if got := dayBarOf(tally); got != want {
			t.Errorf("a day of %v: %v, want %v", tally, got, want)
		}
	}
}

func TestReport(t *testing.T) {
	good := Line{Day: make([]Bucket, HalfHours)}
	good.Day[HalfHours-1] = Bucket{Known: true, Counts: Counts{Works: 12345}}
	v := &View{DayFrom: time.Date(2026, 3, 1, 10, 30, 0, 0, time.UTC), Endpoints: map[string]Line{"good": good}}
	r := &Record{Since: at.AddDate(-1, 0, 0), Seed: "seed"}
	r.Add("good", at, Tally{12345, 0, 0})
	r.Add("good", at.AddDate(0, 0, -90), Tally{0, 0, 999}) // a day too old
	r.Add("bad", at, Tally{1, 1, 8})
	r.Add("bad", at.AddDate(0, 0, -1), Tally{99999, 0, 1})
	r.Judge(at)
	told := Of(v, r, at, []Subject{{Name: "good"}, {Name: "bad"}, {Name: "new"}})
	if resting := Of(v, r, at, []Subject{{Name: "new", Blocked: true}}).Endpoints[0]; !resting.Blocked || resting.State != Failing {
		t.Errorf("%+v, want that it says why it fails", resting)
	}
	if told.Trouble() != 1 || told.Count(Works) != 1 || told.Count(Unknown) != 1 {
		t.Errorf("%+v", told)
	}
	if up := told.Endpoints[1].Uptime; up == nil || *up != 99.99 { // 100001 of 100010
		t.Errorf("uptime %v", up)
	}
	text, err := json.Marshal(&told)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"trouble":1`, `"from":"2026-03-01T10:30:00Z","seconds":1800,"days_from":"2025-12-03","since":"2025-03-02T10:17:30Z"`,
		`"good":{"state":"works","day":{"works":100,"stale":0,"failing":0},"bars":{"works":[null,`, `"uptime":100,"days":{"works":[null,`,
		`null,99.9,10],"stale":[null,`, `null,0.1,80]}}`, `"new":{"state":"unknown","day":null,`,
		`"from":"2026-03-02T10:15:00Z","until":null,"state":"failing","endpoints":["bad"]}]`,
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %s in %s", part, text)
		}
	}
	for _, number := range []string{"12345", "99999", "seed"} {
		if strings.Contains(string(text), number) {
			t.Errorf("%s can be read", number)
		}
	}
}
