package recorded

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"strings"
	"testing"

	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/replay"
)

const sourcesPage = "../../deploy/sources.md"

// TestGoldenSources holds deploy/sources.md to the catalog and the recorded exchanges.
func TestGoldenSources(t *testing.T) {
	page := renderSources(mustLoad(t, replay.New(nil)), mustCases(t))
	if *update {
		if err := os.WriteFile(sourcesPage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(sourcesPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != page {
		t.Errorf("%s is not what the catalog and its exchanges say: run make golden", sourcesPage)
	}
}

func renderSources(c *catalog.Catalog, cases []*Case) string {
	var b strings.Builder
	b.WriteString(`# Sources

Every source that calls a service, and how we know what the service answers. The table is made from the catalog and
its recorded exchanges (` + "`make golden`" + `). The origin is that of the source's best good exchange:

- *recorded* from the live service, on the date given;
- *attested*: the exchange has the shape that the witnesses read or show (public code, a test of it, or a document; each in
  the version that was read), with invented values. *6 of 12 fields*: of the fields that our programs read of the reply, the
  witnesses read so many; the rest is taken from descriptions;
- *unattested*: no witness is to be had, for the reason given.

Sources that compute their answers need none, nor do those that only talk to what callers name (web sites, game servers) by
protocols that everybody uses.

`)
	b.WriteString(attestedCounts(cases))
	b.WriteString(weakWitnesses(c, cases))
	b.WriteString(`
| endpoint | source | host | origin | witnesses |
|---|---|---|---|---|
`)
	calls(c, func(e *catalog.Endpoint, s *upstreams.Source) {
		own := CasesOf(cases, e.Name, s.Declared)
		origin, witnesses := describe(own)
		if seen, read := witnessed(s, own); origin == "attested" && seen < read {
			origin += fmt.Sprintf(", %d of %d fields", seen, read)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", e.Name, s.Declared, hostOf(s, own), origin, witnesses)
	})
	return b.String()
}

// attestedCounts says how many exchanges are founded on more than descriptions, of good
// replies and of the others.
func attestedCounts(cases []*Case) string {
	var all, founded [2]int
	for _, x := range cases {
		other := 0
		if x.Want != "success" {
			other = 1
		}
		all[other]++
		if x.Origin != "composed" {
			founded[other]++
		}
	}
	return fmt.Sprintf("Of the %d exchanges with a good answer, %d are attested or recorded; of the %d with another (no such thing, refusals, failures,\n"+
		"shapes that were never seen), %d. How a service fails is seldom in public code.\n", all[0], founded[0], all[1], founded[1])
}

// weakWitnesses names the attested sources whose witnesses read less than half of what our
// programs do.
func weakWitnesses(c *catalog.Catalog, cases []*Case) string {
	var weak []string
	attested := 0
	calls(c, func(e *catalog.Endpoint, s *upstreams.Source) {
		own := CasesOf(cases, e.Name, s.Declared)
		if origin, _ := describe(own); origin != "attested" {
			return
		}
		attested++
		if seen, read := witnessed(s, own); 2*(seen+textsSeen(own)) < read {
			weak = append(weak, e.Name+"/"+s.Declared)
		}
	})
	if len(weak) == 0 {
		return fmt.Sprintf("\nThe witnesses of each of the %d attested sources read half or more of the fields that our programs do.\n", attested)
	}
	return fmt.Sprintf("\nOf the %d attested sources, these have weak witnesses, which read less than half of the fields that our programs do: %s.\n", attested, strings.Join(weak, ", "))
}

// textsSeen counts what witnesses see of pages, in which our programs give names to what
// they select.
func textsSeen(cases []*Case) (n int) {
	for _, x := range cases {
		for _, w := range x.Witnesses {
			for _, field := range w.Fields {
				if field.Text != "" {
					n++
				}
			}
		}
	}
	return n
}

// witnessed counts the names of fields that the programs of a source read of its attested
// replies, and those of them that a witness reads.
func witnessed(s *upstreams.Source, cases []*Case) (seen, read int) {
	fields, witnesses := map[string]bool{}, map[string]bool{}
	for _, x := range cases {
		for _, w := range x.Witnesses {
			for _, field := range w.Fields {
				for name := range strings.SplitSeq(field.Name, ".") {
					witnesses[strings.TrimRight(name, "[]")] = true
				}
			}
		}
		if x.Want == "success" && x.Origin == "attested" {
			x.addFields(s, fields)
		}
	}
	for _, reply := range s.Replies {
		for name := range reply.Reads {
			if fields[name] {
				delete(fields, name) // counted once
				read++
				if witnesses[name] {
					seen++
				}
			}
		}
	}
	return seen, read
}

// addFields adds the names of all fields in the replies of a case.
func (x *Case) addFields(s *upstreams.Source, fields map[string]bool) {
	var add func(v any)
	add = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				fields[name] = true
				add(inner)
			}
		case []any:
			for _, item := range v {
				add(item)
			}
		}
	}
	for _, r := range x.RoundTrips {
		if v, ok := document(s, &r, replay.ExpandDates(r.Body, x.Now)); ok {
			add(v)
		}
	}
}

// hostOf is the declared host, or else the first that was called.
func hostOf(s *upstreams.Source, cases []*Case) string {
	if h := s.Host(); h != nil {
		return h.Name
	}
	for _, x := range cases {
		for _, r := range x.RoundTrips {
			if u, err := url.Parse(r.URL); err == nil && u.Host != "" {
				return u.Host
			}
		}
	}
	return ""
}

// describe is the origin of the best good case, with the witnesses of all.
func describe(cases []*Case) (origin, witnesses string) {
	var links []string
	reason, date := "", ""
	for _, x := range cases {
		if x.Want != "success" {
			continue
		}
		if x.Origin == "recorded" {
			date = x.Now.Format("2006-01-02")
		}
		if x.Unattested != "" {
			reason = x.Unattested
		}
		for _, w := range x.Witnesses {
			if link := linkTo(&w); !strings.Contains(strings.Join(links, " "), link) {
				links = append(links, link)
			}
		}
	}
	switch origin = attestation(cases); origin {
	case "recorded":
		origin += " " + date
	case "unattested":
		return origin, strings.ReplaceAll(reason, "|", "\\|")
	}
	return origin, strings.Join(links, "<br>")
}

// linkTo names a witness by its repository, the first digits of its commit and its
// file, or by its address.
func linkTo(w *Witness) string {
	if w.Document != "" {
		return "<" + w.Document + ">"
	}
	return fmt.Sprintf("[%s@%s %s](%s)", w.Repository, w.Commit[:7], path.Base(w.Path), w.Link())
}
