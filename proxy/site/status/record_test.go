package status

import (
	"fmt"
	"testing"
	"time"
)

// TestRecordSurvivesWrongClocks: the days of before are there, also after a clock that was wrong for a week, in either
// direction, and the slots of it are gone.
func TestRecordSurvivesWrongClocks(t *testing.T) {
	for name, wrong := range map[string]time.Time{"1970": time.Unix(0, 0), "a year ahead": at.AddDate(1, 0, 0), "an hour back": at.Add(-time.Hour)} {
		r := &Record{}
		for i := range Days {
			r.Add("a", at.AddDate(0, 0, -i), Tally{20, 0, 0})
			r.trim(at.AddDate(0, 0, -i))
		}
		for i := range 7 {
			now := wrong.AddDate(0, 0, i)
			r.Add("a", now, Tally{0, 0, 20})
			r.Judge(now)
			r.trim(now)
		}
		now := at.Add(time.Minute)
		r.Add("a", now, Tally{20, 0, 0})
		r.Judge(now)
		r.trim(now)
		told := Of(&View{}, r, now, []Subject{{Name: "a"}})
		days := 0
		for _, d := range told.Endpoints[0].Days {
			if d.Works > 0 {
				days++
			}
		}
		if days != Days || len(r.Endpoints["a"].Slots) > window {
			t.Errorf("%s: %d days, %d slots", name, days, len(r.Endpoints["a"].Slots))
		}
		for i := range 20 { // what has trouble now is found, whatever was found then
			now = at.AddDate(0, 0, 8).Add(time.Duration(i) * time.Minute)
			r.Add("a", now, Tally{0, 0, 20})
			r.Judge(now)
			r.trim(now)
		}
		if told := Of(&View{}, r, now, nil); len(told.Incidents) == 0 || told.Incidents[0].Over() {
			t.Errorf("%s: incidents %+v of %+v", name, told.Incidents, r.Incidents)
		}
	}
}

// TestRecordIsBounded: however many endpoints there are, and however long.
func TestRecordIsBounded(t *testing.T) {
	r := &Record{}
	for d := range 150 {
		now := at.AddDate(0, 0, d)
		for i := range 20 {
			r.Add(fmt.Sprint("endpoint", i), now, Tally{12345, 67, 8})
			r.Judge(now)
		}
		r.trim(now)
	}
	b, err := r.encode()
	if err != nil || len(b) > 8<<10 {
		t.Errorf("%d bytes of twenty endpoints, %v", len(b), err)
	}
	for i := range 3 * endpointsKept {
		r.Add(fmt.Sprint("api", i), at.AddDate(0, 0, 150), Tally{0, 0, 20})
	}
	now := at.AddDate(0, 0, 150)
	for i := range spellsKept {
		r.Incidents = append(r.Incidents, Incident{Begin: at.Add(time.Duration(i) * time.Hour), Spells: make([]Spell, 2)})
	}
	r.Add("endpoint1", now, Tally{0, 0, 20})
	r.trim(now)
	spells := 0
	for i := range r.Incidents {
		spells += len(r.Incidents[i].Spells)
	}
	if len(r.Endpoints) != endpointsKept || len(r.Endpoints["endpoint1"].Days) != daysKept || spells != spellsKept || r.Incidents[0].Begin.Equal(at) {
		t.Errorf("%d endpoints, %d days, %d spells", len(r.Endpoints), len(r.Endpoints["endpoint1"].Days), spells)
	}
	for i := range 100 {
		r.Add("endpoint1", at.Add(time.Duration(i)*time.Hour), Tally{1, 0, 0})
	}
	if n := len(r.Endpoints["endpoint1"].Slots); n > 2*window {
		t.Errorf("%d slots", n)
	}
}
