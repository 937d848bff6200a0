package httpsource

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"sundry/upstreams/lib/chinatime"
)

// dateOf returns the date of the only item of a feed.
func dateOf(t *testing.T, zone *time.Location, feed, name string) any {
	t.Helper()
	v, err := readFeedIn(zone, []byte(feed), &url.URL{})
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any)["items"].([]any)[0].(map[string]any)[name]
}

// A date without a time zone is in that of the source, which is China's by default.
func TestDatesWithoutAZone(t *testing.T) {
	const rss, dc, atom = `<rss version="2.0"><channel><item><title>a</title><pubDate>%s</pubDate></item></channel></rss>`,
		`<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><item><title>a</title><dc:date>%s</dc:date></item></channel></rss>`,
		`<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>a</title><published>%[1]s</published><updated>%[1]s</updated></entry></feed>`
	for text, want := range map[string]string{
		"2022-08-18 16:27:07":            "2022-08-18T16:27:07+08:00",
		"2022-08-18T16:27:07":            "2022-08-18T16:27:07+08:00",
		" 2022/8/18 16:27 ":              "2022-08-18T16:27:00+08:00",
		"2022年8月18日 16:27":               "2022-08-18T16:27:00+08:00",
		"Thu, 18 Aug 2022 16:27:07":      "2022-08-18T16:27:07+08:00",
		"Thu Aug 18 16:27:07 2022":       "2022-08-18T16:27:07+08:00",
		"Thu, 18 Aug 2022 16:27:07 CST":  "2022-08-18T16:27:07+08:00",
		"August 18, 2022 04:27 PM":       "2022-08-18T16:27:00+08:00",
		"Aug 18 2022 04:27:07PM":         "2022-08-18T16:27:07+08:00",
		"2022-08-18":                     "2022-08-18T00:00:00+08:00",
		"18 Aug 2022":                    "2022-08-18T00:00:00+08:00",
		"1660811227":                     "2022-08-18T16:27:07+08:00",
		"2022-08-18 16:27:07Z":           "2022-08-18T16:27:07Z",
		"2022-08-18T16:27:07.5Z":         "2022-08-18T16:27:07Z",
		"Thu, 18 Aug 2022 16:27:07 GMT":  "2022-08-18T16:27:07Z",
		"Thu, 18 Aug 2022 16:27:07 EDT":  "2022-08-18T20:27:07Z",
		"Thu, 18 Aug 2022 16 +0000":      "2022-08-18T16:00:00Z",
		"2022-08-18 16:27:07 -0700":      "2022-08-18T23:27:07Z",
		"Thu Aug 18 16:27:07 +0000 2022": "2022-08-18T16:27:07Z",
		"soon":                           "",
	} {
		for _, form := range []string{rss, dc, atom} {
			got, _ := dateOf(t, chinatime.Zone(), fmt.Sprintf(form, text), "date_published").(string)
			if at, err := time.Parse(time.RFC3339, got); got != want && (err != nil || at.UTC().Format(time.RFC3339) != want) {
				t.Errorf("%q in %.10s: %q, want %q", text, form, got, want)
			}
		}
	}
	if got := dateOf(t, chinatime.Zone(), fmt.Sprintf(atom, "2022-08-18T16:27:07"), "date_modified"); got != "2022-08-18T16:27:07+08:00" {
		t.Errorf("modified: %v", got)
	}
	tokyo := time.FixedZone("", 9*60*60)
	for text, want := range map[string]string{
		"2022-08-18 16:27:07": "2022-08-18T16:27:07+09:00", "18 Aug 2022": "2022-08-18T00:00:00+09:00", "2022-08-18 16:27:07Z": "2022-08-18T16:27:07Z",
	} {
		if got := dateOf(t, tokyo, fmt.Sprintf(rss, text), "date_published"); got != want {
			t.Errorf("in Tokyo, %q: %v, want %q", text, got, want)
		}
	}
}
