package web

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// fields is a header of "name: value" lines. {-10} in a value is the date ten seconds before noon.
func fields(lines ...string) http.Header {
	h := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		if rest, ok := strings.CutPrefix(value, "{"); ok {
			d, err := time.ParseDuration(strings.TrimSuffix(rest, "}") + "s")
			if err != nil {
				panic(err)
			}
			value = noon.Add(d).Format(http.TimeFormat)
		}
		h.Add(name, value)
	}
	return h
}

// received is a response that was asked for and received at noon.
func received(status int, lines ...string) *Response {
	return &Response{Status: status, Header: fields(lines...), Requested: noon, Received: noon}
}

var usualRules = Rules{Targets: []string{"Cdn-Cache-Control"}, HeuristicShare: 0.1, HeuristicMost: 24 * time.Hour}

func TestLifetime(t *testing.T) {
	withDefaults := usualRules
	withDefaults.Default, withDefaults.Most = map[int]time.Duration{200: time.Minute}, time.Hour
	for _, row := range []struct {
		status   int
		lines    string
		rules    *Rules
		lifetime time.Duration
		explicit bool
	}{
		{200, "", &usualRules, 0, false},
		{200, "Cache-Control: max-age=60", &usualRules, time.Minute, true},
		{200, "Cache-Control: s-maxage=60, max-age=5", &usualRules, time.Minute, true},
		{200, "Cache-Control: max-age=x|Expires: {100}|Date: {0}", &usualRules, 0, true},
		{200, "Expires: {100}|Date: {-10}", &usualRules, 110 * time.Second, true},
		{200, "Expires: {100}", &usualRules, 100 * time.Second, true},
		{200, "Expires: 0", &usualRules, 0, true},
		{200, "Expires: Fri, 31 Dec 9999 23:59:59 GMT|Date: {0}", &usualRules, anyTime, true},
		{200, "Expires: {-100}|Date: {0}", &usualRules, 0, true},
		{200, "Cache-Control: max-age=60|CDN-Cache-Control: public|Expires: {100}", &usualRules, 0, false},
		{200, "Last-Modified: {-1000}|Date: {0}", &usualRules, 100 * time.Second, false},
		{200, "Last-Modified: {-100000000}|Date: {0}", &usualRules, 24 * time.Hour, false},
		{200, "Last-Modified: {1000}|Date: {0}", &usualRules, 0, false},
		{201, "Last-Modified: {-1000}|Date: {0}", &usualRules, 0, false},
		{201, "Cache-Control: public|Last-Modified: {-1000}|Date: {0}", &usualRules, 100 * time.Second, false},
		{200, "", &withDefaults, time.Minute, false},
		{200, "Last-Modified: {-1000}|Date: {0}", &withDefaults, time.Minute, false},
		{404, "", &withDefaults, 0, false},
		{200, "Cache-Control: max-age=86400", &withDefaults, time.Hour, true},
	} {
		terms := TermsOf(received(row.status, split(row.lines)...), row.rules)
		if terms.Lifetime != row.lifetime || terms.Explicit != row.explicit {
			t.Errorf("%d %s: %v %v, want %v %v", row.status, row.lines, terms.Lifetime, terms.Explicit, row.lifetime, row.explicit)
		}
	}
}

func split(lines string) []string {
	if lines == "" {
		return nil
	}
	return strings.Split(lines, "|")
}

func TestAge(t *testing.T) {
	for lines, want := range map[string]time.Duration{
		"":                        0,
		"Date: {-30}":             30 * time.Second,
		"Date: {30}":              0,
		"Age: 100":                100 * time.Second,
		"Age: 100|Date: {-300}":   300 * time.Second,
		"Age: 7200, 0":            7200 * time.Second,
		"Age: 0, 7200":            0,
		"Age: abc":                0,
		"Age: -7200":              0,
		"Age: 7200.0":             0,
		"Age: 7200|Age: 0":        7200 * time.Second,
		"Date: yesterday|Age: 10": 10 * time.Second,
	} {
		terms := TermsOf(received(200, split(lines)...), &usualRules)
		if got := terms.Age(noon); got != want {
			t.Errorf("%s: %v, want %v", lines, got, want)
		}
		if got := terms.Age(noon.Add(5 * time.Second)); got != want+5*time.Second {
			t.Errorf("%s: %v after 5 s", lines, got)
		}
	}
	slow := received(200, "Age: 10")
	slow.Requested = noon.Add(-3 * time.Second)
	if terms := TermsOf(slow, &usualRules); terms.Age(noon) != 13*time.Second {
		t.Errorf("the time that it took counts as its age: %v", terms.Age(noon))
	}
}

func TestJudge(t *testing.T) {
	for _, row := range []struct {
		response, request string
		after             int
		want              Verdict
	}{
		{"max-age=10", "", 9, Reuse},
		{"max-age=10", "", 10, Validate},
		{"max-age=10", "only-if-cached", 9, Reuse},
		{"max-age=10", "only-if-cached", 10, Refuse},
		{"max-age=10, no-cache", "", 1, Validate},
		{`max-age=10, no-cache="a"`, "", 1, Reuse},
		{"max-age=10", "no-cache", 1, Validate},
		{"max-age=10", "max-age=5", 5, Reuse},
		{"max-age=10", "max-age=5", 6, Validate},
		{"max-age=10", "max-age=0", 1, Validate},
		{"max-age=10, immutable", "max-age=0", 1, Reuse},
		{"max-age=10, immutable", "max-age=0", 10, Validate},
		{"max-age=10, immutable", "no-cache", 1, Validate},
		{"max-age=10", "min-fresh=5", 5, Reuse},
		{"max-age=10", "min-fresh=5", 6, Validate},
		{"max-age=10", "max-stale", 1000, Reuse},
		{"max-age=10", "max-stale=5", 15, Reuse},
		{"max-age=10", "max-stale=5", 16, Validate},
		{"max-age=10, must-revalidate", "max-stale", 11, Validate},
		{"max-age=10, proxy-revalidate", "max-stale", 11, Validate},
		{"s-maxage=10", "max-stale", 11, Validate},
		{"max-age=10, stale-while-revalidate=5", "", 14, ReuseAndRefresh},
		{"max-age=10, stale-while-revalidate=5", "", 15, Validate},
		{"s-maxage=10, stale-while-revalidate=5", "", 14, ReuseAndRefresh},
		{"max-age=10, must-revalidate, stale-while-revalidate=5", "", 14, Validate},
	} {
		terms := TermsOf(received(200, "Cache-Control: "+row.response), &usualRules)
		request := ParseDirectives([]string{row.request})
		if got := terms.Judge(&request, noon.Add(time.Duration(row.after)*time.Second)); got != row.want {
			t.Errorf("%q for %q after %d s: %d, want %d", row.response, row.request, row.after, got, row.want)
		}
	}
}

func TestUsableInTrouble(t *testing.T) {
	rules := usualRules
	rules.StaleIfError = time.Minute
	for _, row := range []struct {
		response     string
		rules        *Rules
		after        int
		disconnected bool
		can          bool
	}{
		{"max-age=10", &usualRules, 11, true, true},
		{"max-age=10", &usualRules, 11, false, false},
		{"max-age=10", &rules, 69, false, true},
		{"max-age=10", &rules, 70, false, false},
		{"max-age=10, stale-if-error=5", &usualRules, 14, false, true},
		{"max-age=10, stale-if-error=5", &usualRules, 15, true, false},
		{"max-age=10, stale-if-error=0", &rules, 11, true, false},
		{"max-age=10, must-revalidate", &rules, 11, true, false},
		{"max-age=10, proxy-revalidate", &rules, 11, true, false},
		{"max-age=10, no-cache", &rules, 11, true, false},
		{"s-maxage=10", &rules, 11, true, false},
		{"s-maxage=10, stale-if-error=5", &usualRules, 11, true, true},
		{"max-age=0", &usualRules, 1, true, false},
		{"max-age=0, stale-if-error=5", &usualRules, 1, true, true},
		{"", &usualRules, 1, true, false},
		{"", &rules, 1, true, true},
	} {
		terms := TermsOf(received(200, "Cache-Control: "+row.response), row.rules)
		if got := terms.Usable(row.disconnected, noon.Add(time.Duration(row.after)*time.Second)); got != row.can {
			t.Errorf("%q after %d s, disconnected %v: %v", row.response, row.after, row.disconnected, got)
		}
	}
}
