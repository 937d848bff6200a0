// Package geoip knows about IP addresses what can be known without a network:
// what kind of address one is, and where it is by a database file or by a
// country table that comes with the program. It promises an error, never a
// panic, for a damaged file.
package geoip

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
)

// maxText is the longest spelling of an address.
const maxText = 45

// ParseAddr reads a plain IPv4 or IPv6 address: no port, zone or range. An
// IPv4 address in an IPv6 coat loses the coat.
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

// Place is what a source knows of an address; empty is unknown.
type Place struct {
	Country, CountryCode, Province, City, District, ISP, Timezone string
	Latitude, Longitude                                           *float64
}

// Data is the place as JSON-ready values, without what is unknown.
func (p Place) Data() map[string]any {
	d := map[string]any{}
	for name, v := range map[string]string{
		"country": p.Country, "country_code": p.CountryCode, "province": p.Province, "city": p.City,
		"district": p.District, "isp": p.ISP, "timezone": p.Timezone,
	} {
		if v != "" {
			d[name] = v
		}
	}
	if p.Latitude != nil && p.Longitude != nil {
		d["latitude"], d["longitude"] = *p.Latitude, *p.Longitude
	}
	return d
}

// DB finds places. It is safe for concurrent use until it is closed.
type DB interface {
	// Lookup returns false when the database does not know the address.
	Lookup(a netip.Addr) (Place, bool, error)
	Close() error
}

// Open opens a database file by its ending: .mmdb (MaxMind and DB-IP, city or
// country) or .xdb (ip2region). The caller closes it.
func Open(path string) (DB, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".mmdb":
		return openMMDB(path)
	case ".xdb":
		return openXDB(path)
	}
	return nil, fmt.Errorf("%s: expected a file ending in .mmdb or .xdb", path)
}

// fullProvince gives names the form that all sources share.
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
