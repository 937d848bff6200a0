package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"sundry/cache/advise"
	"sundry/upstreams/lib/plainjson"
)

// advised is what logs advise.
type advised struct {
	Logs      logCounts     `json:"logs"`
	Endpoints []advise.View `json:"endpoints"` // the busiest first
	notes     []string
}

func (a *advised) printJSON(w io.Writer) error {
	b, err := plainjson.MarshalIndent(a)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// print writes a row for each endpoint, or for each rule, and what became of the lines.
func (a *advised) print(w io.Writer, rules bool) error {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ENDPOINT\tTTL\tADVISED\tOLD\tCALLS/H\tEVIDENCE\tWHY") // the builder takes everything
	for i := range a.Endpoints {
		rows := [][]string{rowOf(&a.Endpoints[i])}
		if rules {
			rows = rowsOf(&a.Endpoints[i])
		}
		for _, row := range rows {
			_, _ = fmt.Fprintln(table, strings.Join(row, "\t"))
		}
	}
	err := table.Flush()
	_, _ = fmt.Fprintf(&text, "\n%s\n", &a.Logs)
	for _, note := range a.notes {
		_, _ = fmt.Fprintln(&text, "note:", note)
	}
	_, err2 := io.WriteString(w, text.String())
	return errors.Join(err, err2)
}

// rowOf is what is now, and what would be then.
func rowOf(v *advise.View) []string {
	var ttl, old, calls string
	for i := range v.Rules {
		if r := &v.Rules[i]; r.Present {
			ttl, old, calls = ttlText(r.TTL), oldText(r), callsText(r)
		}
	}
	for i := range v.Rules {
		if r := &v.Rules[i]; v.Advised != nil && r.TTL == *v.Advised && !r.Present {
			old, calls = nowAndThen(old, oldText(r)), nowAndThen(calls, callsText(r))
		}
	}
	return []string{v.Endpoint, ttl, advisedText(v), old, calls, evidenceText(&v.Evidence), whyText(v)}
}

func nowAndThen(now, then string) string {
	if now == then {
		return now
	}
	return now + " → " + then
}

// rowsOf are what each TTL leads to.
func rowsOf(v *advise.View) (rows [][]string) {
	for i := range v.Rules {
		r := &v.Rules[i]
		row := []string{"", ttlText(r.TTL), "", oldText(r), callsText(r), "", ""}
		if r.Present {
			row[1] += " (present)"
		}
		if i == 0 {
			row[0], row[2], row[5], row[6] = v.Endpoint, advisedText(v), evidenceText(&v.Evidence), whyText(v)
		}
		rows = append(rows, row)
	}
	return rows
}

func advisedText(v *advise.View) string {
	if v.Advised == nil {
		return "none"
	}
	return ttlText(*v.Advised)
}

func oldText(r *advise.RuleView) string {
	switch {
	case r.Older == nil:
		return "-"
	case r.AtMost:
		return "up to " + percent(*r.OlderHigh)
	}
	return fmt.Sprintf("%s (%s to %s)", percent(*r.Older), percent(*r.OlderLow), percent(*r.OlderHigh))
}

func callsText(r *advise.RuleView) string {
	return fmt.Sprintf("%s (%s to %s)", figure(r.Calls), figure(r.CallsLow), figure(r.CallsHigh))
}

// whyText is the reason, and the hint of a daily edition.
func whyText(v *advise.View) string {
	if v.Edition == nil {
		return v.Reason
	}
	const clock = "15:04"
	return fmt.Sprintf("%s; its content seems to change once a day, from %s to %s UTC: an until would need one call a day", v.Reason, v.Edition.From.UTC().Format(clock), v.Edition.To.UTC().Format(clock))
}

func evidenceText(e *advise.EvidenceView) string {
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
