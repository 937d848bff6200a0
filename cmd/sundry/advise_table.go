package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"sundry/cache/advise"
	"sundry/metrics/words"
	"sundry/proxy/requestlog"
	"sundry/proxy/site/i18n"
)

// advised is what logs advise.
type advised struct {
	Logs      requestlog.Counts `json:"logs"`
	Endpoints []advise.View     `json:"endpoints"` // the busiest first
}

// print writes a row for each endpoint, or for each rule, what became of the lines, and a note,
// unless that is empty.
func (a *advised) print(w *process, rules bool, note words.Text) error {
	l := w.language()
	table := [][]string{{
		l.Say("ENDPOINT", "接口"), "TTL", l.Say("ADVISED", "建议"), l.Say("OLD", "旧响应占比"), l.Say("CALLS/H", "每小时调用"),
		l.Say("EVIDENCE", "依据"), l.Say("WHY", "原因"),
	}}
	for i := range a.Endpoints {
		v := &a.Endpoints[i]
		rows := [][]string{nowAndThen(v, l)}
		if rules {
			rows = eachRule(v, l)
		}
		for i, row := range rows {
			name, advised, evidence, why := v.Endpoint, advisedText(v, l), l.Of(evidenceText(&v.Evidence)), l.Of(whyText(v))
			if i > 0 {
				name, advised, evidence, why = "", "", "", ""
			}
			table = append(table, []string{name, row[0], advised, row[1], row[2], evidence, why})
		}
	}
	tail := l.Of(a.Logs.Words()) + "\n"
	if !note.IsZero() {
		tail += w.say("note: %s\n", "说明：%s\n", note)
	}
	_, err := fmt.Fprintf(w.stdout, "%s\n%s", aligned(table), tail)
	return err
}

// nowAndThen are the TTL in force, and old share and calls under it and the advised one.
func nowAndThen(v *advise.View, l i18n.Language) []string {
	row := []string{"", "", ""}
	for i := range v.Rules {
		if r := &v.Rules[i]; r.Present {
			row = rowOf(r, l)
		}
	}
	for i := range v.Rules {
		if r := &v.Rules[i]; v.Advised != nil && r.TTL == *v.Advised && !r.Present {
			for column, then := range rowOf(r, l) {
				if column > 0 && row[column] != then {
					row[column] += " → " + then
				}
			}
		}
	}
	return row
}

// eachRule are each TTL with what it leads to.
func eachRule(v *advise.View, l i18n.Language) (rows [][]string) {
	for i := range v.Rules {
		row := rowOf(&v.Rules[i], l)
		if v.Rules[i].Present {
			row[0] += l.Say(" (present)", "（当前）")
		}
		rows = append(rows, row)
	}
	return rows
}

// rowOf are TTL, old share and calls.
func rowOf(r *advise.RuleView, l i18n.Language) []string {
	band := func(is, low, high string) string {
		return l.Of(words.Sayf("%s (%s to %s)", "%s（%s 到 %s）", is, low, high))
	}
	old := "-"
	switch {
	case r.Older == nil:
	case r.AtMost:
		old = l.Say("up to ", "至多 ") + percent(*r.OlderHigh)
	default:
		old = band(percent(*r.Older), percent(*r.OlderLow), percent(*r.OlderHigh))
	}
	return []string{ttlText(r.TTL), old, band(figure(r.Calls), figure(r.CallsLow), figure(r.CallsHigh))}
}

func advisedText(v *advise.View, l i18n.Language) string {
	if v.Advised == nil {
		return l.Say("none", "无")
	}
	return ttlText(*v.Advised)
}

// whyText is the reason, and the hint of a daily edition.
func whyText(v *advise.View) words.Text {
	reason := words.Say(v.Reason, v.ReasonZH)
	if v.Edition == nil {
		return reason
	}
	const clock = "15:04"
	return words.Sayf("%s; its content seems to change once a day, from %s to %s UTC: an until would need one call a day",
		"%s；看来每天在 %s 到 %s 之间更新，时区 UTC：用时间表（until），每天调用一次就够了",
		reason, v.Edition.From.UTC().Format(clock), v.Edition.To.UTC().Format(clock))
}

func evidenceText(e *advise.Evidence) words.Text {
	return words.Sayf("%d refreshes, %d changes, %s days", "%d 次刷新，%d 次变化，%s 天", e.Refreshes, e.Changes, figure(e.Days))
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
