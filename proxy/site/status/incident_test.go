package status

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestBegins(t *testing.T) {
	current := number(at, slot)
	for _, row := range []struct {
		name  string
		slots []Tally
		first int64 // slots before the current one; 0: all
		ago   int64 // when it begins
		want  State
	}{
		{name: "nobody asked", want: Unknown},
		{name: "all fails", slots: []Tally{{}, {0, 0, 20}}, want: Failing},
		{name: "a few failures are none", slots: []Tally{{0, 0, 9}}, want: Unknown},
		{name: "ten requests of an hour are enough", slots: []Tally{{0, 0, 2}, {}, {}, {}, {}, {}, {0, 0, 4}, {1, 0, 0}, {}, {}, {0, 0, 3}, {}}, ago: 11, want: Failing},
		{name: "those of longer ago are not", slots: []Tally{{0, 0, 2}, {}, {}, {}, {}, {}, {}, {0, 0, 4}, {1, 0, 0}, {}, {}, {0, 0, 3}, {}}, want: Unknown},
		{name: "a bad second after a good slot", slots: []Tally{{100, 0, 0}, {0, 0, 20}}, want: Works},
		{name: "a bad minute", slots: []Tally{{100, 0, 0}, {0, 0, 25}}, want: Failing},
		{name: "one in five is stale", slots: []Tally{{40, 0, 0}, {40, 20, 0}}, want: Stale},
		{name: "fewer than one in five", slots: []Tally{{800, 0, 100}, {800, 0, 99}}, want: Works},
		{name: "it began in the slot before", slots: []Tally{{100, 0, 0}, {0, 0, 100}, {0, 0, 10}}, ago: 1, want: Failing},
		{name: "what is over does not count", slots: []Tally{{0, 0, 100}, {0, 0, 100}, {9, 0, 0}}, first: 1, ago: 1, want: Failing},
		{name: "nor with less than is enough since", slots: []Tally{{0, 0, 100}, {2, 0, 2}, {2, 0, 2}}, first: 1, want: Unknown},
	} {
		first := current - window
		if row.first > 0 {
			first = current - row.first
		}
		from, got := begins(slotsOf(row.slots...), first, current)
		if got != row.want || got.Trouble() && from != current-row.ago {
			t.Errorf("%s: %v since %d slots, want %v since %d", row.name, got, current-from, row.want, row.ago)
		}
	}
}

func TestFollow(t *testing.T) {
	ago := func(slots int64) time.Time { return startOf(number(at, slot)-slots, slot) }
	for _, row := range []struct {
		name  string
		until time.Time
		slots []Tally
		want  Spell
		news  bool
	}{
		{"it goes on", ago(1), []Tally{{0, 5, 0}, {0, 5, 0}}, Spell{Until: ago(-1), State: Stale}, false},
		{"it gets worse", ago(1), []Tally{{0, 5, 0}, {0, 0, 1}}, Spell{Until: ago(-1), State: Failing}, true},
		{"it works for ten minutes", ago(2), []Tally{{90, 0, 0}, {90, 0, 0}, {90, 0, 0}}, Spell{Until: ago(2), State: Stale}, false},
		{"it works for a quarter of an hour", ago(3), []Tally{{90, 0, 0}, {90, 0, 0}, {90, 0, 0}, {}}, Spell{Until: ago(3), State: Stale, Over: true}, true},
		{"too few say so", ago(6), []Tally{{1, 0, 0}, {}, {1, 0, 0}}, Spell{Until: ago(6), State: Stale}, false},
		{"a few say so", ago(6), []Tally{{1, 0, 0}, {}, {2, 0, 0}}, Spell{Until: ago(6), State: Stale, Over: true}, true},
		{"and then not", ago(6), []Tally{{9, 0, 0}, {}, {0, 1, 0}}, Spell{Until: ago(-1), State: Stale}, false},
		{"nobody asks", at.Add(-23 * time.Hour), nil, Spell{Until: at.Add(-23 * time.Hour), State: Stale}, false},
		{"nobody asks for a day", at.Add(-24 * time.Hour), nil, Spell{Until: at.Add(-24 * time.Hour), State: Stale, Over: true}, true},
		{"the clock was set back", at.Add(time.Hour), []Tally{{90, 0, 0}}, Spell{Until: at.Add(time.Hour), State: Stale}, false},
	} {
		s := Spell{Until: row.until, State: Stale}
		if news := s.follow(slotsOf(row.slots...), at); s != row.want || news != row.news {
			t.Errorf("%s: %+v %t, want %+v %t", row.name, s, news, row.want, row.news)
		}
	}
}

// live lets five minutes pass at a time, each judged by the minute, from at on. how says of each slot how every
// endpoint goes: w worked, f failed, - nobody asked.
func (r *Record) live(how map[string]string) (now time.Time) {
	for i, now := 0, at.Truncate(slot); ; i++ {
		some := false
		for range 5 {
			for name, slots := range how {
				if i < len(slots) {
					some = true
					r.Add(name, now, map[byte]Tally{'w': {20, 0, 0}, 'f': {0, 0, 20}}[slots[i]])
				}
			}
			if !some {
				return now
			}
			r.Judge(now)
			r.trim(now)
			now = now.Add(time.Minute)
		}
	}
}

func TestIncidents(t *testing.T) {
	minute := func(n int) time.Time { return at.Truncate(slot).Add(time.Duration(n) * time.Minute) }
	for _, row := range []struct {
		name string
		how  map[string]string
		want []string // endpoints, from and until in minutes
	}{
		{"all works", map[string]string{"a": "wwwwwwwww"}, nil},
		{"together", map[string]string{"a": "wffwwwww", "b": "wwfffwwww", "c": "wwwwwwwww"}, []string{"[a b] 5 25 true"}},
		{"one after the other", map[string]string{"a": "ffffffffff", "b": "wwwwffffff"}, []string{"[a] 0 50 false", "[b] 20 50 false"}},
		{"a pause is the same incident", map[string]string{"a": "ffwwffwwww"}, []string{"[a] 0 30 true"}},
		{"a long one is not", map[string]string{"a": "ffwwwwffwwww"}, []string{"[a] 0 10 true", "[a] 30 40 true"}},
		{"silence does not end it", map[string]string{"a": "ff----------------"}, []string{"[a] 0 10 false"}},
	} {
		r := &Record{}
		r.live(row.how)
		var got []string
		for i := range r.Incidents {
			in := &r.Incidents[i]
			got = append(got, fmt.Sprintf("%v %v %v %t", in.Endpoints(), in.Begin.Sub(minute(0)).Minutes(), in.Until().Sub(minute(0)).Minutes(), in.Over()))
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// TestIncidentIsUpdatedWithNews: when it begins, when another endpoint joins and when it ends, and not in between.
func TestIncidentIsUpdatedWithNews(t *testing.T) {
	r := &Record{}
	var news []time.Duration
	begun := at
	for i := range 60 {
		now := at.Add(time.Duration(i) * time.Minute)
		failing := Tally{0, 0, 20}
		if i >= 20 {
			failing = Tally{20, 0, 0}
		}
		r.Add("a", now, failing)
		if i >= 5 {
			r.Add("b", now, failing)
		}
		r.Judge(now)
		if updated := r.Incidents[0].Updated.Sub(begun); !slices.Contains(news, updated) {
			news = append(news, updated)
		}
	}
	if want := []time.Duration{0, 5 * time.Minute, 38 * time.Minute}; !slices.Equal(news, want) || len(r.Incidents) != 1 {
		t.Errorf("updated after %v, want %v", news, want)
	}
}

// TestNoIncidentBeginsBeforeTheRecord: what is found in its first slot began with it at the earliest.
func TestNoIncidentBeginsBeforeTheRecord(t *testing.T) {
	since := startOf(number(at, slot), slot).Add(100 * time.Second)
	r := newRecord(since)
	for _, after := range []time.Duration{time.Minute, slot} {
		r.Add("ip", since.Add(after), Tally{0, 0, 20})
		r.Judge(since.Add(after))
	}
	if len(r.Incidents) != 1 || !r.Incidents[0].Begin.Equal(since) || !r.Incidents[0].Spells[0].From.Equal(since) {
		t.Errorf("%+v, want one since %v", r.Incidents, since)
	}
}
