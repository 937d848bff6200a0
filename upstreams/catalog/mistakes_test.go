package catalog

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"sundry/metrics/words"
	"sundry/upstreams/replay"
)

// TestEveryMistakeIsToldInBothLanguages makes mistakes in every parameter of every
// built-in endpoint.
func TestEveryMistakeIsToldInBothLanguages(t *testing.T) {
	told := map[string]bool{}
	for _, e := range mustLoad(t, replay.New(nil)).Endpoints {
		for _, p := range e.Params {
			for _, value := range []string{"", "0", "-1", "x", "zz!", "999999999", "2999-01-01", "1999-01-01", "ftp://a.example/", "https://u:p@a.example/", "https://a.example:8080/",
				"10.0.0.1", "localhost", "a b", "[::1", "a:b", "host:", "1.2", "0x7f", "xn--zz--", "https://www.douyin.com/", "https://a.example/x", strings.Repeat("长", 9000), "\xff"} {
				query := url.Values{p.Name: {value}}.Encode()
				_, bad := e.Parse(query, Caller{Addr: caller})
				if bad == nil || bad.Parameter != p.Name {
					continue
				}
				told[bad.wrong.EN()] = true
				checkMistake(t, p, query, bad)
			}
			if _, bad := e.Parse(p.Name+"=%zz", Caller{Addr: caller}); bad != nil {
				checkMistake(t, p, "%zz", bad)
			}
		}
	}
	if len(told) < 25 {
		t.Errorf("only %d different mistakes were made", len(told))
	}
	_, bad := mustLoad(t, replay.New(nil)).Endpoints[0].Parse(strings.Repeat("&", maxPairs), Caller{})
	if bad == nil || bad.ZH() != "查询串有 257 个参数；最多 256 个" {
		t.Error(bad)
	}
}

// latin finds words; names has those that Chinese sentences have as well.
var (
	latin = regexp.MustCompile(`[A-Za-z][A-Za-z]+`)
	names = []string{"http", "https", "IPv", "IP", "RGB", "RGBA", "UTF", "JavaScript", "CSS", "AcFun", "LOFTER", "Twitter", "TikTok", "Bluesky", "app", "show",
		"quote", "mc", "example", "org", "about"}
)

func checkMistake(t *testing.T, p *Param, query string, bad *ParamError) {
	t.Helper()
	en, zh := bad.EN(), bad.ZH()
	for _, text := range []string{en, zh} {
		if strings.Contains(text, "%!") || !strings.Contains(text, p.Name+"="+p.Example) {
			t.Errorf("%s: %s", query, text)
		}
	}
	ours := strings.NewReplacer(p.Name+"="+p.Example, "", words.Names(p.Spec.Enum...).EN(), "", words.Names(p.Spec.Enum...).ZH(), "", p.Name, "", "“"+bad.value+"”", "", `"`+bad.value+`"`, "")
	if rest := ours.Replace(en); strings.ContainsFunc(rest, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		t.Errorf("%s: Chinese in English: %s", query, en)
	}
	for _, word := range latin.FindAllString(ours.Replace(zh), -1) {
		if !slices.Contains(names, word) && !strings.Contains(bad.value, word) && !strings.Contains(words.Names(bad.value).EN(), word) && !isHex(word) {
			t.Errorf("%s: English (%s) in Chinese: %s", query, word, zh)
		}
	}
	if !strings.ContainsFunc(zh, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		t.Errorf("%s: no Chinese: %s", query, zh)
	}
}

func isHex(word string) bool { return strings.Trim(word, "abcdef") == "" }

// Every built-in file says all in both languages.
func TestBuiltinsAreInBothLanguages(t *testing.T) {
	for _, e := range mustLoad(t, replay.New(nil)).Endpoints {
		if e.notFound.en != nil && e.notFound.en == e.notFound.zh {
			t.Errorf("%s: not_found: expected {en: …, zh: …}", e.Name)
		}
		if e.EN == e.ZH || e.Title.EN() == e.Title.ZH() {
			t.Errorf("%s: title or summary: expected {en: …, zh: …}", e.Name)
		}
		for _, p := range e.Params {
			if p.EN == p.ZH && p.EN != "" {
				t.Errorf("%s: param %s: summary: expected {en: …, zh: …}", e.Name, p.Name)
			}
		}
	}
}

// A file may be of one language: what it says in it stands for both.
func TestOneLanguage(t *testing.T) {
	for _, own := range []string{"A joke.", "{en: A joke.}", "{zh: A joke.}"} {
		e := wholeOf(t, strings.NewReplacer("{en: Whole., zh: 完整}", own, "role: form,", "role: form, summary: "+own+",",
			"group: text", "group: {name: tools, zh: Tools}", "cache:", "fields: {n: {en: N.}}\ncache:").Replace(whole)+"not_found: {zh: '\"x\"'}\n")
		in, _ := e.Parse("n=1", Caller{})
		got := [][2]string{{e.EN, e.ZH}, {e.Title.EN(), e.Title.ZH()}, {e.Params[1].EN, e.Params[1].ZH}, {e.group.EN, e.group.ZH}, {e.Fields[0].EN, e.Fields[0].ZH}}
		want := [][2]string{{"A joke.", "A joke."}, {"A joke", "A joke"}, {"A joke.", "A joke."}, {"Tools", "Tools"}, {"N.", "N."}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", own, diff)
		}
		if said := e.NotFound(t.Context(), in.Call(time.Now())); said != words.Name("x") {
			t.Errorf("%s: %v", own, said)
		}
	}
}

func TestNotFoundMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"not_found: {}":                        "expected a jq program for each language",
		"not_found: [a]":                       "not_found: expected",
		"not_found: {en: '\"x\"', zh: '.a |'}": "the program ends too early",
	} {
		_, err := loadText(t, whole+text+"\n")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	e := wholeOf(t, whole+"not_found: '\"x\"'\n")
	in, _ := e.Parse("n=1", Caller{})
	if got := e.NotFound(t.Context(), in.Call(time.Now())); got != words.Name("x") {
		t.Errorf("one program for both: %q", got.ZH())
	}
}

// A link's own query is no place to choose the language of errors, and an endpoint that declares
// the parameter keeps it.
func TestLanguageQuery(t *testing.T) {
	c := mustLoad(t, replay.New(nil))
	e, _ := c.Get("dwzrec")
	for query, want := range map[string]bool{
		"lang=zh&url=https://a.example/?x=1":  true,
		"url=https://a.example/?x=1&lang=zh":  false,
		"url=https%3A%2F%2Fa.example&lang=zh": true,
	} {
		if got := slices.Contains(strings.Split(e.LanguageQuery(query), "&"), "lang=zh"); got != want {
			t.Errorf("%s: %s", query, e.LanguageQuery(query))
		}
	}
	own, err := loadText(t, strings.NewReplacer("name: n,", "name: lang,", "$params.n", "$params.lang").Replace(whole))
	if err != nil {
		t.Fatal(err)
	}
	e, _ = own.Get("whole")
	if got := e.LanguageQuery("lang=1"); got != "" {
		t.Errorf("its own parameter: %s", got)
	}
}
