package main

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sundry/cache/whatif"
)

// Sizes of a plot, in pixels.
const (
	plotWidth, plotHeight = 720, 420
	plotLeft, plotRight   = 76, 92
	plotTop, plotBottom   = 64, 60
	labelHeight           = 15
	labelLetter           = 7.6 // the width of a letter
)

// plotStyle makes the picture readable on light and on dark.
const plotStyle = `<style>
svg{font:13px system-ui,sans-serif;background:#fff}
text{fill:#24292f}.soft{fill:#57606a}.title{font-size:16px;font-weight:600}.end{text-anchor:end}.middle{text-anchor:middle}
.axis{stroke:#8c959f;fill:none}.grid{stroke:#d8dee4;fill:none}.curve{stroke:#0969da;stroke-width:2;fill:none;stroke-linejoin:round}
.point{fill:#0969da;stroke:#fff;stroke-width:1.5}.now{fill:#bc4c00}.nowtext{fill:#bc4c00;font-weight:600}.page{fill:#fff}
@media (prefers-color-scheme:dark){svg{background:#0d1117}.page{fill:#0d1117}text{fill:#e6edf3}.soft{fill:#9198a1}
.axis{stroke:#656c76}.grid{stroke:#2a313c}.curve{stroke:#58a6ff}.point{fill:#58a6ff;stroke:#0d1117}.now{fill:#ffa657}.nowtext{fill:#ffa657}}
</style>
`

// plotOf draws one plot for each endpoint, one below the other: calls against
// staleness, or against age where nobody knows when content changes.
func plotOf(a *advice) []byte {
	var b bytes.Buffer
	height := plotHeight * len(a.Endpoints)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`+"\n", plotWidth, height, plotWidth, height)
	b.WriteString("<title>Upstream calls against staleness, by TTL</title>\n" + plotStyle)
	fmt.Fprintf(&b, `<rect class="page" width="%d" height="%d"/>`+"\n", plotWidth, height)
	for i := range a.Endpoints {
		fmt.Fprintf(&b, `<g transform="translate(0 %d)">`+"\n", i*plotHeight)
		newPlot(&a.Endpoints[i]).draw(&b)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// plot is that of one endpoint.
type plot struct {
	of     *endpointAdvice
	points []plotPoint // by rising TTL
	x, y   axis
	older  bool   // y is the share of older answers; else the mean age
	unit   string // of y
}

type plotPoint struct {
	rule *ruleOutcome
	x, y float64 // in pixels
}

func newPlot(e *endpointAdvice) *plot {
	p := &plot{of: e, older: true}
	for i := range e.Rules {
		p.older = p.older && e.Rules[i].Older != nil
	}
	var calls, stale []float64
	for i := range e.Rules {
		calls = append(calls, e.Rules[i].CallsPerHour)
		stale = append(stale, p.staleness(&e.Rules[i]))
	}
	p.unit = "%"
	if !p.older {
		p.unit = inLargeUnits(stale)
	}
	p.x = newAxis(calls, plotLeft, plotWidth-plotRight, true)
	p.y = newAxis(stale, plotHeight-plotBottom, plotTop, false)
	for i := range e.Rules {
		p.points = append(p.points, plotPoint{&e.Rules[i], p.x.at(calls[i]), p.y.at(stale[i])})
	}
	return p
}

// staleness is in percent, or in seconds.
func (p *plot) staleness(r *ruleOutcome) float64 {
	if p.older {
		return *r.Older * 100
	}
	return time.Duration(r.MeanAge).Seconds()
}

func (p *plot) draw(b *bytes.Buffer) {
	what, unit := "Answers older than the content", "share of answers"
	if !p.older {
		what, unit = "Age of answers", "mean age"
	}
	fmt.Fprintf(b, `<text class="title" x="%d" y="28">%s: upstream calls against staleness, by TTL</text>`+"\n", 20, html.EscapeString(p.of.Endpoint))
	fmt.Fprintf(b, `<text class="soft" x="%d" y="48">%s (%s); content changes: %s</text>`+"\n", 20, what, unit, html.EscapeString(p.of.Changes))
	p.grid(b)
	for series := range slices.Values(p.series()) {
		b.WriteString(`<polyline class="curve" points="`)
		for _, pt := range series {
			fmt.Fprintf(b, "%.1f,%.1f ", pt.x, pt.y)
		}
		b.WriteString(`"/>` + "\n")
	}
	for _, pt := range slices.Backward(p.presentFirst()) {
		fmt.Fprintf(b, `<circle class="%s" cx="%.1f" cy="%.1f" r="%d"><title>%s</title></circle>`+"\n", class("point", pt.rule), pt.x, pt.y, 5, html.EscapeString(p.describe(pt.rule)))
	}
	p.labels(b)
}

// series are the points that differ in their TTL alone.
func (p *plot) series() [][]plotPoint {
	var all [][]plotPoint
next:
	for _, pt := range p.points {
		for i := range all {
			if r := all[i][0].rule; r.Grace == pt.rule.Grace && r.StaleIfError == pt.rule.StaleIfError {
				all[i] = append(all[i], pt)
				continue next
			}
		}
		all = append(all, []plotPoint{pt})
	}
	return all
}

func class(name string, r *ruleOutcome) string {
	if r.Present {
		return name + " now"
	}
	return name
}

func (p *plot) describe(r *ruleOutcome) string {
	return fmt.Sprintf("ttl %s, grace %s: %s calls an hour, %s of requests answered at once, mean age %s", whatif.Duration(time.Duration(r.TTL)),
		whatif.Duration(time.Duration(r.Grace)), figure(r.CallsPerHour), percent(r.Hit), roughly(time.Duration(r.MeanAge)))
}

func (p *plot) grid(b *bytes.Buffer) {
	for _, v := range p.x.ticks {
		x := p.x.at(v)
		fmt.Fprintf(b, `<path class="grid" d="M%.1f %dV%d"/><text class="soft middle" x="%.1f" y="%d">%s</text>`+"\n", x, plotTop, plotHeight-plotBottom, x, plotHeight-plotBottom+18, short(v))
	}
	for _, v := range p.y.ticks {
		y := p.y.at(v)
		fmt.Fprintf(b, `<path class="grid" d="M%d %.1fH%d"/><text class="soft end" x="%d" y="%.1f">%s</text>`+"\n", plotLeft, y, plotWidth-plotRight, plotLeft-8, y+4, short(v)+p.unit)
	}
	fmt.Fprintf(b, `<path class="axis" d="M%d %dV%dH%d"/>`+"\n", plotLeft, plotTop, plotHeight-plotBottom, plotWidth-plotRight)
	scale := "upstream calls per hour"
	if p.x.log {
		scale += " (logarithmic)"
	}
	if len(p.series()) > 1 {
		scale += "; points are labelled TTL+grace"
	}
	fmt.Fprintf(b, `<text class="middle" x="%d" y="%d">%s</text>`+"\n", (plotLeft+plotWidth-plotRight)/2, plotHeight-plotBottom+42, scale)
}

// box is the place of a label.
type box struct{ left, top, right, bottom float64 }

func (a box) meets(b box) bool {
	return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

// labels writes each point's TTL beside it, where no other label, point or curve is.
// Points in the same place share one. The present rule's comes first.
func (p *plot) labels(b *bytes.Buffer) {
	taken, order := p.ink(), p.presentFirst()
	for len(order) > 0 {
		var here []*ruleOutcome
		pt := order[0]
		order = slices.DeleteFunc(order, func(o plotPoint) bool {
			same := math.Abs(o.x-pt.x) < 4 && math.Abs(o.y-pt.y) < 4
			if same {
				here = append(here, o.rule)
			}
			return same
		})
		text := p.label(here)
		place, free := freePlace(pt, float64(len(text))*labelLetter, taken)
		if !free {
			continue // its title still tells it
		}
		taken = append(taken, place)
		style := ""
		if pt.rule.Present {
			style = ` class="nowtext"`
		}
		fmt.Fprintf(b, `<text%s x="%.1f" y="%.1f">%s</text>`+"\n", style, place.left, place.bottom-4, html.EscapeString(text))
	}
}

// presentFirst are the points, that of the present rule before the others.
func (p *plot) presentFirst() []plotPoint {
	present := func(pt plotPoint) bool { return pt.rule.Present }
	i := slices.IndexFunc(p.points, present)
	if i < 0 {
		return slices.Clone(p.points)
	}
	return slices.Concat(p.points[i:i+1], p.points[:i], p.points[i+1:])
}

// label is the TTL of rules, with grace where rules differ in it.
func (p *plot) label(rules []*ruleOutcome) string {
	const named = 3
	var names []string
	for _, r := range rules[:min(named, len(rules))] {
		text := whatif.Duration(time.Duration(r.TTL))
		if len(p.series()) > 1 {
			text += "+" + whatif.Duration(time.Duration(r.Grace))
		}
		if r.Present {
			text += " (present)"
		}
		names = append(names, text)
	}
	if more := len(rules) - named; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// ink is where points and curves are.
func (p *plot) ink() []box {
	const half, step = 5, 4
	var all []box
	for _, series := range p.series() {
		for i, pt := range series {
			all = append(all, box{pt.x - half, pt.y - half, pt.x + half, pt.y + half})
			if i == 0 {
				continue
			}
			last := series[i-1]
			n := math.Ceil(math.Hypot(pt.x-last.x, pt.y-last.y) / step)
			for k := range int(n) {
				share := float64(k) / n
				x, y := last.x+share*(pt.x-last.x), last.y+share*(pt.y-last.y)
				all = append(all, box{x - 1, y - 1, x + 1, y + 1})
			}
		}
	}
	return all
}

// freePlace looks for a place around a point, the nearest first.
func freePlace(pt plotPoint, width float64, taken []box) (box, bool) {
	const gap, half = 7, labelHeight / 2.0
	for _, far := range []float64{0, labelHeight, 2 * labelHeight, 3 * labelHeight} {
		for _, at := range [][2]float64{
			{pt.x + gap, pt.y - half - 6 - far}, {pt.x + gap, pt.y - half - far}, {pt.x - gap - width, pt.y - half + 6 + far}, {pt.x - gap - width, pt.y - half - far},
			{pt.x - width/2, pt.y - gap - labelHeight - far}, {pt.x - width/2, pt.y + gap + far}, {pt.x + gap, pt.y - half + far},
		} {
			place := box{at[0], at[1], at[0] + width, at[1] + labelHeight}
			inside := place.left > plotLeft && place.right < plotWidth && place.top > plotTop-12 && place.bottom < plotHeight-plotBottom
			if inside && !slices.ContainsFunc(taken, place.meets) {
				return place, true
			}
		}
	}
	return box{}, false
}

// axis maps values to pixels.
type axis struct {
	low, high float64 // of the values
	from, to  float64 // pixels
	log       bool
	ticks     []float64
}

// logFrom is the ratio of the largest value to the least from which on an axis is
// logarithmic.
const logFrom = 12

// newAxis makes an axis that holds all values, none of which is negative. It begins at
// 0 unless it is logarithmic, which it becomes where that is allowed and of use.
func newAxis(values []float64, from, to float64, mayLog bool) axis {
	a := axis{low: slices.Min(values), high: slices.Max(values), from: from, to: to}
	if a.high <= 0 {
		a.high = 1
	}
	if a.log = mayLog && a.low > 0 && a.high/a.low >= logFrom; a.log {
		a.logTicks()
	} else {
		a.linearTicks()
	}
	return a
}

// linearTicks divides the axis into about five steps of 1, 2 or 5 times a power of
// ten.
func (a *axis) linearTicks() {
	raw := a.high / 5
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{2, 5, 10} {
		if step >= raw {
			break
		}
		step = m * math.Pow(10, math.Floor(math.Log10(raw)))
	}
	a.low = 0
	n := math.Ceil(a.high / step * 1.0001)
	a.high = n * step
	for i := range int(n) + 1 {
		a.ticks = append(a.ticks, float64(i)*step)
	}
}

// logTicks are at powers of ten, and between them where there are few.
func (a *axis) logTicks() {
	low, high := math.Floor(math.Log10(a.low)), math.Ceil(math.Log10(a.high))
	between := []float64{1, 2, 5}
	if high-low > 3 {
		between = []float64{1}
	}
	for e := low; e <= high; e++ {
		for _, m := range between {
			a.ticks = append(a.ticks, m*math.Pow(10, e))
		}
	}
	first, last := 0, len(a.ticks)-1
	for first < last && a.ticks[first+1] <= a.low {
		first++
	}
	for last > first && a.ticks[last-1] >= a.high {
		last--
	}
	a.ticks = a.ticks[first : last+1]
	a.low, a.high = a.ticks[0], a.ticks[len(a.ticks)-1]
}

// at is the pixel of a value.
func (a *axis) at(v float64) float64 {
	share := (v - a.low) / (a.high - a.low)
	if a.log {
		share = math.Log(v/a.low) / math.Log(a.high/a.low)
	}
	return a.from + share*(a.to-a.from)
}

// short is a number without zeros at its end.
func short(v float64) string {
	if v != 0 && math.Abs(v) < 1e-4 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64)
}

// inLargeUnits divides numbers of seconds by the largest unit of which one of them
// holds two, and returns its name.
func inLargeUnits(ages []float64) string {
	length, name := 1.0, " s"
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{time.Minute, " min"}, {time.Hour, " h"}, {24 * time.Hour, " d"}} {
		if s := unit.length.Seconds(); slices.Max(ages) >= 2*s {
			length, name = s, unit.name
		}
	}
	for i := range ages {
		ages[i] /= length
	}
	return name
}
