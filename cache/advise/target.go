package advise

import (
	"math"
	"strconv"
	"strings"

	"sundry/metrics/words"
)

// Target is what an operator wants: at most so many old answers, or at most so many calls.
type Target struct {
	// Old is the old share, more than 0 and less than 1; 0 means that calls are the target.
	Old float64
	// Calls to upstreams an hour; 0 means that the old share is.
	Calls float64
}

// Default is the target where none is declared.
func Default() Target { return Target{Old: 0.02} }

var errTarget = words.NewError("expected old=2% (at most so many old answers) or calls=100/h (at most so many upstream calls an hour)",
	"应为 old=2%（旧响应至多这么多）或 calls=100/h（每小时上游调用至多这么多次）")

// ParseTarget reads old=2% or calls=100/h.
func ParseTarget(text string) (Target, error) {
	name, value, _ := strings.Cut(strings.TrimSpace(text), "=")
	t, err := TargetOf(name, value)
	if err != nil {
		return Target{}, words.Errorf("target %q: %s", "%q：%s", text, errTarget.Words())
	}
	return t, nil
}

// TargetOf reads the value of old, such as 2%, or of calls, such as 100/h.
func TargetOf(name, value string) (Target, error) {
	number, percent := strings.CutSuffix(value, "%")
	number, hourly := strings.CutSuffix(number, "/h")
	n, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || math.IsNaN(n) || n <= 0:
	case name == "old" && percent && !hourly && n < 100:
		return Target{Old: n / 100}, nil
	case name == "calls" && hourly && !percent && n <= 1e9:
		return Target{Calls: n}, nil
	}
	return Target{}, errTarget
}

// String is what ParseTarget reads.
func (t Target) String() string {
	if t.Old > 0 {
		return "old=" + strconv.FormatFloat(t.Old*100, 'g', 6, 64) + "%"
	}
	return "calls=" + strconv.FormatFloat(t.Calls, 'g', -1, 64) + "/h"
}
