package httpsource

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"
	"golang.org/x/net/html"
	"golang.org/x/text/encoding/unicode"

	"sundry/upstreams"
	"sundry/upstreams/lib/chinatime"
)

// Bounds of a feed, far above those of any real one.
const (
	maxFeedElements = 50_000
	maxFeedWork     = 256 << 20 // bytes that the parser copies again and again
	// namespaceWork stands for a namespace in the scope of an element, in bytes.
	namespaceWork = 256
	// feedNodeMemory is what the parser takes for an element, in bytes.
	feedNodeMemory = 1 << 10
)

// decodeFeed makes what JSON Feed (https://jsonfeed.org/version/1.1) calls a feed of RSS,
// Atom or RDF that came from an address. What the feed lacks is absent, as are links that
// lead to no web page and dates that are none.
func decodeFeed(ctx context.Context, text []byte, from *url.URL) (any, error) {
	return feedIn(chinatime.Zone())(ctx, text, from)
}

// feedIn returns a decoder of feeds whose dates without a time zone are in this one.
func feedIn(zone *time.Location) func(context.Context, []byte, *url.URL) (any, error) {
	return func(_ context.Context, text []byte, from *url.URL) (any, error) { return readFeedIn(zone, text, from) }
}

func readFeedIn(zone *time.Location, text []byte, from *url.URL) (any, error) {
	root, err := parseXML(text)
	if err != nil {
		return nil, err
	}
	if err := checkFeed(root); err != nil {
		return nil, err
	}
	parser := gofeed.NewParser()
	parser.RSSTranslator = &gofeed.DefaultRSSTranslator{DisableContentImageScan: true}
	feed, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("body as a feed (RSS, Atom or RDF): %w", err)
	}
	return (&feedReader{from, zone}).feed(feed), nil
}

// Feed returns what decode: feed makes of a feed that came from an address. The text is
// UTF-8, whatever encoding it declares.
func Feed(text []byte, from *url.URL) (map[string]any, error) {
	text, err := textOfXML(text, unicode.UTF8)
	if err != nil {
		return nil, err
	}
	v, err := decodeFeed(context.Background(), text, from)
	object, _ := v.(map[string]any)
	return object, err
}

// memoryOfFeed is at least what decoding and mapping a feed take. HTML in it is parsed
// where it is content of Atom, and its tags may begin with an entity.
func memoryOfFeed(body []byte) int64 {
	elements := min(bytes.Count(body, []byte("<")), maxFeedElements)
	escaped := bytes.Count(body, []byte("&lt")) + bytes.Count(body, []byte("&LT")) + bytes.Count(body, []byte("&#"))
	return memoryOf(body) + int64(elements*feedNodeMemory+2*escaped*nodeMemory+workingSet*len(body))
}

// checkFeed refuses what the parser would take too long for: it copies the namespaces in
// scope for each element, and what an element holds for each piece of text.
func checkFeed(root *html.Node) error {
	elements, work := 0, 0
	scope := map[*html.Node]int{} // namespaces in the scope of an element
	texts := map[*html.Node]int{} // bytes of an element so far
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			texts[n.Parent] += len(n.Data)
			work += texts[n.Parent]
			continue
		}
		elements++
		scope[n] = scope[n.Parent]
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "xmlns") {
				scope[n]++
			}
		}
		work += scope[n] * namespaceWork
	}
	if elements > maxFeedElements || work > maxFeedWork {
		return fmt.Errorf("%w: a feed of %d elements, of which its parser would copy %d MiB", upstreams.ErrTooLarge, elements, work>>20)
	}
	return nil
}

// properties are those of an object that are not empty.
type properties map[string]any

func (p properties) text(name, value string) {
	if value = strings.TrimSpace(value); value != "" {
		p[name] = value
	}
}

func (p properties) date(name string, t time.Time) {
	if !t.IsZero() {
		p[name] = t.Format(time.RFC3339)
	}
}

func (p properties) list(name string, values []any) {
	if len(values) > 0 {
		p[name] = values
	}
}

// feedReader makes a value of a feed that came from an address. Its dates without a
// time zone are in zone.
type feedReader struct {
	from *url.URL
	zone *time.Location
}

func (r *feedReader) feed(f *gofeed.Feed) map[string]any {
	p, from := properties{}, r.from
	p.text("title", f.Title)
	p.text("home_page_url", absolute(from, f.Link))
	p.text("feed_url", absolute(from, f.FeedLink))
	p.text("description", f.Description)
	p.text("language", f.Language)
	if f.Image != nil {
		p.text("icon", absolute(from, f.Image.URL))
	}
	p.list("authors", authors(f.Authors))
	items := make([]any, 0, len(f.Items))
	for _, i := range f.Items {
		items = append(items, r.item(i))
	}
	p["items"] = items
	return p
}

func (r *feedReader) item(i *gofeed.Item) map[string]any {
	from := r.from
	link := i.Link
	if link == "" && strings.HasPrefix(i.GUID, "http") {
		link = i.GUID
	}
	p := properties{}
	p.text("id", cmp.Or(i.GUID, i.Link))
	p.text("url", absolute(from, link))
	p.text("title", i.Title)
	p.text("content_html", i.Content)
	p.text("summary", i.Description)
	if i.Image != nil {
		p.text("image", absolute(from, i.Image.URL))
	}
	p.date("date_published", dateIn(r.zone, i.Published, i.PublishedParsed))
	p.date("date_modified", dateIn(r.zone, i.Updated, i.UpdatedParsed))
	p.list("authors", authors(i.Authors))
	var tags []any
	for _, tag := range i.Categories {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	p.list("tags", tags)
	p.list("attachments", attachments(i, from))
	return p
}

func authors(persons []*gofeed.Person) (out []any) {
	for _, person := range persons {
		if name := strings.TrimSpace(cmp.Or(person.Name, person.Email)); name != "" {
			out = append(out, map[string]any{"name": name})
		}
	}
	return out
}

// attachments are the files of an item. How long it lasts is said of its only one.
func attachments(i *gofeed.Item, from *url.URL) (out []any) {
	for _, file := range i.Enclosures {
		link := absolute(from, file.URL)
		if link == "" {
			continue
		}
		p := properties{"url": link}
		p.text("mime_type", file.Type)
		if size, err := strconv.Atoi(strings.TrimSpace(file.Length)); err == nil && size > 0 {
			p["size_in_bytes"] = size
		}
		if i.ITunesExt != nil && len(i.Enclosures) == 1 {
			if lasts := seconds(i.ITunesExt.Duration); lasts > 0 {
				p["duration_in_seconds"] = lasts
			}
		}
		out = append(out, map[string]any(p))
	}
	return out
}

// seconds reads 3600, 60:00 or 1:00:00; 0 for anything else.
func seconds(duration string) int {
	total := 0
	for part := range strings.SplitSeq(duration, ":") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 0 || total > 1000*60 {
			return 0
		}
		total = total*60 + n
	}
	return total
}
