package waiters

import "testing"

// TestStatesOfAFlight: each row is what happens to a flight, one letter each: a caller Joins or Leaves, the flight is Detached or
// Attached. A small letter stands for what reports false.
func TestStatesOfAFlight(t *testing.T) {
	for story, want := range map[string]struct {
		state State
		n     int
	}{
		"":        {Running, 0},
		"J":       {Running, 1},
		"JJl":     {Running, 1},
		"JL":      {Abandoned, 0},
		"JLj":     {Abandoned, 0},
		"JJlL":    {Abandoned, 0},
		"D":       {Detached, 0},
		"JD":      {Detached, 1},
		"JDl":     {Detached, 0},
		"JDlJ":    {Detached, 1},
		"JDlJl":   {Detached, 0},
		"DJl":     {Detached, 0},
		"JDa":     {Running, 1},
		"JDaL":    {Abandoned, 0},
		"JDlA":    {Abandoned, 0},
		"JDlAj":   {Abandoned, 0},
		"Ja":      {Running, 1},
		"JLD":     {Abandoned, 0},
		"JLDj":    {Abandoned, 0},
		"JLa":     {Abandoned, 0},
		"DJJlDlA": {Abandoned, 0},
	} {
		var c Count
		for at, letter := range story {
			got, wanted := true, letter < 'a'
			switch letter {
			case 'J', 'j':
				got = c.Join()
			case 'L', 'l':
				got = c.Leave()
			case 'A', 'a':
				got = c.Attach()
			case 'D':
				c.Detach()
			}
			if got != wanted {
				t.Errorf("%s: %c reports %v at %d", story, letter, got, at)
			}
		}
		if c.State() != want.state || c.N() != want.n {
			t.Errorf("%s: state %d with %d callers, want %d with %d", story, c.State(), c.N(), want.state, want.n)
		}
	}
}
