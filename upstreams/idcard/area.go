package idcard

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Area is where a number was first registered, by the names of the time of
// birth: neither where its holder lives nor, always, where they were born.
type Area struct {
	// Code is the number's first six digits.
	Code string
	// Known says that there is, or was, such a code.
	Known bool
	// Abolished says of a known code that it is not given any more.
	Abolished bool
	// Province is empty where it is not known.
	Province string
	// City and County are nil where they are not known, and empty where there
	// is no such level: municipalities have no cities, nor have counties right
	// under a province; a code of a city has no county.
	City, County *string
}

// areaOf looks a code up, as it was understood at a date. The zero date means
// now.
func areaOf(code string, at time.Time) *Area {
	a := &Area{Code: code}
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
func (a *Area) Name() string { return a.Province + known(a.City) + known(a.County) }

func known(level *string) string {
	if level == nil {
		return ""
	}
	return *level
}

//go:generate sh -c "go run ./internal/areas $NODE_MODULES > areas.new && mv areas.new areas.txt"

// areas is the table of codes: see its first lines, and NOTICE for its sources.
//
//go:embed areas.txt
var areas string

// entry is a name that a code has or had.
type entry struct {
	code string
	name string // empty for a level without a name of its own
	to   int    // the last month that lists it, as in 201607; 0 while in use
}

// ended is the month of what ended nobody knows when: before all birthdays, so
// that any other name of the code is preferred.
const ended = 1

// table has the entries by code, those of a code in the order of time. It is
// made when first asked for, in a millisecond or two.
var table = sync.OnceValue(func() []entry { return readTable(areas) })

func readTable(text string) []entry {
	entries := make([]entry, 0, strings.Count(text, "\n"))
	for line := range strings.Lines(text) {
		if line[0] == '#' {
			continue
		}
		code, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name, to, _ := strings.Cut(rest, " ")
		entries = append(entries, entry{code, strings.TrimPrefix(name, "-"), monthOf(to)})
	}
	return entries
}

func monthOf(s string) int {
	if s == "?" {
		return ended
	}
	n, _ := strconv.Atoi(s) // nothing is 0, in use; a test reads the whole table
	return n
}

// names are the entries of one code, at least one.
type names []entry

// namesOf is nil for a code that is not in the table.
func namesOf(code string) names {
	all := table()
	from, found := slices.BinarySearchFunc(all, code, func(e entry, code string) int {
		return strings.Compare(e.code, code)
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

// at is the name in the month of a date: the first that had not ended, the last
// where all had. The zero date means now.
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
