package suitetest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// What the suite has at least, and how much of it is to be passed. The one test of what is optimal that is not passed,
// conditional-lm-fresh-no-lm, expects the opposite of RFC 9111, section 4.3.2.
const (
	required = 160
	optimal  = 104
)

// judge counts what is passed, and says what is not and why.
func judge(t *testing.T, tests []*test, verdicts map[string]*failure) {
	t.Helper()
	byID := map[string]*test{}
	for _, one := range tests {
		byID[one.ID] = one
	}
	var passes func(id string) bool
	passes = func(id string) bool {
		v, ran := verdicts[id]
		return ran && v == nil && !slices.ContainsFunc(byID[id].DependsOn, func(d string) bool { return !passes(d) })
	}
	count, passed := map[string]int{}, map[string]int{}
	var lines []string
	for _, one := range tests {
		count[one.kind()]++
		if passes(one.ID) {
			passed[one.kind()]++
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s", one.kind(), one.ID, verdicts[one.ID].explain()))
	}
	slices.Sort(lines)
	t.Logf("required %d of %d, optimal %d of %d, checks yes %d of %d\n%s", passed["required"], count["required"],
		passed["optimal"], count["optimal"], passed["check"], count["check"], strings.Join(lines, "\n"))
	switch alone := os.Getenv("SUNDRY_CACHE_TEST"); {
	case alone != "":
		if v, ran := verdicts[alone]; !ran || v != nil {
			t.Errorf("%s is not passed, whatever it depends on", alone)
		}
	case passed["required"] < max(required, count["required"]):
		t.Error("not all is passed that is required")
	case passed["optimal"] < optimal:
		t.Error("too little is passed of what is optimal")
	}
}

func (f *failure) explain() string {
	switch {
	case f == nil:
		return "depends on what is not passed"
	case f.setup:
		return "setup: " + f.why
	}
	return f.why
}
