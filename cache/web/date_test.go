package web

import (
	"testing"
	"time"
)

func TestDate(t *testing.T) {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	want := time.Date(1994, 11, 6, 8, 49, 37, 0, time.UTC)
	for _, s := range []string{
		"Sun, 06 Nov 1994 08:49:37 GMT", "sun, 06 nOV 1994 08:49:37 gMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
	} {
		if got, ok := Date(s, now); !ok || !got.Equal(want) {
			t.Errorf("%q: %v %v", s, got, ok)
		}
	}
	for _, s := range []string{
		"", "0", "-1", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 8:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 06 Nov 1994 08.49.37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT",
		"Funday, 06-Nov-94 08:49:37 GMT", "Sun Nov 06 08:49:37 94", "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:+7 GMT",
	} {
		if got, ok := Date(s, now); ok {
			t.Errorf("%q is no date, but %v", s, got)
		}
	}
	for s, year := range map[string]int{"Monday, 01-Jan-76 00:00:00 GMT": 2076, "Monday, 01-Jan-77 00:00:00 GMT": 1977} {
		if got, _ := Date(s, now); got.Year() != year {
			t.Errorf("%q is of %d", s, got.Year())
		}
	}
}

func FuzzDate(f *testing.F) {
	f.Add("Sun, 06 Nov 1994 08:49:37 GMT")
	f.Add("Sun Nov  6 08:49:37 1994")
	f.Add("Sunday, 06-Nov-94 08:49:37 GMT")
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := Date(s, time.Unix(1.7e9, 0))
		if ok && (got.Year() < 0 || got.Year() > 9999) {
			t.Errorf("%q: %v", s, got)
		}
	})
}
