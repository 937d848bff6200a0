package geoip

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/oschwald/maxminddb-golang/v2"
)

type mmdb struct{ r *maxminddb.Reader }

func openMMDB(path string) (DB, error) {
	r, err := maxminddb.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: as .mmdb: %w", path, err)
	}
	return mmdb{r}, nil
}

type names map[string]string

// best is the Chinese name, else the English one.
func (n names) best() string {
	if v := n["zh-CN"]; v != "" {
		return v
	}
	return n["en"]
}

// record is the nested schema of MaxMind and DB-IP; flatRecord is that of smaller
// publishers.
type record struct {
	network   // in a file of autonomous systems, which has nothing else
	Continent struct {
		Code  string `maxminddb:"code"`
		Names names  `maxminddb:"names"`
	} `maxminddb:"continent"`
	Country struct {
		ISO   string `maxminddb:"iso_code"`
		Names names  `maxminddb:"names"`
	} `maxminddb:"country"`
	Subdivisions []struct {
		Names names `maxminddb:"names"`
	} `maxminddb:"subdivisions"`
	City struct {
		Names names `maxminddb:"names"`
	} `maxminddb:"city"`
	Postal struct {
		Code string `maxminddb:"code"`
	} `maxminddb:"postal"`
	Traits struct {
		network
		ISP string `maxminddb:"isp"`
	} `maxminddb:"traits"`
	Location struct {
		Latitude  *float64 `maxminddb:"latitude"`
		Longitude *float64 `maxminddb:"longitude"`
		Timezone  string   `maxminddb:"time_zone"`
	} `maxminddb:"location"`
}

type flatRecord struct {
	network
	Code   string `maxminddb:"country_code"`
	State  string `maxminddb:"state1"`
	City   string `maxminddb:"city"`
	Postal string `maxminddb:"postcode"`
	Zone   string `maxminddb:"timezone"`
	AS     string `maxminddb:"asn"` // AS15169, as IPinfo writes it
	ASName string `maxminddb:"as_name"`
}

// network is the autonomous system, as MaxMind and DB-IP write it.
type network struct {
	Number uint32 `maxminddb:"autonomous_system_number"`
	Name   string `maxminddb:"autonomous_system_organization"`
}

var errCutOff = errors.New("read .mmdb: it was cut off while it was open; rename another over it, then reload")

// Lookup implements DB. The file is mapped into memory: reading what was cut off of it is a fault,
// which would end the process.
func (m mmdb) Lookup(a netip.Addr) (p Place, found bool, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		value := recover()
		if _, fault := value.(interface{ Addr() uintptr }); fault {
			p, found, err = Place{}, false, errCutOff
		} else if value != nil {
			panic(value)
		}
	}()
	return m.lookup(a)
}

func (m mmdb) lookup(a netip.Addr) (Place, bool, error) {
	defer runtime.KeepAlive(m.r) // its cleanup unmaps the file
	result := m.r.Lookup(a.Unmap())
	if err := result.Err(); err != nil {
		return Place{}, false, fmt.Errorf("look up in .mmdb: %w", err)
	}
	if !result.Found() {
		return Place{}, false, nil
	}
	var rec record
	var flat flatRecord
	err := result.Decode(&rec)
	if err == nil && rec.Country.ISO != "" {
		return rec.place(), true, nil
	}
	if result.Decode(&flat) == nil && flat.Code != "" {
		return flat.place(), true, nil
	}
	if err != nil {
		return Place{}, false, fmt.Errorf("record in .mmdb: %w", err)
	}
	p := rec.place() // of a file without countries
	return p, len(p.Data()) > 0, nil
}

func (r *record) place() Place {
	p := Place{
		Country: r.Country.Names.best(), CountryCode: r.Country.ISO, City: r.City.Names.best(),
		Timezone: r.Location.Timezone, Latitude: r.Location.Latitude, Longitude: r.Location.Longitude,
		Continent: r.Continent.Names.best(), ContinentCode: r.Continent.Code, Postal: r.Postal.Code,
		ISP: r.Traits.ISP, ASN: int(cmp.Or(r.Traits.Number, r.Number)), ASName: cmp.Or(r.Traits.Name, r.Name),
	}
	if p.Country == "" && p.CountryCode != "" {
		p.Country = countryName(p.CountryCode)
	}
	if len(r.Subdivisions) > 0 {
		p.Province = fullProvince(r.Subdivisions[0].Names.best())
	}
	return p
}

func (r *flatRecord) place() Place {
	number, err := strconv.Atoi(strings.TrimPrefix(r.AS, "AS"))
	if err != nil {
		number = int(r.Number)
	}
	return Place{
		Country: countryName(r.Code), CountryCode: r.Code, Province: fullProvince(r.State), City: r.City, Postal: r.Postal,
		Timezone: r.Zone, ASN: number, ASName: cmp.Or(r.ASName, r.Name),
	}
}
