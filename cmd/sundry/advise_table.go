package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"sundry/cache/advise"
	"sundry/proxy/requestlog"
)

// advised is what logs advise.
type advised struct {
	Logs      requestlog.Counts `json:"logs"`
	Endpoints []advise.View     `json:"endpoints"` // the busiest first
}

// print writes a row for each endpoint, or for each rule, what became of the lines, and a note,
// unless that is empty.
func (a *advised) print(w io.Writer, rules bool, note string) error {
	table := [][]string{{"ENDPOINT", "TTL", "ADVISED", "OLD", "CALLS/H", "EVIDENCE", "WHY"}}
	for i := range a.Endpoints {
		v := &a.Endpoints[i]
		rows := [][]string{nowAndThen(v)}
		if rules {
			rows = eachRule(v)
		}
		for i, row := range rows {
			name, advised, evidence, why := v.Endpoint, advisedText(v), evidenceText(&v.Evidence), whyText(v)
			if i > 0 {
				name, advised, evidence, why = "", "", "", ""
			}
			table = append(table, []string{name, row[0], advised, row[1], row[2], evidence, why})
		}
	}
	if note != "" {
		note = "note: " + note + "\n"
	}
	_, err := fmt.Fprintf(w, "%s\n%s\n%s", aligned(table), &a.Logs, note)
	return err
}

// nowAndThen are the TTL in force, and old share and calls under it and the advised one.
func nowAndThen(v *advise.View) []string {
	row := []string{"", "", ""}
	for i := range v.Rules {
		if r := &v.Rules[i]; r.Present {
			row = rowOf(r)
		}
	}
	for i := range v.Rules {
		if r := &v.Rules[i]; v.Advised != nil && r.TTL == *v.Advised && !r.Present {
			for column, then := range rowOf(r) {
				if column > 0 && row[column] != then {
					row[column] += " → " + then
				}
			}
		}
	}
	return row
}

// eachRule are each TTL with what it leads to.
func eachRule(v *advise.View) (rows [][]string) {
	for i := range v.Rules {
		row := rowOf(&v.Rules[i])
		if v.Rules[i].Present {
			row[0] += " (present)"
		}
		rows = append(rows, row)
	}
	return rows
}

// rowOf are TTL, old share and calls.
func rowOf(r *advise.RuleView) []string {
	old := "-"
	switch {
	case r.Older == nil:
	case r.AtMost:
		old = "up to " + percent(*r.OlderHigh)
	default:
		old = fmt.Sprintf("%s (%s to %s)", percent(*r.Older), percent(*r.OlderLow), percent(*r.OlderHigh))
	}
	return []string{ttlText(r.TTL), old, fmt.Sprintf("%s (%s to %s)", figure(r.Calls), figure(r.CallsLow), figure(r.CallsHigh))}
}

func advisedText(v *advise.View) string {
	if v.Advised == nil {
		return "none"
	}
	return ttlText(*v.Advised)
}

// whyText is the reason, and the hint of a daily edition.
func whyText(v *advise.View) string {
	if v.Edition == nil {
		return v.Reason
	}
	const clock = "15:04"
	return fmt.Sprintf("%s; its content seems to change once a day, from %s to %s UTC: an until would need one call a day", v.Reason, v.Edition.From.UTC().Format(clock), v.Edition.To.UTC().Format(clock))
}

func evidenceText(e *advise.Evidence) string {
	return fmt.Sprintf("%d refreshes, %d changes, %s days", e.Refreshes, e.Changes, figure(e.Days))
}

// ttlText is as in the catalog: 1h30m, without what is zero at its end.
func ttlText(seconds float64) string {
	text := time.Duration(seconds * float64(time.Second)).Round(time.Millisecond).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func percent(share float64) string { return figure(share*100) + "%" }

// figure is a number to three digits.
func figure(v float64) string {
	digits := 0
	if v > 0 && v < 100 {
		digits = min(4, 2-int(math.Floor(math.Log10(v))))
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}
