package main

import (
	"strconv"
	"strings"
)

const (
	inUse   = 0 // the span lasts
	unknown = 1 // the span ended in an unknown month
)

// span is a name that a code had, until a month.
type span struct {
	name string
	to   int // the last month that lists it, as in 201607, or inUse or unknown
}

func (s span) suffix() string {
	switch s.to {
	case inUse:
		return ""
	case unknown:
		return " ?"
	}
	return " " + strconv.Itoa(s.to)
}

// merge lists the names of each code in the order of time. Codes in the current
// list are in use; a code that is only in the undated list is abolished.
func (s *sources) merge() map[string][]span {
	table := map[string][]span{}
	for _, past := range s.past {
		for code, name := range past.list {
			table[code] = follow(table[code], span{clean(code, name), past.month})
		}
	}
	for code, name := range s.now {
		if s.assigned(code) {
			table[code] = follow(table[code], span{clean(code, name), inUse})
		}
	}
	for code, name := range s.undated {
		if table[code] == nil && s.credible(code, name) {
			table[code] = []span{{clean(code, name), unknown}}
		}
	}
	last := s.past[len(s.past)-1].month
	for code, spans := range table {
		table[code] = finish(code, spans, last)
	}
	for _, code := range unlisted {
		table[code.code] = []span{{code.name, inUse}}
	}
	return table
}

// credible rejects 市辖区 for the first county of each prefecture, which idcard
// has: only cities have such a level.
func (s *sources) credible(code, name string) bool {
	prefecture := code[:4] + "00"
	return clean(code, name) != nameless || code == prefecture ||
		strings.HasSuffix(s.undated[prefecture], "市") || strings.HasSuffix(s.now[prefecture], "市")
}

// follow extends the last span, or adds another if the name differs.
func follow(spans []span, next span) []span {
	if n := len(spans); n > 0 && spans[n-1].name == next.name {
		spans[n-1].to = next.to
		return spans
	}
	return append(spans, next)
}

// finish drops nameless spans where names are known, and keeps the nameless
// codes of the last dated list in use: the current list omits all of them.
func finish(code string, spans []span, last int) []span {
	var named []span
	for _, s := range spans {
		if s.name != nameless {
			named = follow(named, s)
		}
	}
	if named == nil {
		to := spans[len(spans)-1].to
		if to == last {
			to = inUse
		}
		return []span{{nameless, to}}
	}
	if to, ok := renamed[code]; ok {
		named[0].to = to
	}
	return named
}

// shortened makes "江苏省苏州市沧浪区" 沧浪区. If the name in another list is a
// suffix of it, that is used: some of the full names have prefixes of neighbours.
func (s *sources) shortened(full list) list {
	short := list{}
	for code, name := range full {
		short[code] = s.short(full, code, name)
	}
	return short
}

func (s *sources) short(full list, code, name string) string {
	if fixed, ok := mistaken[code]; ok {
		return fixed
	}
	known := []string{s.undated[code], s.now[code]}
	for _, past := range s.past {
		known = append(known, past.list[code])
	}
	for _, k := range known {
		if k != "" && clean(code, k) != nameless && strings.HasSuffix(name, k) {
			return k
		}
	}
	if strings.HasSuffix(code, "0000") {
		return name
	}
	rest := strings.TrimPrefix(name, full[code[:4]+"00"])
	if rest == name || rest == "" {
		rest = strings.TrimPrefix(name, full[code[:2]+"0000"])
	}
	return rest
}
