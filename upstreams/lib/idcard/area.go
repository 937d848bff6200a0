package idcard

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// areaOf are the values of a code, the first six digits of a number: where that was first
// registered, by the names at a date, which for the zero date is now. It is not where the
// holder lives, and not always where they were born. A city or county is empty where there
// is no such level: municipalities have no cities, and some counties belong to a province
// directly; the code of a city has no county.
func areaOf(code string, at time.Time) map[string]any {
	own := namesOf(code)
	data := noArea()
	data["area_code"], data["area_known"] = code, own != nil
	if own != nil {
		data["abolished"], data["city"], data["county"] = own.abolished(), "", ""
	}
	if n := namesOf(code[:2] + "0000"); n != nil {
		data["province"] = n.at(at)
	}
	if n := namesOf(code[:4] + "00"); n != nil && code[2:4] != "00" {
		data["city"] = n.at(at)
	}
	if own != nil && code[4:] != "00" {
		data["county"] = own.at(at)
	}
	var joined strings.Builder
	for _, level := range []string{"province", "city", "county"} {
		name, _ := data[level].(string)
		joined.WriteString(name)
	}
	if joined.Len() > 0 {
		data["area"] = joined.String()
	}
	return data
}

// noArea are the values of a number that has no area, and no nationality.
func noArea() map[string]any {
	return map[string]any{
		"area_code": nil, "area_known": nil, "abolished": nil, "area": nil, "province": nil, "city": nil, "county": nil,
		"nationality": nil, "nationality_code": nil,
	}
}

// areas is the table of codes: see its first lines, and NOTICE for its sources.
//
//go:embed areas.txt
var areas string

// areaName is a name that a code has or had.
type areaName struct {
	code string
	name string // empty for a level without a name of its own
	to   int    // the last month that lists it, as in 201607; 0 while in use
}

// endUnknown is the month of a name whose end is not known: before all birthdays,
// so that any other name of the code is preferred.
const endUnknown = 1

// table has the names by code, those of a code in the order of time. It is parsed
// at the first use, in a millisecond or two.
var table = sync.OnceValue(func() []areaName { return readTable(areas) })

func readTable(text string) []areaName {
	rows := make([]areaName, 0, strings.Count(text, "\n"))
	for line := range strings.Lines(text) {
		if line[0] == '#' {
			continue
		}
		code, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name, to, _ := strings.Cut(rest, " ")
		rows = append(rows, areaName{code, strings.TrimPrefix(name, "-"), monthOf(to)})
	}
	return rows
}

func monthOf(s string) int {
	if s == "?" {
		return endUnknown
	}
	n, _ := strconv.Atoi(s) // an empty text is 0, in use; a test checks the whole table
	return n
}

// names are those of one code, at least one.
type names []areaName

// namesOf is nil for a code that is not in the table.
func namesOf(code string) names {
	all := table()
	from, found := slices.BinarySearchFunc(all, code, func(n areaName, code string) int {
		return strings.Compare(n.code, code)
	})
	if !found {
		return nil
	}
	to := from + 1
	for to < len(all) && all[to].code == code {
		to++
	}
	return names(all[from:to])
}

// at is the name in the month of a date: the first that had not ended, or the
// last if all had. The zero date means now.
func (n names) at(date time.Time) string {
	last := n[len(n)-1].name
	if date.IsZero() {
		return last
	}
	month := date.Year()*100 + int(date.Month())
	for _, e := range n {
		if e.to == 0 || month <= e.to {
			return e.name
		}
	}
	return last
}

func (n names) abolished() bool { return n[len(n)-1].to != 0 }
