package pages

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sundry/cache/policy"
	"sundry/metrics/words"
	"sundry/proxy/site/i18n"
)

var update = flag.Bool("update", false, "write the golden files")

// The rules of all built-in endpoints, in the words of their pages, stand in
// testdata/caching.txt.
func TestCachingRulesInWords(t *testing.T) {
	var got strings.Builder
	for _, e := range builtin(t).Endpoints {
		for _, l := range i18n.All() {
			fmt.Fprintf(&got, "%s (%v)\n", e.Name, l)
			for _, sentence := range Caching(e) {
				fmt.Fprintf(&got, "- %s\n", l.Of(sentence))
			}
		}
	}
	const file = "testdata/caching.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("go test ./proxy/site/pages -run Caching -update writes %s; %s", file, diff)
	}
}

func TestSpans(t *testing.T) {
	for d, want := range map[time.Duration][2]string{
		time.Second: {"a second", "1 秒"}, 90 * time.Second: {"90 seconds", "90 秒"}, time.Minute: {"a minute", "1 分钟"}, 90 * time.Minute: {"90 minutes", "90 分钟"},
		time.Hour: {"an hour", "1 小时"}, 36 * time.Hour: {"36 hours", "36 小时"}, 24 * time.Hour: {"a day", "1 天"}, 30 * 24 * time.Hour: {"30 days", "30 天"},
		1500 * time.Millisecond: {"1.5s", "1.5s"},
	} {
		if got := span(d); got != words.Say(want[0], want[1]) {
			t.Errorf("%v: %q, %q; want %q", d, got.EN(), got.ZH(), want)
		}
	}
}

func TestTimetables(t *testing.T) {
	for text, want := range map[string][2]string{
		"06:00 Asia/Shanghai":             {"06:00 Beijing time", "北京时间 06:00"},
		"07:00 12:00 Asia/Shanghai":       {"07:00 and 12:00 Beijing time", "北京时间 07:00、12:00"},
		"07:00 12:00 19:00 Asia/Shanghai": {"07:00, 12:00 and 19:00 Beijing time", "北京时间 07:00、12:00、19:00"},
		"06:00 Europe/Berlin":             {"06:00 Europe/Berlin", "Europe/Berlin 06:00"},
	} {
		c, err := policy.ParseCalendar(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := timetable(c); got != words.Say(want[0], want[1]) {
			t.Errorf("%s: %q, %q; want %q", text, got.EN(), got.ZH(), want)
		}
	}
}
