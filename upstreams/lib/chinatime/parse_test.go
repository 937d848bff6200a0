package chinatime

import (
	"testing"
	"time"
)

// TestParse: the spellings of other zones, of RFC 1123 and of Chinese; those of parcels are in
// TestParseTime of upstreams/lib/tracking.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"Fri, 02 Jan 2026 03:04:05 GMT": "2026-01-02T03:04:05Z", "Fri, 2 Jan 2026 03:04:05 +0100": "2026-01-02T03:04:05+01:00", "Fri Jan 02 03:04:05 +0800 2026": "2026-01-02T03:04:05+08:00",
		"2026年1月2日 03:04": "2026-01-02T03:04:00+08:00", "2026年01月02日03:04:05": "2026-01-02T03:04:05+08:00", "2026-01-02 03:04:05 UTC": "2026-01-02T03:04:05Z",
		"1767225600": "2026-01-01T08:00:00+08:00", "2026-01-02": "", "Fri, 02 Jan 2026 03:04:05 CST": "", "0000000000": "", "+767225600": "", "0001-01-01T00:00:00Z": "",
	} {
		got := ""
		if at, ok := Parse(text); ok {
			got = at.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestParseDay(t *testing.T) {
	for text, want := range map[string]string{
		"2026-01-02": "2026-01-02", "2026/1/2": "2026-01-02", "2026年1月2日": "2026-01-02", "20260102": "2026-01-02", "2026-01-01T20:00:00Z": "2026-01-02", "1767225600": "2026-01-01",
		"2026-02-30": "", "20261301": "", "7": "", "": "",
	} {
		got := ""
		if day, ok := ParseDay(text); ok {
			got = day.Format(time.DateOnly)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
