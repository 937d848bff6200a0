package lunar

import (
	"os"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/lib/chinatime"
	"sundry/upstreams/lib/idcard"
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
		day, err := time.ParseInLocation(time.DateOnly, date, chinatime.Zone())
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := Date(day.Add(23 * time.Hour)); !ok || got != want {
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
		begin, ok := idcard.LunarNewYear(year)
		if !ok {
			t.Fatal(year)
		}
		if got, ok := Date(begin); !ok || !strings.HasSuffix(got, "年正月初一") {
			t.Errorf("%s: %q, %v", begin.Format(time.DateOnly), got, ok)
		}
	}
}

func TestBeyondTheTable(t *testing.T) {
	for _, year := range []int{1900, 2019, 2102, 9999} {
		if got, ok := Date(time.Date(year, time.June, 1, 0, 0, 0, 0, time.UTC)); ok {
			t.Errorf("%d: %q", year, got)
		}
	}
}
