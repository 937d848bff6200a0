// Package i18n decides in which language a caller is answered. It promises
// that every request gets one of the languages there are, whatever its fields hold,
// that what a hostile field costs is bounded, and that callers learn on which
// fields the decision depends, for Vary.
package i18n

import (
	"net/http"
	"net/url"
	"strings"

	"sundry/metrics/words"
)

// Language is one of those in which there are words. The zero value is English.
type Language uint8

// The languages.
const (
	English Language = iota
	Chinese
)

// Rule chooses languages. By the zero value, whoever asks for none gets Chinese: most are bots, whose
// users read it.
type Rule struct {
	English bool // whoever asks for none gets English
}

// Default is the language of whoever asks for none.
func (r Rule) Default() Language {
	if r.English {
		return English
	}
	return Chinese
}

// All returns every language.
func All() []Language { return []Language{English, Chinese} }

// String is the value that Parameter and Cookie have for the language: en or zh.
func (l Language) String() string { return l.Say("en", "zh") }

// Say chooses a text by the language.
func (l Language) Say(en, zh string) string {
	if l == Chinese {
		return zh
	}
	return en
}

// Of is what is said, in the language.
func (l Language) Of(t words.Both) string {
	if l == Chinese {
		return t.ZH()
	}
	return t.EN()
}

// Tag is the language as Content-Language and the attribute lang of HTML have it: en
// or zh-CN.
func (l Language) Tag() string { return l.Say("en", "zh-CN") }

// Names of what a caller says the language with.
const (
	// Parameter of the query. It wins over everything else.
	Parameter = "lang"
	// Cookie by which a browser remembers what its user chose on a page.
	Cookie = "lang"
)

// Parse reads what Parameter and Cookie may hold: zh, en, or a tag that begins so, such as
// zh-TW or en_GB, in any case. ok is false for anything else.
func Parse(value string) (l Language, ok bool) {
	if len(value) > 2 && value[2] != '-' && value[2] != '_' || len(value) < 2 {
		return English, false
	}
	switch {
	case strings.EqualFold(value[:2], "zh"):
		return Chinese, true
	case strings.EqualFold(value[:2], "en"):
		return English, true
	}
	return English, false
}

// Choice is the language of an answer, and what it depends on.
type Choice struct {
	Language
	// Vary has the names of the request fields on which the choice depends, as the
	// field Vary has them; "" if the query decided.
	Vary string
}

// OfAnswer chooses the language of an answer of the API: what the raw query says, else
// what the header accepts, else Default. Whoever owns a parameter of that name
// passes an empty query. What it does not understand counts as not said.
func (r Rule) OfAnswer(rawQuery string, header http.Header) Choice {
	return r.OfLines(rawQuery, header["Accept-Language"])
}

// OfLines is OfAnswer for the lines of Accept-Language.
func (r Rule) OfLines(rawQuery string, lines []string) Choice {
	if l, ok := asked(rawQuery); ok {
		return Choice{Language: l}
	}
	return Choice{Language: r.accepted(lines), Vary: "Accept-Language"}
}

// OfPage is OfAnswer for a page, where a choice that a browser remembers wins over
// what its header accepts.
func (r Rule) OfPage(req *http.Request) Choice {
	if l, ok := asked(req.URL.RawQuery); ok {
		return Choice{Language: l}
	}
	c := Choice{Vary: "Cookie, Accept-Language"}
	if l, ok := remembered(req); ok {
		c.Language = l
		return c
	}
	c.Language = r.accepted(req.Header["Accept-Language"])
	return c
}

// asked is what a query says: of several parameters of that name the first that
// is not empty counts.
func asked(rawQuery string) (l Language, ok bool) {
	for rest := rawQuery; rest != ""; {
		var pair string
		pair, rest, _ = strings.Cut(rest, "&")
		if value, named := strings.CutPrefix(pair, Parameter+"="); named && value != "" {
			if plain, err := url.QueryUnescape(value); err == nil {
				value = strings.TrimSpace(plain)
			}
			return Parse(value)
		}
	}
	return English, false
}

func remembered(r *http.Request) (l Language, ok bool) {
	c, err := r.Cookie(Cookie)
	if err != nil {
		return English, false
	}
	return Parse(c.Value)
}
