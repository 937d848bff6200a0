package confirm

import (
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	const one, other = 7, 7 + places
	now := time.Unix(1_795_000_000, 0)
	after := func(d time.Duration) time.Time { return now.Add(d) }
	for name, row := range map[string]struct {
		before  func(c *Table)
		created time.Time
		at      time.Time
		want    bool
	}{
		"created just now":                  {created: now, at: after(Every - 1)},
		"created a while ago":               {created: now, at: after(Every), want: true},
		"created in the future":             {created: after(time.Hour), at: now, want: true},
		"confirmed":                         {before: func(c *Table) { c.Looked(one, true, now) }, at: after(Every - 1)},
		"confirmed a while ago":             {before: func(c *Table) { c.Looked(one, true, now) }, at: after(Every), want: true},
		"not answered":                      {before: func(c *Table) { c.Looked(one, false, now) }, at: after(Again - 1)},
		"not answered, a second ago":        {before: func(c *Table) { c.Looked(one, false, now) }, at: after(Again), want: true},
		"another key has the place":         {before: func(c *Table) { c.Looked(other, true, now) }, at: after(Again - 1)},
		"another key, looked up long ago":   {before: func(c *Table) { c.Looked(other, true, now) }, at: after(Again), want: true},
		"claimed by another request":        {before: func(c *Table) { c.Claim(one, time.Time{}, now) }, at: after(time.Second)},
		"the clock was set back":            {before: func(c *Table) { c.Looked(one, true, after(time.Hour)) }, at: now, want: true},
		"claimed by another request, again": {before: func(c *Table) { c.Claim(one, time.Time{}, now) }, at: after(Every), want: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := &Table{}
			if row.before != nil {
				row.before(c)
			}
			if got := c.Due(one, row.created, row.at); got != row.want {
				t.Errorf("due: %v", got)
			}
			if got := c.Claim(one, row.created, row.at); got != row.want || got && c.Claim(one, row.created, row.at) {
				t.Errorf("claimed: %v, or twice", got)
			}
		})
	}
}

func TestVersions(t *testing.T) {
	const one, other = 7, 7 + places
	now := time.Unix(1_795_000_000, 0)
	for name, row := range map[string]struct {
		then func(c *Table)
		want bool
	}{
		"nothing since":           {func(*Table) {}, true},
		"another look":            {func(c *Table) { c.Looked(one, true, now) }, false},
		"another version":         {func(c *Table) { c.Confirmed(one, 2) }, false},
		"another key":             {func(c *Table) { c.Looked(other, true, now); c.Confirmed(other, 1) }, false},
		"that of a key without":   {func(c *Table) { c.Confirmed(other, 2) }, true},
		"a claim":                 {func(c *Table) { c.Claim(one, time.Time{}, now.Add(Every)) }, true},
		"a claim for another key": {func(c *Table) { c.Claim(other, time.Time{}, now.Add(Every)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := &Table{}
			c.Looked(one, true, now)
			c.Confirmed(one, 1)
			row.then(c)
			if got := c.IsConfirmedBy(one, 1); got != row.want {
				t.Errorf("confirmed: %v", got)
			}
		})
	}
}

func TestMost(t *testing.T) {
	c := &Table{}
	for i := range Most {
		if !c.Begin() {
			t.Fatalf("not the one after %d", i)
		}
	}
	if c.Begin() {
		t.Error("one more than Most")
	}
	c.End()
	c.End()
	if !c.Begin() {
		t.Error("none after one has ended")
	}
}
