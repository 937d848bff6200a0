package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sundry/upstreams/declare"
)

func (p *Param) setParser(s paramSpec, forms []string, problems *declare.Problems) {
	line := s.Name.Line
	switch {
	case s.Role == RoleForm:
		p.formParser(s, forms, problems)
		return
	case s.Role == RoleCallback:
		p.Allowed = "a JavaScript identifier path such as app.show, up to 64 characters"
		p.parse = parseCallback
		return
	case s.Role == RoleTail:
		p.tailParser(s)
		return
	case s.Role != RoleInput:
		problems.Add(line, "param %s: role: %q: want form, callback or tail, or none for input", p.Name, s.Role)
		return
	}
	switch s.Type {
	case "string":
		p.stringParser(s)
	case "int":
		p.intParser(s, problems)
	case "digits":
		p.digitsParser(s)
	default:
		kind, ok := spellings()[s.Type]
		if !ok {
			problems.Add(line, "param %s: type: %q: want string, int, digits or one of %s", p.Name, s.Type,
				strings.Join(slices.Sorted(maps.Keys(spellings())), ", "))
		}
		p.Allowed, p.parse = kind.allowed, kind.parse
	}
}

// formParser accepts the form names, or the values that As translates.
func (p *Param) formParser(s paramSpec, forms []string, problems *declare.Problems) {
	values := map[string]string{}
	for _, f := range forms {
		values[f] = f
	}
	if s.As != nil {
		values = s.As
		for v, form := range s.As {
			if !slices.Contains(forms, form) {
				problems.Add(s.Name.Line, "param %s: as: %s: no form %q; want one of %s", p.Name, v, form, strings.Join(forms, ", "))
			}
		}
	}
	names := make([]string, 0, len(values))
	for _, f := range forms {
		for v, form := range values {
			if form == f {
				names = append(names, v)
			}
		}
	}
	p.Spec.Enum = names
	p.Allowed = oneOf(names)
	p.parse = func(v string) (any, error) {
		if form, ok := values[v]; ok {
			return form, nil
		}
		return nil, errors.New("is not allowed")
	}
}

func (p *Param) stringParser(s paramSpec) {
	if len(s.Enum) > 0 {
		p.Allowed = oneOf(s.Enum)
		p.parse = func(v string) (any, error) {
			if !slices.Contains(s.Enum, v) {
				return nil, errors.New("is not allowed")
			}
			if as, ok := s.As[v]; ok {
				return as, nil
			}
			return v, nil
		}
		return
	}
	low, high := max(s.MinLen, 1), p.MaxLen()
	p.Allowed = fmt.Sprintf("a text of %d to %d characters", low, high)
	p.parse = func(v string) (any, error) {
		if n := utf8.RuneCountInString(v); n < low || n > high {
			return nil, fmt.Errorf("is %d characters long", n)
		}
		return v, nil
	}
}

// tailParser keeps a caller's words on one line.
func (p *Param) tailParser(s paramSpec) {
	p.stringParser(s)
	bounded := p.parse
	p.parse = func(v string) (any, error) {
		return bounded(strings.Join(strings.FieldsFunc(v, unicode.IsControl), " "))
	}
}

func (p *Param) intParser(s paramSpec, problems *declare.Problems) {
	if s.Min == nil || s.Max == nil {
		problems.Add(s.Name.Line, "param %s: an int wants min and max", p.Name)
		return
	}
	p.Allowed = fmt.Sprintf("a whole number from %d to %d", *s.Min, *s.Max)
	for _, n := range s.Also {
		p.Allowed += fmt.Sprintf(", or %d", n)
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
			return nil, errors.New("is out of range")
		}
		return n, nil
	}
}

// digitsParser is for account numbers: they stay texts, and no zero leads. Of
// other digits, such as the last ones of a phone number, zeros may.
func (p *Param) digitsParser(s paramSpec) {
	p.Allowed = fmt.Sprintf("%d to %d digits", s.MinLen, s.MaxLen)
	if s.MinLen == s.MaxLen {
		p.Allowed = fmt.Sprintf("%d digits", s.MinLen)
	}
	if !s.LeadingZero {
		p.Allowed += ", the first not 0"
	}
	p.parse = func(v string) (any, error) {
		ok := len(v) >= s.MinLen && len(v) <= s.MaxLen && (s.LeadingZero || !strings.HasPrefix(v, "0"))
		if !ok || strings.ContainsFunc(v, func(r rune) bool { return r < '0' || r > '9' }) {
			return nil, errors.New("is no such number")
		}
		return v, nil
	}
}

func parseCallback(v string) (any, error) {
	if len(v) > callbackMax || !callbackPath.MatchString(v) {
		return nil, errors.New("is no function name")
	}
	return v, nil
}

func oneOf(values []string) string { return "one of " + strings.Join(values, ", ") }
