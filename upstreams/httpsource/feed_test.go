package httpsource

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sundry/upstreams"
	"sundry/upstreams/lib/costtest"
)

// readFeed decodes a feed of https://www.example.org/feed/.
func readFeed(t testing.TB, feed string) (any, error) {
	t.Helper()
	text, err := textOfXML([]byte(feed), nil)
	if err != nil {
		return nil, err
	}
	from, _ := url.Parse("https://www.example.org/feed/")
	return decodeFeed(t.Context(), text, from)
}

const (
	rssFeed = `<?xml version="1.0" encoding="utf-8"?><!-- a --><?xml-stylesheet href="x"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"
  xmlns:media="http://search.yahoo.com/mrss/" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<title>News &amp; more</title><link>https://www.example.org/</link><atom:link rel="self" href="https://www.example.org/feed/"/><description> All of it </description><language>en</language>
<image><url>/icon.png</url></image>
<item><guid isPermaLink="false">7</guid><link>/7?a=1&amp;b=2</link><title><![CDATA[ Fish & <b>chips</b> ]]></title><description>&lt;p&gt;Short&lt;/p&gt;</description>
 <content:encoded><![CDATA[<p>Long</p><img src="a.png">]]></content:encoded><pubDate>Tue, 24 Nov 2026 08:05:00 +0800</pubDate><dc:creator>Ann</dc:creator><category>food</category><category> </category>
 <media:content medium="image" url="https://img.example.org/7.jpg"/></item>
<item><guid>https://www.example.org/8</guid><title>Show</title><pubDate>soon</pubDate><enclosure url="https://www.example.org/8.mp3" type="audio/mpeg" length="1234"/><itunes:duration>1:02:03</itunes:duration></item>
<item><title>Bad links</title><link>javascript:alert(1)</link><enclosure url="file:///etc/passwd" type="text/plain"/><pubDate>Mon, 01 Jan 0001 00:00:00 +0000</pubDate></item>
</channel></rss>`
	atomFeed = `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="zh"><title>周报</title><link href="https://www.example.org/w/"/><link rel="self" href="w.xml"/><author><name>编辑部</name></author>
<entry><id>tag:example.org,2026:1</id><title type="html">&lt;i&gt;一&lt;/i&gt;</title><link rel="alternate" href="1"/><updated>2026-11-24T00:05:00Z</updated>
 <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>正文</p></div></content><summary>摘要</summary></entry></feed>`
	rdfFeed = `<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="https://www.example.org/"><title>R</title><link>https://www.example.org/</link></channel>
<item rdf:about="https://www.example.org/1"><title>One</title><link>https://www.example.org/1</link><dc:date>2026-11-24T08:05:00+08:00</dc:date></item></rdf:RDF>`
)

func TestFeeds(t *testing.T) {
	for name, row := range map[string]struct{ feed, want string }{
		"RSS": {rssFeed, `{"title": "News & more", "home_page_url": "https://www.example.org/", "feed_url": "https://www.example.org/feed/", "description": "All of it", "language": "en",
			"icon": "https://www.example.org/icon.png", "items": [
			{"id": "7", "url": "https://www.example.org/7?a=1&b=2", "title": "Fish & <b>chips</b>", "summary": "<p>Short</p>", "content_html": "<p>Long</p><img src=\"a.png\">",
			 "date_published": "2026-11-24T00:05:00Z", "authors": [{"name": "Ann"}], "tags": ["food"], "image": "https://img.example.org/7.jpg"},
			{"id": "https://www.example.org/8", "url": "https://www.example.org/8", "title": "Show",
			 "attachments": [{"url": "https://www.example.org/8.mp3", "mime_type": "audio/mpeg", "size_in_bytes": 1234, "duration_in_seconds": 3723}]},
			{"id": "javascript:alert(1)", "title": "Bad links"}]}`},
		"Atom": {atomFeed, `{"title": "周报", "home_page_url": "https://www.example.org/w/", "feed_url": "https://www.example.org/feed/w.xml", "language": "zh", "authors": [{"name": "编辑部"}], "items": [
			{"id": "tag:example.org,2026:1", "url": "https://www.example.org/feed/1", "title": "<i>一</i>", "summary": "摘要", "content_html": "<p>正文</p>",
			 "date_published": "2026-11-24T00:05:00Z", "date_modified": "2026-11-24T00:05:00Z"}]}`},
		"RDF": {rdfFeed, `{"title": "R", "home_page_url": "https://www.example.org/", "items": [
			{"id": "https://www.example.org/1", "url": "https://www.example.org/1", "title": "One",
			 "date_published": "2026-11-24T08:05:00+08:00", "date_modified": "2026-11-24T08:05:00+08:00"}]}`},
		"empty": {`<rss version="2.0"><channel/></rss>`, `{"items": []}`},
	} {
		v, err := readFeed(t, row.feed)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		b, _ := json.Marshal(v)
		var got, want any
		_, _ = json.Unmarshal(b, &got), json.Unmarshal([]byte(row.want), &want)
		if want == nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %s", name, cmp.Diff(want, got))
		}
	}
}

// hostileFeeds are feeds of some length that take long or much, by what does.
func hostileFeeds(size int) map[string]string {
	rss := func(head, piece, tail string) string {
		return "<rss><channel><item>" + head + strings.Repeat(piece, size/len(piece)) + tail + "</item></channel></rss>"
	}
	var namespaces, formatting strings.Builder
	for i := range size / 20 {
		fmt.Fprintf(&namespaces, " xmlns:n%d='u'", i)
	}
	for i := range size / 20 {
		fmt.Fprintf(&formatting, "&lt;p>&lt;b a=%d>", i)
	}
	return map[string]string{
		"namespaces":      rss("<a"+namespaces.String()+">", "<b/>", "</a>"),
		"pieces of text":  rss("<x:a>", "a<![CDATA[b]]>", "</x:a>"),
		"mixed text":      rss("<x:a>", "a<b/>", "</x:a>"),
		"extensions":      rss("", "<x:a b='c'/>", ""),
		"names":           rss("<x:a>", "<a><b/></a>", "</x:a>"),
		"dates":           rss("", "<pubDate>a</pubDate>", ""),
		"deep extensions": rss("", strings.Repeat("<x:a>", 100)+strings.Repeat("</x:a>", 100), ""),
		"items":           "<rss><channel>" + strings.Repeat("<item/>", size/7) + "</channel></rss>",
		"formatting":      "<feed><entry><content type='html'>" + formatting.String() + "</content></entry></feed>",
		"tags":            "<feed><entry><content type='html'>" + strings.Repeat("&lt;b>", size/6) + "</content></entry></feed>",
		"CDATA":           "<feed><entry><content type='html'><![CDATA[" + strings.Repeat("<b>", size/3) + "]]></content></entry></feed>",
	}
}

// TestMemoryOfFeeds: what a feed takes is reserved, or it is refused.
func TestMemoryOfFeeds(t *testing.T) {
	for name, feed := range hostileFeeds(256 << 10) {
		peak := costtest.PeakHeap(func() {
			if _, err := readFeed(t, feed); err != nil && !errors.Is(err, upstreams.ErrTooLarge) {
				t.Errorf("%s: %v", name, err)
			}
		})
		if reserved := uint64(memoryOfFeed([]byte(feed))); peak > reserved {
			t.Errorf("%s: %d KiB are reserved, %d KiB taken", name, reserved>>10, peak>>10)
		}
	}
}

func TestHostileFeeds(t *testing.T) {
	for name, row := range map[string]struct {
		feed, want string
		large      bool
	}{
		"a page":          {"<html><body/></html>", "failed to detect feed type", false},
		"JSON":            {`{"version":"https://jsonfeed.org/version/1.1","items":[]}`, "it has no element", false},
		"cut off":         {rssFeed[:len(rssFeed)/2], "XML", false},
		"deep":            {"<rss>" + strings.Repeat("<x:a>", 1000), "nested", false},
		"namespaces":      {hostileFeeds(1 << 20)["namespaces"], "its parser would copy", true},
		"pieces of text":  {hostileFeeds(256 << 10)["mixed text"], "its parser would copy", true},
		"elements":        {hostileFeeds(1 << 20)["items"], "a feed of 149798 elements", true},
		"an entity bomb":  {"<!DOCTYPE rss [<!ENTITY a 'aa'><!ENTITY b '&a;&a;'>]><rss><channel><title>&b;</title></channel></rss>", "", false},
		"external entity": {"<!DOCTYPE rss [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><rss><channel><title>&a;</title></channel></rss>", "", false},
	} {
		v, err := readFeed(t, row.feed)
		switch {
		case row.want == "" && (err != nil || !strings.HasPrefix(v.(map[string]any)["title"].(string), "&")):
			t.Errorf("%s: %v %v", name, v, err)
		case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want) || row.large != errors.Is(err, upstreams.ErrTooLarge)):
			t.Errorf("%s: %v, want %s", name, err, row.want)
		}
	}
}

// FuzzFeed: any feed ends in a value or an error.
func FuzzFeed(f *testing.F) {
	for _, feed := range []string{rssFeed, atomFeed, rdfFeed} {
		f.Add(feed)
	}
	f.Fuzz(func(t *testing.T, feed string) { _, _ = readFeed(t, feed) })
}
