package i18n

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAcceptLanguage(t *testing.T) {
	const other = Chinese
	for line, want := range map[string]Language{
		"":                                    other,
		"zh":                                  Chinese,
		"zh-CN,zh;q=0.9,en;q=0.8":             Chinese,
		"zh-TW,zh;q=0.9,en-US;q=0.8,en;q=0.7": Chinese,
		"zh-TW, en;q=0.5":                     Chinese, // however near English matches
		"zh-Hant,en":                          Chinese,
		"zh-Hant-HK;q=0.9,en;q=0.8":           Chinese,
		"zh-HK":                               Chinese,
		"zh-Hans-SG":                          Chinese,
		"zh-MO":                               Chinese,
		"ZH-cn":                               Chinese,
		"yue-HK":                              Chinese,
		"cmn":                                 Chinese,
		"en-US,en;q=0.5":                      English,
		"en;q=0.4,zh;q=0.6":                   Chinese,
		"zh;q=0.4,en;q=0.6":                   English,
		"fr-FR,fr;q=0.9,zh;q=0.4,en;q=0.3":    Chinese,
		"fr-FR,fr;q=0.9,en;q=0.4,zh;q=0.3":    English,
		"fr":                                  English, // rather than Chinese
		"*":                                   other,
		"zh;q=0":                              other,
		"zh;q=0,*":                            other,
		"zh ; q=0.5":                          Chinese,
		"zh;q=2":                              other,
		"zh;q=NaN":                            other,
		"zh;q=":                               other,
		"!!,zh":                               Chinese, // one bad item is no reason to drop the others
		",,,zh":                               Chinese,
		"zh-CN;level=1":                       other,
	} {
		if got := (Rule{}).accepted([]string{line}); got != want {
			t.Errorf("%q: got %v, want %v", line, got, want)
		}
	}
	for rule, want := range map[Rule]Language{{}: Chinese, {English: true}: English} {
		for _, lines := range [][]string{nil, {""}, {"*"}, {"zh;q=2"}} {
			if got := rule.accepted(lines); got != want {
				t.Errorf("%+v, %q: got %v, want %v", rule, lines, got, want)
			}
		}
		if got := rule.accepted([]string{"zh-CN"}); got != Chinese {
			t.Errorf("%+v: got %v for who reads Chinese", rule, got)
		}
	}
	if got := (Rule{}).accepted([]string{"fr", "zh"}); got != Chinese {
		t.Errorf("two lines: got %v", got)
	}
}

func TestTheQueryWins(t *testing.T) {
	header := http.Header{"Accept-Language": {"zh"}}
	for query, want := range map[string]Choice{
		"":                   {Chinese, "Accept-Language"},
		"lang=en":            {English, ""},
		"lang=EN":            {English, ""},
		"lang=en-US":         {English, ""},
		"lang=zh_TW":         {Chinese, ""},
		"id=1&lang=en&x=2":   {English, ""},
		"lang=en&lang=zh":    {English, ""},
		"lang=&lang=en":      {English, ""},
		"lang=fr":            {Chinese, "Accept-Language"},
		"lang=english":       {Chinese, "Accept-Language"},
		"lang=e":             {Chinese, "Accept-Language"},
		"lang":               {Chinese, "Accept-Language"},
		"slang=en&language=": {Chinese, "Accept-Language"},
	} {
		if got := (Rule{}).OfAnswer(query, header); got != want {
			t.Errorf("%q: got %v, want %v", query, got, want)
		}
	}
}

func TestPagesRememberTheLanguage(t *testing.T) {
	const vary = "Cookie, Accept-Language"
	for _, c := range []struct {
		query, cookie, accept string
		want                  Choice
	}{
		{"", "", "", Choice{Chinese, vary}},
		{"", "", "en", Choice{English, vary}},
		{"", "lang=zh", "en", Choice{Chinese, vary}},
		{"", "a=b; lang=en", "zh", Choice{English, vary}},
		{"", "lang=fr", "en", Choice{English, vary}},
		{"lang=zh", "lang=en", "en", Choice{Chinese, ""}},
	} {
		r := httptest.NewRequest(http.MethodGet, "/?"+c.query, nil)
		r.Header.Set("Cookie", c.cookie)
		r.Header.Set("Accept-Language", c.accept)
		if got := (Rule{}).OfPage(r); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

// What browsers send costs nothing on the heap, so that refusing a flood does not.
func TestCommonFieldsAreReadWithoutAllocation(t *testing.T) {
	header := http.Header{"Accept-Language": {"zh-CN,zh;q=0.9,en;q=0.8"}}
	if n := testing.AllocsPerRun(100, func() { (Rule{}).OfAnswer("id=1&type=json", header) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestHostileFieldsAreCut(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  Language // the last language is not read
	}{
		"long":    {[]string{strings.Repeat("a-", 1<<20) + ",en"}, Chinese},
		"many":    {[]string{strings.Repeat("fr,", 1<<18) + "zh"}, English},
		"weights": {[]string{strings.Repeat("fr;q=0.00001,", 1<<16) + "zh"}, English},
		"lines":   {[]string{"fr," + strings.Repeat("x", 1<<20), "zh"}, English},
	} {
		if n := len(preferences(c.lines)); n > mostItems {
			t.Errorf("%s: %d items", name, n)
		}
		if got := (Rule{}).accepted(c.lines); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func FuzzAcceptLanguage(f *testing.F) {
	for _, line := range []string{"zh-CN,zh;q=0.9", "en;q=0.1,zh", "*", "x-y-z;q=1e9", "zh-u-nu-latn-x-foo", "zh;q=\x00"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if got := (Rule{}).accepted([]string{line}); got > Chinese {
			t.Errorf("%q: %d is no language", line, got)
		}
		// What is known by heart is what reading it would have said.
		if prefs := preferences([]string{line}); len(prefs) > 0 && len(line) < longestLine {
			if first, _, _ := strings.Cut(line, ","); first == "zh-TW" || first == "en" {
				want, _ := Parse(first)
				if got := (Rule{}).accepted([]string{" " + line}); got != want {
					t.Errorf("%q: got %v, want %v", line, got, want)
				}
			}
		}
		(Rule{}).OfAnswer(line, http.Header{"Accept-Language": {line}})
	})
}
