package declare

import (
	"strings"
	"testing"
	"time"
)

func TestParseRate(t *testing.T) {
	for text, want := range map[string]Rate{"45/1m": {45, time.Minute}, "1/90s": {1, 90 * time.Second}, "10000/1d": {10_000, 24 * time.Hour}} {
		if got, err := ParseRate(text); err != nil || got != want {
			t.Errorf("%s: %v %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "45", "45/", "/1m", "0/1m", "-1/1m", "10001/1d", "45/0s", "45/m", "4.5/1m", "45/-1m", "45 / 1m"} {
		if got, err := ParseRate(text); err == nil || !strings.Contains(err.Error(), "such as 45/1m") {
			t.Errorf("%q: %v %v, want a mistake with an example", text, got, err)
		}
	}
}
