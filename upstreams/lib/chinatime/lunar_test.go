package chinatime

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

// TestDates compares with dates by ICU (Intl.DateTimeFormat with the calendar chinese),
// every 37th day to the end of the century. Two are left out, in months whose new moon
// is minutes from midnight, where ICU's astronomy is too rough.
func TestDates(t *testing.T) {
	b, err := os.ReadFile("testdata/dates.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for row := range strings.Lines(string(b)) {
		date, want, _ := strings.Cut(strings.TrimSpace(row), " ")
		day, err := time.ParseInLocation(time.DateOnly, date, zone)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := Lunar(day.Add(23 * time.Hour)); !ok || got != want {
			t.Errorf("%s: %q, want %q", date, got, want)
		}
		n++
	}
	if n < 700 {
		t.Errorf("%d dates", n)
	}
}

// TestNewYears: each year of the table ends where the next begins by another table.
func TestNewYears(t *testing.T) {
	for year := first; year <= 2100; year++ {
		begin, ok := LunarNewYear(year)
		if !ok {
			t.Fatal(year)
		}
		if got, ok := Lunar(begin); !ok || !strings.HasSuffix(got, "年正月初一") {
			t.Errorf("%s: %q, %v", begin.Format(time.DateOnly), got, ok)
		}
	}
}

func TestBeyondTheTable(t *testing.T) {
	for _, year := range []int{1900, 2019, 2102, 9999} {
		if got, ok := Lunar(time.Date(year, time.June, 1, 0, 0, 0, 0, time.UTC)); ok {
			t.Errorf("%d: %q", year, got)
		}
	}
}

func TestLunarNewYear(t *testing.T) {
	for _, s := range []string{
		"1900-01-31", "1911-01-30", "1949-01-29", "1954-02-03", "1966-01-21", "1985-02-20", "1996-02-19", "2000-02-05",
		"2020-01-25", "2023-01-22", "2024-02-10", "2026-02-17", "2033-01-31", "2034-02-19", "2057-02-04", "2100-02-09",
	} {
		want, err := time.ParseInLocation(time.DateOnly, s, zone)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := LunarNewYear(want.Year()); !ok || !got.Equal(want) || got.Location() != zone {
			t.Errorf("%s: %v, %v", s, got, ok)
		}
	}
	for _, year := range []int{math.MinInt, -1, 0, 1850, 1899, 2101, math.MaxInt} {
		if got, ok := LunarNewYear(year); ok || !got.IsZero() {
			t.Errorf("%d: %v", year, got)
		}
	}
}

// Every lunar new year is a new moon, in China, and twelve or thirteen months
// after the one before.
func TestLunarNewYearsAreNewMoons(t *testing.T) {
	// A mean new moon, and the mean time from one to the next. The true ones
	// differ from it by at most 15 hours.
	epoch := time.Date(2000, 1, 6, 14, 20, 0, 0, time.UTC)
	const month = 29.530588853
	for year := 1900; year <= 2100; year++ {
		day, ok := LunarNewYear(year)
		if !ok {
			t.Fatal(year)
		}
		moons := day.Add(12*time.Hour).Sub(epoch).Hours() / 24 / month
		if off := math.Abs(moons-math.Round(moons)) * month; off > 0.5+15./24 {
			t.Errorf("%v is %.2f days from the mean new moon", day, off)
		}
		if year == 1900 {
			continue
		}
		last, _ := LunarNewYear(year - 1)
		switch days := int(day.Sub(last).Hours() / 24); days {
		case 353, 354, 355, 383, 384, 385:
		default:
			t.Errorf("the year before %v has %d days", day, days)
		}
	}
}
