package chinatime

import (
	"testing"
	"time"
	_ "time/tzdata"
)

// TestZone compares with the database, from the end of the last daylight saving
// time on.
func TestZone(t *testing.T) {
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	for at := time.Date(1991, 9, 15, 0, 0, 0, 0, time.UTC); at.Year() < 2100; at = at.AddDate(0, 0, 7) {
		if got, want := at.In(Zone()).Format(time.RFC1123Z), at.In(shanghai).Format(time.RFC1123Z); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}
