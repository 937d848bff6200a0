package pages

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sundry/proxy/site/i18n"
	"sundry/proxy/site/status"
)

// StatusFeedPath is where readers of feeds follow the incidents, below the base path.
const StatusFeedPath = "/status.atom"

const typeAtom = "application/atom+xml; charset=utf-8"

// feed is a document of RFC 4287, and feedEntry an entry of it.
type feed struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	Lang    string   `xml:"xml:lang,attr"`
	feedEntry
	Author  string      `xml:"author>name"`
	Entries []feedEntry `xml:"entry"`
}

type feedEntry struct {
	ID      string     `xml:"id"`
	Title   string     `xml:"title"`
	Updated string     `xml:"updated"`
	Links   []feedLink `xml:"link"`
	Content string     `xml:"content,omitempty"`
}

type feedLink struct {
	Rel  string `xml:"rel,attr"`
	Href string `xml:"href,attr"`
}

// statusFeed makes the feed of the incidents. Each language has ids of its own, because what they name differs.
func (s *Set) statusFeed(l i18n.Language, r *status.Report) (*Document, error) {
	here := func(rel, path, anchor string) feedLink {
		return feedLink{rel, s.cfg.PublicURL + s.url(path) + "?lang=" + l.String() + anchor}
	}
	links := []feedLink{here("alternate", StatusPath, "")}
	if s.cfg.PublicURL != "" { // what the feed itself is at has to be said whole, or not at all
		links = append(links, here("self", StatusFeedPath, ""))
	}
	stamp := func(at time.Time) string { return at.UTC().Format(time.RFC3339) }
	f := feed{Lang: l.Tag(), Author: "Sundry", feedEntry: feedEntry{
		ID: r.ID("feed " + l.String()), Title: l.Say("Sundry: incidents", "Sundry：故障记录"), Updated: stamp(r.Updated()),
		Links: links,
	}}
	for i := range r.Incidents {
		in := &r.Incidents[i]
		var lines []string
		for _, spell := range in.Spells {
			lines = append(lines, s.spellWords(l, in, spell))
		}
		f.Entries = append(f.Entries, feedEntry{
			ID: r.ID(l.String() + " " + stamp(in.Begin)), Title: s.incidentTitle(l, in), Updated: stamp(in.Updated),
			Links: []feedLink{here("alternate", StatusPath, "#"+incidentAnchor(in))}, Content: strings.Join(lines, "\n"),
		})
	}
	text, err := xml.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("feed of the status: %w", err)
	}
	return newPassing(typeAtom, append([]byte(xml.Header), text...)), nil
}

// incidentAnchor is the id of an incident on the page.
func incidentAnchor(in *status.Incident) string {
	return "incident-" + strconv.FormatInt(in.Begin.Unix(), 10)
}

// titleOf is what people call an endpoint or an API; its name where the catalog no longer has it.
func (s *Set) titleOf(l i18n.Language, name string) string {
	if e, ok := s.cfg.API.Get(name); ok {
		return l.Of(e.Title)
	}
	if a, ok := s.cfg.API.API(name); ok {
		return l.Of(a.Title)
	}
	return name
}

func (s *Set) incidentTitle(l i18n.Language, in *status.Incident) string {
	var titles []string
	for _, name := range in.Endpoints() {
		titles = append(titles, s.titleOf(l, name))
	}
	what := strings.Join(titles, l.Say(", ", "、")) + l.Say(": ", "：") + stateWord(l, in.State())
	if in.Over() {
		return what + l.Say(" (over)", "（已恢复）")
	}
	return what
}

// spellWords says when an endpoint was in trouble, and which and how if that is not in the title.
func (s *Set) spellWords(l i18n.Language, in *status.Incident, of status.Spell) (words string) {
	from, until := timeIn(l, of.From), timeIn(l, of.Until)
	if len(in.Spells) > 1 {
		words = s.titleOf(l, of.Endpoint) + l.Say(": ", "：") + stateWord(l, of.State) + l.Say(", ", "，")
	}
	words += from.Date + " " + from.Clock
	zone := l.Say(" UTC", "（北京时间）")
	switch {
	case !of.Over:
		return words + zone + l.Say(" until now", "至今")
	case until.Date == from.Date:
		words += "–" + until.Clock
	default:
		words += " – " + until.Date + " " + until.Clock
	}
	return words + zone
}
