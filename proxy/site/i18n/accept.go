package i18n

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"
)

// Bounds of what is read of Accept-Language. Browsers send fewer than ten languages.
const (
	longestLine = 256 // of all lines together, in bytes; what follows is not read
	mostItems   = 24
)

// Who reads which language is the matcher's to say. All written Chinese is one to us,
// but not to it.
var (
	supported = []language.Tag{
		language.English, language.SimplifiedChinese, language.TraditionalChinese, language.MustParse("zh-HK"), language.MustParse("yue"),
	}
	matcher = language.NewMatcher(supported)
)

// accepted chooses by the lines of Accept-Language. What common browsers send first
// decides without more ado. Who reads neither language is more likely to know some English.
func (r Rule) accepted(lines []string) Language {
	if len(lines) == 0 || lines[0] == "" {
		return r.Default()
	}
	first, _, _ := strings.Cut(lines[0], ",")
	switch first {
	case "zh", "zh-CN", "zh-TW", "zh-HK":
		return Chinese
	case "en", "en-US", "en-GB":
		return English
	}
	read := preferences(lines)
	for _, p := range read {
		if _, i, confidence := matcher.Match(p.tag); confidence > language.No {
			return ofSupported(i)
		}
	}
	if len(read) > 0 {
		return English
	}
	return r.Default()
}

// ofSupported is the language of the tag at that place in supported.
func ofSupported(i int) Language {
	if supported[i] == language.English {
		return English
	}
	return Chinese
}

// preference is an item of Accept-Language.
type preference struct {
	tag    language.Tag
	weight float64
}

// preferences are what the lines accept, the dearest first. Items that are not
// understood are left out.
func preferences(lines []string) []preference {
	line := strings.Join(lines[:min(len(lines), mostItems)], ",")
	if len(line) > longestLine {
		line = line[:strings.LastIndexByte(line[:longestLine], ',')+1]
	}
	var all []preference
	for _, item := range strings.SplitN(line, ",", mostItems) {
		if p, ok := parseItem(item); ok {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b preference) int { return cmp.Compare(b.weight, a.weight) })
	return all
}

// parseItem reads an item such as "zh-CN;q=0.8". One with the weight 0 is refused by
// the caller, so ok is false.
func parseItem(item string) (p preference, ok bool) {
	name, params, weighted := strings.Cut(item, ";")
	tag, err := language.Parse(strings.TrimSpace(name))
	if err != nil {
		return p, false
	}
	p = preference{tag: tag, weight: 1}
	if weighted {
		q, found := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q=")
		if p.weight, err = strconv.ParseFloat(q, 64); err != nil || !found {
			return p, false
		}
	}
	return p, p.weight > 0 && p.weight <= 1
}
