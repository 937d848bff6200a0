package idcard

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

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
