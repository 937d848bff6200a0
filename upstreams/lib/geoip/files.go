package geoip

import (
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"
)

// Files are the operator's databases, asked in order: each adds what those before it
// do not know.
type Files struct {
	opened []file
}

// file is a database, with the file's state when it was opened.
type file struct {
	DB
	path    string
	size    int64
	changed time.Time
}

// OpenFiles opens database files as Open does, each once.
func OpenFiles(paths []string) (*Files, error) {
	f := &Files{}
	for _, path := range distinct(paths) {
		st, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		db, err := Open(path)
		if err != nil {
			return nil, err
		}
		f.opened = append(f.opened, file{db, path, st.Size(), st.ModTime()})
	}
	return f, nil
}

// Current reports whether the files are those at these paths, as they are now.
func (f *Files) Current(paths []string) bool {
	return slices.EqualFunc(f.opened, distinct(paths), func(o file, path string) bool {
		st, err := os.Stat(path)
		return o.path == path && err == nil && st.Size() == o.size && st.ModTime().Equal(o.changed)
	})
}

// distinct lists each path once.
func distinct(paths []string) []string {
	var out []string
	for _, path := range paths {
		if !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// Lookup implements DB. A damaged file does not hide what the others know.
func (f *Files) Lookup(a netip.Addr) (Place, bool, error) {
	var merged Place
	var failed error
	found := false
	for i := range f.opened {
		p, ok, err := f.opened[i].Lookup(a)
		if err != nil && failed == nil {
			failed = err
		}
		if ok {
			merged.Add(&p)
			found = true
		}
	}
	if found {
		return merged, true, nil
	}
	return Place{}, false, failed
}

// Add takes from another database what is not known. One that puts the address into
// another country says nothing about its province, one with another province nothing
// about its city: a place is never mixed from two.
func (p *Place) Add(o *Place) {
	fill(&p.ISP, o.ISP)
	if p.ASN == 0 {
		p.ASN, p.ASName = o.ASN, o.ASName
	}
	if !p.sameCountry(o) {
		return
	}
	fill(&p.Country, o.Country)
	fill(&p.CountryCode, o.CountryCode)
	fill(&p.Continent, o.Continent)
	fill(&p.ContinentCode, o.ContinentCode)
	if !sameName(p.Province, o.Province) {
		return
	}
	fill(&p.Province, o.Province)
	fill(&p.Timezone, o.Timezone)
	if !sameName(p.City, o.City) {
		return
	}
	fill(&p.City, o.City)
	fill(&p.District, o.District)
	fill(&p.Postal, o.Postal)
	if p.Latitude == nil || p.Longitude == nil {
		p.Latitude, p.Longitude = o.Latitude, o.Longitude
	}
}

func fill(known *string, other string) {
	if *known == "" {
		*known = other
	}
}

// sameCountry reports whether both are in one country, as far as it is known.
func (p *Place) sameCountry(o *Place) bool {
	if p.CountryCode != "" && o.CountryCode != "" {
		return p.CountryCode == o.CountryCode
	}
	return p.Country == "" || o.Country == "" || p.Country == o.Country
}

// sameName reports whether both names may be those of one place: 浙江 and 浙江省.
func sameName(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }
