package geoip

import (
	"net/netip"

	"github.com/phuslu/iploc"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// Country is the embedded table: countries only, named in Chinese. Its data is
// IP2Location LITE, whose licence requires this attribution:
// http://www.ip2location.com.
func Country() DB { return countryTable{} }

type countryTable struct{}

// Lookup implements DB.
func (countryTable) Lookup(a netip.Addr) (Place, bool, error) {
	code := iploc.IPCountry(a.Unmap())
	if code == "" || code == "ZZ" {
		return Place{}, false, nil
	}
	return Place{Country: countryName(code), CountryCode: code}, true, nil
}

// CountryName is the Chinese name of an ISO code; empty for a code that is no
// country's.
func CountryName(code string) string {
	if c, _ := Continent(code); c == "" {
		return ""
	}
	return countryName(code)
}

// countryName is the Chinese name of an ISO code, or the code itself.
func countryName(code string) string {
	switch code {
	case "HK":
		return "中国香港"
	case "MO":
		return "中国澳门"
	case "TW":
		return "中国台湾"
	}
	region, err := language.ParseRegion(code)
	if err != nil {
		return code
	}
	if name := display.Regions(language.SimplifiedChinese).Name(region); name != "" {
		return name
	}
	return code
}
