package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

// scale is how much faster than in production the rules judge in a test.
type scale int64

const (
	// minutes are scaled to seconds. A day is 24 minutes.
	minutes scale = 60
	// halfMinutes are scaled to seconds. With the race detector, a scrape of several instances at once takes longer than minutes allow.
	halfMinutes scale = 30
	// hours are scaled to ten seconds, for the alerts that judge days.
	hours scale = 360
)

// of returns a duration of the rules in the test.
func (s scale) of(d time.Duration) time.Duration { return d / time.Duration(s) }

// ruleSeconds is a number in the expression of an alert that is a time in seconds.
type ruleSeconds struct {
	alert, number string
	least         time.Duration
	why           string
}

// seconds are the numbers in the expressions of the rules that are times, by alert. least bounds
// them where what they are compared with has a pace of its own, which is not scaled.
var seconds = []ruleSeconds{
	{"SundrySettingsUnread", "120", 10 * time.Second, "an instance reads the settings every three seconds"},
	{"SundryStaleForLong", "21600", 0, ""},
	{"SundryEditionLate", "43200", 0, ""},
}

// counts are the numbers of sixty and more in expressions that are no times.
var counts = map[string]bool{"100": true, "1000": true, "1e18": true}

var (
	ruleTimes = regexp.MustCompile(`(for: |interval: |\[|offset )(\d+)([smhd])\b`)
	anyTime   = regexp.MustCompile(`\b\d+(?:ms|[smhdwy])\b`)
	anyNumber = regexp.MustCompile(`(?:^|[^\w.])(\d+(?:e\d+)?)\b`)
)

var timeUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}

// ruleTime reads a duration as Prometheus writes it.
func ruleTime(number, unit string) time.Duration {
	n, _ := strconv.Atoi(number)
	return time.Duration(n) * timeUnits[unit]
}

// scaledRules returns the rules with all times divided by the scale, and what could not be scaled.
func scaledRules(text string, s scale) (scaled string, mistakes []string) {
	scaled = ruleTimes.ReplaceAllStringFunc(text, func(found string) string {
		m := ruleTimes.FindStringSubmatch(found)
		return fmt.Sprintf("%s%dms", m[1], s.of(ruleTime(m[2], m[3])).Milliseconds())
	})
	blocks := regexp.MustCompile(`(?m)^ +- (?:alert|record): `).Split(scaled, -1)
	for _, row := range seconds {
		n, _ := strconv.Atoi(row.number)
		to := strconv.FormatFloat(max(s.of(time.Duration(n)*time.Second), row.least).Seconds(), 'f', -1, 64)
		i := slices.IndexFunc(blocks, func(b string) bool { return strings.HasPrefix(b, row.alert+"\n") })
		if i < 0 || strings.Count(blocks[i], row.number) != 1 {
			mistakes = append(mistakes, fmt.Sprintf("%s does not have %s once", row.alert, row.number))
			continue
		}
		scaled = strings.Replace(scaled, blocks[i], strings.Replace(blocks[i], row.number, to, 1), 1)
	}
	return scaled, append(mistakes, unscaled(text, scaled)...)
}

// unscaled are the times and numbers in rules that scaledRules does not know.
func unscaled(before, after string) (mistakes []string) {
	for _, r := range rulesOf(after) {
		for _, found := range anyTime.FindAllString(r.Expr, -1) {
			if !strings.HasSuffix(found, "ms") {
				mistakes = append(mistakes, fmt.Sprintf("%s%s: %s is not scaled", r.Alert, r.Record, found))
			}
		}
	}
	for _, r := range rulesOf(before) {
		for _, m := range anyNumber.FindAllStringSubmatch(anyTime.ReplaceAllString(r.Expr, ""), -1) {
			n, err := strconv.ParseFloat(m[1], 64)
			isTime := slices.ContainsFunc(seconds, func(row ruleSeconds) bool { return row.alert == r.Alert && row.number == m[1] })
			if err != nil || n >= 60 && !counts[m[1]] && !isTime {
				mistakes = append(mistakes, fmt.Sprintf("%s%s: is %s a time? Add it to seconds or to counts", r.Alert, r.Record, m[1]))
			}
		}
	}
	return mistakes
}

// rulesOf reads the rules of a file.
func rulesOf(text string) (all []alertRule) {
	var file struct {
		Groups []struct {
			Rules []alertRule `yaml:"rules"`
		} `yaml:"groups"`
	}
	if yaml.Load([]byte(text), &file) != nil {
		return nil
	}
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// TestRulesScale: every time of every rule is known to the test that scales them, and one that is not is noticed.
func TestRulesScale(t *testing.T) {
	t.Parallel()
	text := readSample(t, "rules/sundry.yml")
	for _, s := range []scale{minutes, hours} {
		scaled, mistakes := scaledRules(text, s)
		for _, m := range mistakes {
			t.Error(m)
		}
		if len(rulesOf(scaled)) != len(rules(t)) {
			t.Errorf("scale %d: %d rules of %d", s, len(rulesOf(scaled)), len(rules(t)))
		}
	}
	for what, change := range map[string][2]string{
		"a subquery":     {"[20m])", "[20m:1m])"},
		"another number": {"> 120", "> 130"},
		"a new number":   {"< 0.1\n", "< 300\n"},
	} {
		changed := strings.Replace(text, change[0], change[1], 1)
		if _, mistakes := scaledRules(changed, minutes); changed == text || len(mistakes) == 0 {
			t.Errorf("%s is not noticed", what)
		}
	}
}
