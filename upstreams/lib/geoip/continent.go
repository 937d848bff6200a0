package geoip

import "golang.org/x/text/language"

// Continent returns the code of the continent that a country is in, and its Chinese
// name, after the statistical regions of the United Nations (M49); empty for a code
// that is no country's.
func Continent(country string) (code, name string) {
	if country == "AQ" {
		return "AN", "南极洲"
	}
	region, err := language.ParseRegion(country)
	if err != nil || !region.IsCountry() {
		return "", ""
	}
	for _, c := range []struct {
		code, name string
		m49        int
	}{{"AS", "亚洲", 142}, {"EU", "欧洲", 150}, {"NA", "北美洲", 3}, {"SA", "南美洲", 5}, {"AF", "非洲", 2}, {"OC", "大洋洲", 9}} {
		group, err := language.EncodeM49(c.m49)
		if err == nil && group.Contains(region) {
			return c.code, c.name
		}
	}
	return "", ""
}
