package idcard

import "time"

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
