package idcard

import (
	"strconv"
	"strings"

	"sundry/upstreams/lib/geoip"

	"golang.org/x/text/language"
)

// addForeigner adds what the number of a foreigner's permit says after its 9 (GA
// 2102-2023): the province that accepted the application, by two digits, and the
// nationality, by the three of ISO 3166-1. It returns what is wrong with them.
func addForeigner(data map[string]any, number string) (wrong []any) {
	// Foreigners apply on the mainland: the codes from 70 on are those of other regions.
	if n := namesOf(number[1:3] + "0000"); n != nil && number[1] < '7' {
		data["province"] = n[len(n)-1].name
	} else {
		wrong = append(wrong, unknownProvince)
	}
	if code := countryOf(number[3:6]); code != "" {
		data["nationality"], data["nationality_code"] = geoip.CountryName(code), code
	} else {
		wrong = append(wrong, unknownNationality)
	}
	return wrong
}

// withdrawn are the codes of countries that are no more, and of a part of France.
const withdrawn = "AN CS DD FX NT SU YD"

// countryOf returns the two letters of a country by its three digits, "" for a code that
// is no country's, or not any more.
func countryOf(digits string) string {
	const userAssigned = 900 // the codes from here on
	n, err := strconv.Atoi(digits)
	if err != nil || n >= userAssigned {
		return ""
	}
	region, err := language.EncodeM49(n)
	if err != nil || !region.IsCountry() || region.M49() != n || strings.Contains(withdrawn, region.String()) {
		return ""
	}
	return region.String()
}
