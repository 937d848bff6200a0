package proxy

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"

	"sundry/cache"
	"sundry/metrics/words"
	"sundry/proxy/site/i18n"
	"sundry/upstreams"
)

func messageOf(t *testing.T, a answer) string {
	t.Helper()
	var doc struct{ Message string }
	if err := json.Unmarshal([]byte(a.body), &doc); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return doc.Message
}

func TestErrorsAreInTheCallersLanguage(t *testing.T) {
	f := newFront(t, nil, replaying("kd"))
	const en, zh = "parameter id is missing; expected 6 to 40 letters and digits, for example id=YT0000000000001",
		"缺少参数 id；应为 6 到 40 位字母和数字，例如 id=YT0000000000001"
	for _, row := range []struct{ query, accept, message, language, vary string }{
		{"", "", zh, "zh-CN", "Accept-Language"},
		{"", "en-GB,zh;q=0.5", en, "en", "Accept-Language"},
		{"", "zh-CN,zh;q=0.9", zh, "zh-CN", "Accept-Language"},
		{"", "zh-TW,en;q=0.1", zh, "zh-CN", "Accept-Language"},
		{"", "fr", en, "en", "Accept-Language"},
		{"lang=zh", "en", zh, "zh-CN", ""},
		{"lang=en", "zh", en, "en", ""},
		{"lang=ja", "zh", zh, "zh-CN", "Accept-Language"},
	} {
		a := f.get("/api/kd?"+row.query, "Accept-Language", row.accept)
		a.want(t, http.StatusBadRequest, `"type":"missing_parameter"`)
		if got := messageOf(t, a); got != row.message {
			t.Errorf("%+v: %q", row, got)
		}
		if got := a.Header.Get("Content-Language"); got != row.language {
			t.Errorf("%+v: Content-Language %q", row, got)
		}
		if got := a.Header.Get("Vary"); got != row.vary {
			t.Errorf("%+v: Vary %q", row, got)
		}
	}
	if text := f.get("/api/kd?type=text&lang=zh"); text.body != zh+"\n" {
		t.Errorf("as text: %q", text.body)
	}
	f.get("/api/nope?lang=zh").want(t, http.StatusNotFound, "没有这个接口")
}

// What is cached of a negative answer is one entry for all languages.
func TestNegativeAnswersAreCachedOnceForAllLanguages(t *testing.T) {
	f := newFront(t, nil, replaying("music"))
	const path = "/api/music?mid=404404"
	first, second, third := f.get(path, "Accept-Language", "en"), f.get(path, "Accept-Language", "zh"), f.get(path+"&lang=zh")
	first.want(t, http.StatusNotFound, "no public playlist has the ID 404404")
	second.want(t, http.StatusNotFound, "没有 ID 为 404404 的公开歌单")
	third.want(t, http.StatusNotFound, "没有 ID 为 404404 的公开歌单")
	first.header(t, "Cache-Status", "fwd=uri-miss; stored")
	for _, a := range []answer{second, third} {
		a.header(t, "Cache-Status", "sundry; hit")
	}
	second.header(t, "Vary", "Accept, Accept-Language")
	if got := third.Header.Get("Vary"); got != "Accept" {
		t.Errorf("the query decided, but Vary is %q", got)
	}
}

// An answer has no language: the choice is no part of its key, and it varies by none.
func TestAnswersDoNotVaryByLanguage(t *testing.T) {
	f := newFront(t, nil, replaying("60s"))
	first, second := f.get("/api/60s?lang=en", "Accept-Language", "en"), f.get("/api/60s?lang=zh", "Accept-Language", "zh")
	first.want(t, http.StatusOK)
	second.header(t, "Cache-Status", "sundry; hit")
	if first.body != second.body || strings.Contains(second.Header.Get("Vary"), "Language") || second.Header.Get("Content-Language") != "" {
		t.Errorf("%v", second.Header)
	}
}

// TestEveryFailureHasBothLanguages is about the texts of this package; those of the
// parameters and of the catalog's files have tests of their own.
func TestEveryFailureHasBothLanguages(t *testing.T) {
	ctx := t.Context()
	failures := map[string]*failure{
		"overloaded": overloaded(), "limited": limited(time.Second), "internal": internalFailure(nil), "loop": loopDetected(),
		"shed": classify(ctx, errShed), "busy": classify(ctx, cache.ErrBusy),
	}
	for kind := upstreams.Internal; ; kind++ {
		if _, ok := upstreams.ParseErrorKind(kind.String()); !ok {
			break
		}
		if kind != upstreams.Invalid { // its words are those of the error
			failures[kind.String()] = classify(ctx, &upstreams.Error{Kind: kind})
		}
	}
	for name, f := range failures {
		checkLanguages(t, name, f.message)
	}
	f := newFront(t, nil, replaying("60s"))
	for name, of := range map[string]func(accept string) answer{
		"method": func(accept string) answer {
			return f.do(t.Context(), http.MethodPost, "/api/60s", "Accept-Language", accept)
		},
		"no endpoint":  func(accept string) answer { return f.get("/api/12345", "Accept-Language", accept) },
		"no such page": func(accept string) answer { return f.get("/nope", "Accept-Language", accept) },
	} {
		checkLanguages(t, name, words.Say(messageOf(t, of("en")), messageOf(t, of("zh"))))
	}
}

// checkLanguages accepts English without Chinese characters, and Chinese with them, and
// with no words but names.
func checkLanguages(t *testing.T, name string, message words.Both) {
	t.Helper()
	en, zh := i18n.English.Of(message), i18n.Chinese.Of(message)
	if en == "" || strings.ContainsFunc(en, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		t.Errorf("%s: English: %q", name, en)
	}
	if !strings.ContainsFunc(zh, func(r rune) bool { return unicode.Is(unicode.Han, r) }) || strings.ContainsFunc(strings.NewReplacer("GET", "", "HEAD", "", "OPTIONS", "", "POST", "").Replace(zh), isASCIILetter) {
		t.Errorf("%s: Chinese: %q", name, zh)
	}
}

func isASCIILetter(r rune) bool { return r < unicode.MaxASCII && unicode.IsLetter(r) }

// TestWhoAsksForNoLanguageGetsThatOfTheOperator: pages, messages and labels, by net/http and in the
// lane; who asks for one gets that.
func TestWhoAsksForNoLanguageGetsThatOfTheOperator(t *testing.T) {
	f := newFront(t, nil, replaying("ip"), func(c *Config, _ *upstreams.Environment) { c.Languages = i18n.Rule{English: true} })
	f.get("/").want(t, http.StatusOK, `<html lang="en"`)
	f.get("/nope", "Accept", acceptPage).want(t, http.StatusNotFound, `<html lang="en"`)
	f.get("/api/ip?ip=x").want(t, http.StatusBadRequest, "is not an IP address")
	for range 4 { // at last in the lane, if there is one
		f.get("/api/ip?ip=8.8.8.8&type=text").want(t, http.StatusOK, "Location: ")
		f.get("/api/ip?ip=8.8.8.8&type=text", "Accept-Language", "zh").want(t, http.StatusOK, "归属地：")
	}
	f.get("/", "Accept-Language", "zh-CN").want(t, http.StatusOK, `<html lang="zh-CN"`)
}
