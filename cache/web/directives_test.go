package web

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// of is an argument of so many seconds.
func of(n int64) Argument {
	return Argument{Given: true, Valid: true, For: time.Duration(n) * time.Second}
}

func TestParseDirectives(t *testing.T) {
	invalid := Argument{Given: true}
	for line, want := range map[string]Directives{
		"":                                   {},
		"max-age=3600":                       {MaxAge: of(3600)},
		"MaX-aGe=3600, pUbLic":               {MaxAge: of(3600), Public: true},
		`max-age="3600"`:                     {MaxAge: of(3600)},
		"max-age=99999999999999999999":       {MaxAge: of(maxSeconds)},
		"max-age=-1":                         {MaxAge: invalid},
		"max-age='3600'":                     {MaxAge: invalid},
		"max-age=3600.0":                     {MaxAge: invalid},
		"max-age=3600a":                      {MaxAge: invalid},
		"max-age=":                           {MaxAge: invalid},
		"max-age":                            {MaxAge: invalid},
		"max-age =1":                         {},
		"max-age=1, max-age=3600":            {MaxAge: of(1)},
		`extension="max-age=3600", no-cache`: {NoCache: true},
		`extension="a\", max-age=1", public`: {Public: true},
		`no-cache="a, B", private="c"`:       {NoCacheFields: []string{"a", "b"}, PrivateFields: []string{"c"}},
		"no-cache=":                          {NoCache: true},
		"max-stale":                          {MaxStale: Argument{Given: true, Valid: true, For: anyTime}},
		"max-stale=5, min-fresh=3":           {MaxStale: of(5), MinFresh: of(3)},
		"s-maxage=1,,stale-while-revalidate=2,\tstale-if-error=3": {SMaxAge: of(1), StaleWhileRevalidate: of(2), StaleIfError: of(3)},
		"no-store, must-understand, must-revalidate, proxy-revalidate, no-transform, only-if-cached, immutable": {
			NoStore: true, MustUnderstand: true, MustRevalidate: true, ProxyRevalidate: true, OnlyIfCached: true, Immutable: true},
	} {
		if diff := cmp.Diff(want, ParseDirectives([]string{line})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	}
	if d := ParseDirectives([]string{"max-age=1", "max-age=2, public"}); d.MaxAge != of(1) || !d.Public {
		t.Errorf("on two lines: %+v", d)
	}
}

func TestRequestDirectives(t *testing.T) {
	for _, row := range []struct {
		h       http.Header
		noCache bool
	}{
		{http.Header{"Pragma": {"x, No-Cache"}}, true},
		{http.Header{"Pragma": {"no-cache"}, "Cache-Control": {"max-age=1"}}, false},
		{http.Header{"Pragma": {"x"}}, false},
	} {
		if d := RequestDirectives(row.h); d.NoCache != row.noCache {
			t.Errorf("%v: %+v", row.h, d)
		}
	}
}

// TestTargetedFields stand in the place of Cache-Control where they are valid, whole.
func TestTargetedFields(t *testing.T) {
	targets := []string{"Sundry-Cache-Control", "Cdn-Cache-Control"}
	for line, want := range map[string]*Directives{
		"max-age=600":                   {MaxAge: of(600)},
		"max-age=600;x=y, no-store":     {MaxAge: of(600), NoStore: true},
		"no-store=?0, max-age=1":        {MaxAge: of(1)},
		`private="a b", max-age=1`:      {MaxAge: of(1), PrivateFields: []string{"a b"}},
		"max-age=0, unknown=(1 2), x=1": nil, // an inner list is no value of a directive
		"max-age=-1":                    nil,
		"max-age=1.5":                   nil,
		`max-age="1"`:                   nil,
		"MaX-aGe=1":                     nil,
		"no-store=1":                    nil,
		"":                              nil,
		"&&&":                           nil,
	} {
		h := http.Header{"Cdn-Cache-Control": {line}, "Cache-Control": {"max-age=5"}}
		d, targeted := responseDirectives(h, targets)
		switch {
		case want == nil && (targeted || d.MaxAge != of(5)):
			t.Errorf("%q counts: %+v", line, d)
		case want != nil:
			if diff := cmp.Diff(*want, d); diff != "" || !targeted {
				t.Errorf("%q (-want +got):\n%s", line, diff)
			}
		}
	}
	h := http.Header{"Cdn-Cache-Control": {"max-age=1"}, "Sundry-Cache-Control": {"max-age=2"}}
	if d, _ := responseDirectives(h, targets); d.MaxAge != of(2) {
		t.Errorf("the first target does not count: %+v", d)
	}
}
