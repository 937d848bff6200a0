package catalog

import "time"

// Circumstances are what of a request, besides its query, decides an endpoint's input:
// a set. Who remembers what a query means has to remember for which of them.
type Circumstances uint8

// The circumstances.
const (
	// OfAddress is the caller's address.
	OfAddress Circumstances = 1 << iota
	// OfAgent is the first User-Agent.
	OfAgent
	// OfHint is the first Sec-CH-UA-Mobile.
	OfHint
	// OfDay is the day in China.
	OfDay
	// OfChance means that the same request may have another input next time.
	OfChance
)

// Circumstances of an endpoint's input. Endpoints with the same query under the same
// circumstances parse it to the same input.
func (e *Endpoint) Circumstances() Circumstances {
	var all Circumstances
	for _, p := range e.Params {
		all |= p.circumstances()
	}
	return all
}

// DrawsOne reports whether all that is by chance in an endpoint's input is one value that is drawn
// (pick).
func (e *Endpoint) DrawsOne() bool {
	drawn := 0
	for _, p := range e.Params {
		switch {
		case p.circumstances()&OfChance == 0:
		case p.Spec.Pick == nil || p.Spec.From != "":
			return false
		default:
			drawn++
		}
	}
	return drawn == 1
}

// circumstances of a value. What is not known here counts as chance, of which nothing
// is remembered.
func (p *Param) circumstances() Circumstances {
	var c Circumstances
	switch p.Spec.From {
	case "":
	case fromCaller, fromAddress:
		c = OfAddress
	case fromAgent:
		c = OfAgent
	case fromToday:
		c = OfDay
	default:
		c = OfChance
	}
	if p.Spec.Type == "date" {
		c |= OfDay // which are in the future
	}
	if p.Spec.Device != nil {
		c |= OfAgent | OfHint
	}
	if p.Spec.Pick != nil || p.substitute != nil && p.Spec.Device == nil {
		c |= OfChance
	}
	return c
}

// DayOf numbers the days in China.
func DayOf(now time.Time) int64 {
	const offset, day = 8 * 60 * 60, 24 * 60 * 60 // of chinatime.Zone
	return (now.Unix() + offset) / day
}
