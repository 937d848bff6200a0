package pages

import (
	"encoding/xml"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/proxy/site/i18n"
	"sundry/proxy/site/status"
)

// atomNode is an element of a feed, whatever it is.
type atomNode struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []atomNode `xml:",any"`
}

func (n *atomNode) all(name string) (found []atomNode) {
	for _, c := range n.Children {
		if c.XMLName.Local == name {
			found = append(found, c)
		}
	}
	return found
}

func (n *atomNode) attr(name string) string {
	for _, a := range n.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// validAtom holds a feed against RFC 4287: what has to be there, how often, and of which form.
func validAtom(t *testing.T, text string) *atomNode {
	t.Helper()
	root := &atomNode{}
	d := xml.NewDecoder(strings.NewReader(text))
	if err := d.Decode(root); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if root.XMLName != (xml.Name{Space: "http://www.w3.org/2005/Atom", Local: "feed"}) {
		t.Errorf("the root is %v", root.XMLName)
	}
	ids := map[string]bool{}
	holdsAtom(t, root, ids, "author", "id", "title", "updated") // 4.1.1: an author, or one in each entry
	for _, link := range root.all("link") {
		if link.attr("rel") == "self" && !strings.HasPrefix(link.attr("href"), "https://") {
			t.Errorf("it is itself at %q", link.attr("href"))
		}
	}
	latest := ""
	for _, e := range root.all("entry") {
		holdsAtom(t, &e, ids, "id", "title", "updated", "content", "link")
		if link := e.all("link")[0]; link.attr("rel") != "alternate" {
			t.Errorf("link %v", link.Attrs)
		}
		latest = max(latest, e.all("updated")[0].Text)
	}
	if updated := root.all("updated")[0].Text; latest > updated {
		t.Errorf("updated %s, before an entry: %s", updated, latest)
	}
	return root
}

// holdsAtom: these elements are there once, and what is there is of its form.
func holdsAtom(t *testing.T, n *atomNode, ids map[string]bool, once ...string) {
	t.Helper()
	for _, name := range once {
		if len(n.all(name)) != 1 {
			t.Errorf("%d elements %s in %s", len(n.all(name)), name, n.XMLName.Local)
		}
	}
	for _, c := range n.Children {
		text, sound := strings.TrimSpace(c.Text), true
		switch c.XMLName.Local {
		case "id": // 4.2.6: an absolute IRI, each once
			sound = regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(text) && !ids[text]
			ids[text] = true
		case "updated", "published": // 3.3
			_, err := time.Parse(time.RFC3339, text)
			sound = err == nil
		case "link": // 4.2.7
			_, err := url.Parse(c.attr("href"))
			sound = err == nil && c.attr("href") != ""
		case "author": // 3.2
			sound = len(c.all("name")) == 1
		case "title", "content":
			sound = text != ""
		case "entry":
		default:
			sound = false
		}
		if !sound || c.XMLName.Space != n.XMLName.Space {
			t.Errorf("%s in %s: %q %v", c.XMLName.Local, n.XMLName.Local, text, c.Attrs)
		}
	}
}

func feedOf(t *testing.T, s *Set, l i18n.Language, r *status.Report) *atomNode {
	t.Helper()
	d, err := s.statusFeed(l, r)
	if err != nil || d.Type != typeAtom || !d.Passing {
		t.Fatalf("%v %+v", err, d)
	}
	return validAtom(t, textOf(d))
}

// TestFeed: in both languages, also without an incident.
func TestFeed(t *testing.T) {
	c := builtin(t)
	s := setOf(t, c)
	r := reportOf(c, goes)
	for l, want := range map[i18n.Language]string{i18n.English: "IP address lookup: Failing", i18n.Chinese: "IP 归属地查询：暂不可用"} {
		feed := feedOf(t, s, l, r)
		if feed.attr("lang") != l.Tag() || feed.all("updated")[0].Text != "2026-03-02T09:20:30Z" {
			t.Errorf("%v: %v", feed.Attrs, feed.all("updated"))
		}
		if n := len(feed.all("link")); n != 1 {
			t.Errorf("%d links, where nobody knows the feed's address", n)
		}
		entry := feed.all("entry")[0]
		if got := entry.all("title")[0].Text; got != want {
			t.Errorf("title %q, want %q", got, want)
		}
		if got, want := entry.all("link")[0].attr("href"), "/tools/status?lang="+l.String()+"#incident-1772443200"; got != want {
			t.Errorf("link %s, want %s", got, want)
		}
		if !strings.Contains(statusPage(t, s, l, r), `id="incident-1772443200"`) {
			t.Error("there is no such place on the page")
		}
	}
	none := feedOf(t, s, i18n.English, reportOf(c, func(string) string { return "w" }))
	if len(none.all("entry")) != 0 || none.all("updated")[0].Text != "2025-12-12T10:20:30Z" {
		t.Errorf("%+v", none)
	}
}

// TestFeedIDsLast: an incident keeps its id while others come and it ends; only then, it is updated.
func TestFeedIDsLast(t *testing.T) {
	c := builtin(t)
	s := setOf(t, c)
	r := &status.Record{Seed: "seed", Since: statusAt}
	var ids, updates []string
	for i := range 60 {
		at := statusAt.Add(time.Duration(i) * time.Minute)
		tally := status.Tally{0, 0, 20}
		if i >= 15 {
			tally = status.Tally{20, 0, 0}
		}
		r.Add("ip", at, tally)
		r.Judge(at)
		report := status.Of(&status.View{}, r, at, []status.Subject{{Name: "ip"}})
		entry := feedOf(t, s, i18n.English, &report).all("entry")[0]
		ids, updates = append(ids, entry.all("id")[0].Text), append(updates, entry.all("updated")[0].Text)
	}
	if first := ids[0]; slices.ContainsFunc(ids, func(id string) bool { return id != first }) {
		t.Errorf("ids %q", slices.Compact(ids))
	}
	if got := slices.Compact(updates); len(got) != 2 || got[0] != "2026-03-02T10:20:30Z" || got[1] != "2026-03-02T10:50:30Z" {
		t.Errorf("updated %q", got)
	}
}

// TestTitleOf: an endpoint that has left the catalog keeps its name in the incidents of before.
func TestTitleOf(t *testing.T) {
	s := setOf(t, builtin(t))
	for name, want := range map[string]string{"kd": "快递查询", "gone": "gone"} {
		if got := s.titleOf(i18n.Chinese, name); got != want {
			t.Errorf("%s is called %q, want %q", name, got, want)
		}
	}
}
