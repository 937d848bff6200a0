package pages

import (
	"fmt"

	"sundry/proxy/site/status"
)

// Sizes of the drawing of the bars, in its units. What was answered stands on the base
// line, what failed hangs from it: so the two are told apart without their colours.
const (
	barStep   = 7 // from one bar to the next
	barWide   = 5
	barStale  = 3 // the width of what is stale
	barUnit   = 2 // the height of a tenth that was answered
	barBase   = 10*barUnit + 1
	barFailed = 2 // the least height of what failed; each tenth adds 1
	barHigh   = barBase + barFailed + 10
)

// statusBars are bars as the paths of a drawing.
type statusBars struct {
	Width, Height                 int
	Works, Stale, Failing, Nobody string
	Notes                         []barNote
}

// barNote says in words what a bar says.
type barNote struct {
	X    int // where the bar begins
	Text string
}

// barsOf draws bars: as wide as they are what worked; narrow upon it the stale; below the
// line what failed; a dash on the line where nothing is known.
func barsOf(bars []status.Bar) statusBars {
	var works, stale, failing, nobody []byte
	for i, b := range bars {
		x := i * barStep
		if !b.Known() {
			nobody = appendRect(nobody, x, barBase-1, barWide, 1)
			continue
		}
		if b.Works > 0 {
			works = appendRect(works, x, barBase-b.Works*barUnit, barWide, b.Works*barUnit)
		}
		if b.Stale > 0 {
			stale = appendRect(stale, x+(barWide-barStale)/2, barBase-(b.Works+b.Stale)*barUnit, barStale, b.Stale*barUnit)
		}
		if b.Failing > 0 {
			failing = appendRect(failing, x, barBase, barWide, barFailed+b.Failing)
		}
	}
	return statusBars{max(0, len(bars)*barStep-(barStep-barWide)), barHigh, string(works), string(stale), string(failing), string(nobody), nil}
}

// appendRect appends a rectangle to a path.
func appendRect(path []byte, x, y, width, height int) []byte {
	return fmt.Appendf(path, "M%d %dh%dv%dh-%dz", x, y, width, height, width)
}

// oneBar is the drawing of a bar, for the legend.
func oneBar(works, stale, failing int) statusBars {
	return barsOf([]status.Bar{{Works: works, Stale: stale, Failing: failing}})
}
