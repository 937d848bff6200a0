// Package geoip says what is known of an IP address without a network call: its
// special purpose, and its place by a database file or by the country table that
// is embedded in the program. It promises an error, never a panic, for a damaged
// file.
package geoip

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
)

// maxText is the length of the longest address in text form.
const maxText = 45

// ParseAddr parses a plain IPv4 or IPv6 address: no port, zone or range. An
// IPv4-mapped IPv6 address is returned as IPv4.
func ParseAddr(s string) (netip.Addr, error) {
	if len(s) > maxText {
		return netip.Addr{}, errors.New("longer than any IP address")
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return netip.Addr{}, fmt.Errorf("%q is not an IP address", s)
	}
	return a.Unmap(), nil
}

// Place is the place of an address as a database has it; empty is unknown.
type Place struct {
	Continent, ContinentCode                     string
	Country, CountryCode, Province, City, Postal string
	District, ISP, Timezone                      string
	Latitude, Longitude                          *float64
	// ASN is the number of the network's autonomous system, ASName its name.
	ASN    int
	ASName string
}

// Data is the place as JSON-ready values, without unknown fields. The continent is
// that of the country, where the database does not have it.
func (p Place) Data() map[string]any {
	if p.ContinentCode == "" {
		p.ContinentCode, p.Continent = Continent(p.CountryCode)
	}
	d := map[string]any{}
	for name, v := range map[string]string{
		"country": p.Country, "country_code": p.CountryCode, "province": p.Province, "city": p.City,
		"district": p.District, "isp": p.ISP, "timezone": p.Timezone, "postal": p.Postal,
		"continent": p.Continent, "continent_code": p.ContinentCode, "as_name": p.ASName,
	} {
		if v != "" {
			d[name] = v
		}
	}
	if p.ASN > 0 {
		d["asn"] = p.ASN
	}
	if p.Latitude != nil && p.Longitude != nil {
		d["latitude"], d["longitude"] = *p.Latitude, *p.Longitude
	}
	return d
}

// DB finds places. It is safe for concurrent use. What it has open, the garbage collector
// closes once no lookup uses it.
type DB interface {
	// Lookup returns false when the database does not know the address.
	Lookup(a netip.Addr) (Place, bool, error)
}

// Open opens a database file by its extension: .mmdb (MaxMind and DB-IP: city,
// country or ASN) or .xdb (ip2region).
func Open(path string) (DB, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".mmdb":
		return openMMDB(path)
	case ".xdb":
		return openXDB(path)
	}
	return nil, fmt.Errorf("%s: expected a file ending in .mmdb or .xdb", path)
}

// fullProvince returns a province's full official name.
func fullProvince(name string) string {
	switch name {
	case "北京", "上海", "天津", "重庆":
		return name + "市"
	case "内蒙古", "西藏":
		return name + "自治区"
	case "广西":
		return "广西壮族自治区"
	case "宁夏":
		return "宁夏回族自治区"
	case "新疆":
		return "新疆维吾尔自治区"
	}
	return name
}
