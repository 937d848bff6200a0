package catalog

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sundry/metrics/words"
	"sundry/upstreams/declare"
	"sundry/upstreams/lib/favicon"
	"sundry/upstreams/lib/geoip"
	"sundry/upstreams/lib/idcard"
	"sundry/upstreams/lib/minecraft"
	"sundry/upstreams/lib/qrcode"
	"sundry/upstreams/lib/sharelink"
	"sundry/upstreams/lib/shortlink"
	"sundry/upstreams/lib/tracking"
)

func (p *Param) setParser(s paramSpec, forms []string, problems *declare.Problems) {
	switch s.Role {
	case RoleInput:
		p.inputParser(s, problems)
	case RoleForm:
		p.formParser(s, forms, problems)
	case RoleCallback:
		p.Allowed = words.Say("a JavaScript identifier, or several joined by dots, up to 64 characters", "JavaScript 标识符，或用点号连接的几个标识符，最多 64 个字符")
		p.parse = matching(callbackPath, errNotFunction)
	case RoleTail:
		p.tailParser(s, problems)
	case RoleSelector:
		p.Allowed = words.Say("a CSS selector, up to 64 characters", "CSS 选择器，最多 64 个字符")
		p.parse = matching(selectorText, errNotSelector)
	}
}

func (p *Param) inputParser(s paramSpec, problems *declare.Problems) {
	switch s.Type {
	case "string":
		p.stringParser(s, problems)
	case "int":
		p.intParser(s, problems)
	case "digits":
		p.digitsParser(s, problems)
	case "date":
		p.dateParser(s, problems)
	default:
		if s.Type == "" {
			problems.Add(s.Name.Line, "param %s: expected the type of its values, for example type: string", p.Name)
		}
		kind := canonicalTypes()[s.Type]
		p.Allowed, p.parse = kind.allowed, kind.parse
	}
}

// formParser accepts the form names, or the values that As translates. Where it accepts none, another mistake is why.
func (p *Param) formParser(s paramSpec, forms []string, problems *declare.Problems) {
	forms = slices.DeleteFunc(slices.Clone(forms), func(name string) bool { return name == "" })
	values := map[string]string{}
	for _, f := range forms {
		values[f] = f
	}
	if len(s.As) > 0 {
		values = s.As
		for v, form := range s.As {
			if len(forms) > 0 && !slices.Contains(forms, form) {
				problems.Add(s.Name.Line, "param %s: as: %s: expected one of the forms %s, got %q", p.Name, v, strings.Join(forms, ", "), form)
			}
		}
	}
	names := make([]string, 0, len(values))
	for _, f := range forms {
		for _, v := range slices.Sorted(maps.Keys(values)) {
			if values[v] == f {
				names = append(names, v)
			}
		}
	}
	if len(names) == 0 {
		return
	}
	p.Spec.Enum = names
	p.Allowed = oneOf(names)
	p.parse = listed(names, values)
	p.checkCase(names, problems)
}

// listed takes the values of a list, in any case, and translates those that as has.
// It emits the list's own spelling, so that every case means the same entry.
func listed(values []string, as map[string]string) func(string) (any, error) {
	return func(v string) (any, error) {
		i := slices.Index(values, v)
		if i < 0 {
			i = slices.IndexFunc(values, func(o string) bool { return strings.EqualFold(o, v) })
		}
		if i < 0 {
			return nil, errNotAllowed
		}
		if other, ok := as[values[i]]; ok {
			return other, nil
		}
		return values[i], nil
	}
}

// checkCase refuses a list in which case alone tells values apart.
func (p *Param) checkCase(values []string, problems *declare.Problems) {
	for i, v := range values {
		if slices.ContainsFunc(values[:i], func(o string) bool { return strings.EqualFold(o, v) }) {
			problems.Add(p.Spec.Name.Line, "param %s: %s: expected values that differ in more than case, since callers may write them in any", p.Name, v)
		}
	}
}

func (p *Param) stringParser(s paramSpec, problems *declare.Problems) {
	if len(s.Enum) > 0 {
		p.Allowed = oneOf(s.Enum)
		p.parse = listed(s.Enum, s.As)
		p.checkCase(s.Enum, problems)
		return
	}
	low, high := max(s.MinLen, 1), p.MaxLen()
	p.Allowed = words.Sayf("a text of %d to %d characters", "%d 到 %d 个字符的文本", low, high)
	p.parse = func(v string) (any, error) {
		if n := utf8.RuneCountInString(v); n < low || n > high {
			return nil, wrongLength(n)
		}
		return v, nil
	}
}

// tailParser keeps a caller's words on one line.
func (p *Param) tailParser(s paramSpec, problems *declare.Problems) {
	p.stringParser(s, problems)
	bounded := p.parse
	p.parse = func(v string) (any, error) {
		return bounded(strings.Join(strings.FieldsFunc(v, unicode.IsControl), " "))
	}
}

func (p *Param) intParser(s paramSpec, problems *declare.Problems) {
	if s.Min == nil || s.Max == nil {
		problems.Add(s.Name.Line, "param %s: expected min and max for an int, for example min: 1, max: 100", p.Name)
		return
	}
	if *s.Min > *s.Max {
		problems.Add(s.Name.Line, "param %s: expected min up to max, got min: %d, max: %d", p.Name, *s.Min, *s.Max)
		return
	}
	if n := len(s.Steps); n > 0 && (!slices.IsSorted(s.Steps) || s.Steps[n-1] < *s.Max) {
		problems.Add(s.Name.Line, "param %s: steps: expected ascending numbers up to max, for example steps: [16, 32, %d]", p.Name, *s.Max)
		return
	}
	p.Allowed = words.Sayf("a whole number from %d to %d", "%d 到 %d 的整数", *s.Min, *s.Max)
	for _, n := range s.Also {
		p.Allowed = words.Sayf("%s, or %d", "%s，或 %d", p.Allowed, n)
	}
	p.parse = func(v string) (any, error) {
		if strings.Trim(v, "+-0123456789") != "" {
			return nil, errNotWhole // without strconv's own error, which is not shown
		}
		n, err := strconv.Atoi(v)
		if err != nil {
			return nil, errNotWhole
		}
		if (n < *s.Min || n > *s.Max) && !slices.Contains(s.Also, n) {
			return nil, errOutOfRange
		}
		return s.step(n), nil
	}
}

// step rounds a number up to the next step.
func (s *paramSpec) step(n int) int {
	if len(s.Steps) == 0 {
		return n
	}
	i, _ := slices.BinarySearch(s.Steps, n)
	return s.Steps[min(i, len(s.Steps)-1)]
}

// digitsParser is for account numbers: they stay texts, and no zero leads. Of
// other digits, such as the last ones of a phone number, zeros may.
func (p *Param) digitsParser(s paramSpec, problems *declare.Problems) {
	if s.MaxLen < max(1, s.MinLen) {
		problems.Add(s.Name.Line, "param %s: expected max_len for digits, at least min_len, for example min_len: 5, max_len: 12", p.Name)
		return
	}
	p.Allowed = words.Sayf("%d to %d digits", "%d 到 %d 位数字", s.MinLen, s.MaxLen)
	if s.MinLen == s.MaxLen {
		p.Allowed = words.Sayf("%d digits", "%d 位数字", s.MinLen)
	}
	if !s.LeadingZero {
		p.Allowed = words.Sayf("%s, the first not 0", "%s，首位不为 0", p.Allowed)
	}
	p.parse = func(v string) (any, error) {
		switch {
		case strings.ContainsFunc(v, func(r rune) bool { return r < '0' || r > '9' }):
			return nil, errNotDigits
		case len(v) < s.MinLen || len(v) > s.MaxLen:
			return nil, wrongLength(len(v))
		case !s.LeadingZero && strings.HasPrefix(v, "0"):
			return nil, errLeadingZero
		}
		return v, nil
	}
}

// dateParser is for days, from the first one that there is up to today.
func (p *Param) dateParser(s paramSpec, problems *declare.Problems) {
	first := s.Since.Value
	if _, err := time.Parse(time.DateOnly, first); err != nil {
		problems.Add(s.Name.Line, "param %s: since: expected the first day that there is, for example since: 2024-12-29, got %q", p.Name, first)
	}
	p.Allowed = words.Sayf("a date from %s to today", "%s 至今天的日期", first)
	p.parse = func(v string) (any, error) {
		if _, err := time.Parse(time.DateOnly, v); err != nil {
			return nil, errNotDate
		}
		if v < first {
			return nil, errOutOfRange
		}
		return v, nil
	}
}

// tooLate refuses a date that has come nowhere on Earth yet: a day of which there is
// nothing would only fill the cache and ask the sources. A clock that is before the
// first day is wrong and proves nothing.
func (p *Param) tooLate(v any, now time.Time) *ParamError {
	const firstZone = 14 * time.Hour // east of Greenwich, where each day begins
	day, _ := v.(string)
	today := now.UTC().Add(firstZone).Format(time.DateOnly)
	if day <= today || today < p.Spec.Since.Value {
		return nil
	}
	return p.refuse(day, errFuture)
}

// matching takes short texts of a form.
func matching(form *regexp.Regexp, otherwise error) func(string) (any, error) {
	const most = 64 // bytes
	return func(v string) (any, error) {
		if len(v) > most || !form.MatchString(v) {
			return nil, otherwise
		}
		return v, nil
	}
}

func oneOf(values []string) words.Text {
	return words.Sayf("one of %s", "以下之一：%s", words.Names(values...))
}

// wrongLength is the mistake of a text of a length that is not allowed, in characters.
func wrongLength(n int) error {
	return words.Errorf("is %d characters long", "的长度为 %d 个字符", n)
}

// canonicalType is a type of text whose values are normalized.
type canonicalType struct {
	allowed words.Text
	parse   func(string) (any, error)
}

// canonicalTypes are the types whose values are normalized, so that equal values
// share a cache entry.
func canonicalTypes() map[string]canonicalType {
	return map[string]canonicalType{
		"ip":   {words.Say("an IPv4 or IPv6 address", "IPv4 或 IPv6 地址"), parseIP},
		"host": {words.Say("a server name or address, with an optional port", "服务器域名或地址，可带端口"), parseHost},
		"site": {words.Say("a domain, or a page of it", "域名或其下的网页"), inText(favicon.Host)},
		"url":  {words.Say("an http or https link", "http 或 https 链接"), inText(shortlink.Normalize)},
		"share": {words.Sayf("a share link, or a text with one in it, of %s", "分享链接或含有它的文字，支持的平台有：%s",
			words.List(sharelink.Platforms()...)), parseShare},
		"tracking_number": {words.Say("6 to 40 letters and digits", "6 到 40 位字母和数字"), canonical(tracking.Normalize)},
		"color": {words.Say("3, 4, 6 or 8 hexadecimal digits, RGB or RGBA",
			"3、4、6 或 8 位十六进制数字，表示 RGB 或 RGBA"), canonical(qrcode.CanonicalColor)},
		"idcard": {words.Say("17 digits and a digit or X, or 15 digits", "17 位数字加一位数字或 X，或者 15 位数字"), canonical(idcard.Normalize)},
	}
}

// canonical makes a parser of a function that normalizes.
func canonical(normalize func(string) (string, error)) func(string) (any, error) {
	return func(v string) (any, error) {
		s, err := normalize(v)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}

// inText is canonical for links, which may have the words of a share text around them.
func inText(normalize func(string) (string, error)) func(string) (any, error) {
	return canonical(func(v string) (string, error) { return normalize(shortlink.InText(v)) })
}

func parseIP(v string) (any, error) {
	a, err := geoip.ParseAddr(v)
	if err != nil {
		return nil, errNotAddress
	}
	return a.String(), nil
}

func parseHost(v string) (any, error) {
	t, err := minecraft.ParseTarget(v)
	if err != nil {
		return nil, words.Errorf("is not a server address: %s", "不是服务器地址：%s", words.Of(err, errNotValid.Words()))
	}
	return t.String(), nil
}

func parseShare(v string) (any, error) {
	l, err := sharelink.Parse(v)
	if err != nil {
		return nil, err
	}
	return l.URL, nil
}

// targetsForbidden reports whether a value was refused because of where it leads,
// rather than how it is spelled.
func targetsForbidden(err error) bool {
	return errors.Is(err, favicon.ErrForbidden) || errors.Is(err, shortlink.ErrForbidden)
}
