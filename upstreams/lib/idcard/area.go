package idcard

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// area is where a number was first registered, by its names at the time of birth.
// It is not where the holder lives, and not always where they were born.
type area struct {
	// Code is the number's first six digits.
	Code string
	// Known means that the code is or was in use.
	Known bool
	// Abolished means that a known code is no longer in use.
	Abolished bool
	// Province is empty if it is not known.
	Province string
	// City and County are nil if they are not known, and empty if there is no
	// such level: municipalities have no cities, and some counties belong to a
	// province directly; the code of a city has no county.
	City, County *string
}

// areaOf looks a code up, with its names at a date. The zero date means now.
func areaOf(code string, at time.Time) *area {
	a := &area{Code: code}
	if n := namesOf(code); n != nil {
		a.Known, a.Abolished = true, n.abolished()
		a.City, a.County = new(""), new("")
	}
	if n := namesOf(code[:2] + "0000"); n != nil {
		a.Province = n.at(at)
	}
	if n := namesOf(code[:4] + "00"); n != nil && code[2:4] != "00" {
		a.City = new(n.at(at))
	}
	if a.Known && code[4:] != "00" {
		a.County = new(namesOf(code).at(at))
	}
	return a
}

// Name is the full name, as far as it is known.
func (a *area) Name() string { return a.Province + orEmpty(a.City) + orEmpty(a.County) }

func orEmpty(level *string) string {
	if level == nil {
		return ""
	}
	return *level
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
