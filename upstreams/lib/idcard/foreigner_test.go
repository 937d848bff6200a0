package idcard

import (
	"fmt"
	"testing"

	"sundry/upstreams/lib/geoip"
)

// TestCountriesAreThoseOfISO3166: its first part has 249.
func TestCountriesAreThoseOfISO3166(t *testing.T) {
	n := 0
	for i := range 1000 {
		code := countryOf(fmt.Sprintf("%03d", i))
		if code == "" {
			continue
		}
		n++
		if name := geoip.CountryName(code); name == "" || name == code {
			t.Errorf("%03d: %s has the name %q", i, code, name)
		}
	}
	if n != 249 {
		t.Errorf("%d countries", n)
	}
	for digits, want := range map[string]string{"840": "US", "124": "CA", "004": "AF", "392": "JP", "643": "RU", "999": "", "000": "", "278": "", "12x": ""} {
		if got := countryOf(digits); got != want {
			t.Errorf("%s: %q, want %q", digits, got, want)
		}
	}
}
