package admin

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sundry/cache"
)

// entryView is an entry of the near tier.
type entryView struct {
	Key string `json:"key"`
	// Part is the part of the endpoint, such as pictures; "" for answers.
	Part     string    `json:"part,omitempty"`
	State    string    `json:"state"`
	LeftS    int64     `json:"left_s"` // freshness left; negative when stale
	AgeS     int64     `json:"age_s"`
	Born     time.Time `json:"born"`
	Modified time.Time `json:"modified"`
	Expires  time.Time `json:"expires,omitzero"`
	Source   string    `json:"source"`
	Edition  string    `json:"edition,omitempty"`
	Negative bool      `json:"negative,omitempty"`
	Bytes    int       `json:"bytes"`
	Bodies   []int     `json:"bodies"` // of each form
	Complete bool      `json:"complete"`
	Class    string    `json:"class"`
}

func newEntryView(part string, i *cache.EntryInfo) entryView {
	return entryView{
		Key: i.Key, Part: part, State: i.State.String(), LeftS: int64(i.Left / time.Second), AgeS: int64(i.Age / time.Second),
		Born: i.Meta.Created, Modified: i.Meta.Modified, Expires: i.Meta.Expires, Source: i.Meta.Source, Edition: i.Meta.Edition,
		Negative: i.Meta.Negative, Bytes: i.Bytes, Bodies: i.Bodies, Complete: i.Complete, Class: i.Class,
	}
}

// maxEntries bounds a listing.
const maxEntries = 1000

// partName returns which part of its endpoint a space holds; "" for answers.
func partName(s *cache.Space) string {
	_, part, _ := strings.Cut(s.Name(), "/")
	return part
}

// partView counts what the near tier holds of a part.
type partView struct {
	Part    string `json:"part"` // "" for answers
	Entries int    `json:"entries"`
	Bytes   int    `json:"bytes"`
}

// entries lists the entries of an endpoint and its parts in this instance's near tier,
// the newest first.
func (a *api) entries(r *http.Request) (any, error) {
	name := r.PathValue("name")
	if _, ok := a.Catalog().Get(name); !ok {
		return nil, notFound("endpoint", name)
	}
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 || limit > maxEntries {
		limit = 100
	}
	views, parts, bytes := []entryView{}, []partView{}, 0
	for _, space := range a.Spaces(name) {
		p := partView{Part: partName(space)}
		space.Walk(func(i cache.EntryInfo) bool {
			p.Entries++
			p.Bytes += i.Bytes
			views = append(views, newEntryView(p.Part, &i))
			return true
		})
		parts = append(parts, p)
		bytes += p.Bytes
	}
	slices.SortFunc(views, func(x, y entryView) int { return y.Born.Compare(x.Born) })
	return map[string]any{"entries": views[:min(limit, len(views))], "total": len(views), "bytes": bytes, "parts": parts}, nil
}

// entry shows one entry, with the beginning of each form's body.
func (a *api) entry(r *http.Request) (any, error) {
	name, key := r.PathValue("name"), r.URL.Query().Get("key")
	e, known := a.Catalog().Get(name)
	if !known {
		return nil, notFound("endpoint", name)
	}
	space, ok := cache.SpaceOf(a.Spaces(name), key)
	if !ok {
		return nil, notFound("entry", key)
	}
	info, reps, found := space.Look(key)
	if !found {
		return nil, notFound("entry", key)
	}
	hiddenBecause := ""
	switch {
	case e.Personal():
		hiddenBecause = "not shown: parameters of this endpoint are personal"
	case space.Name() != e.Name && space.Name() != e.Pictures():
		hiddenBecause = "not shown: a step's result may hold credentials"
	}
	bodies := []map[string]any{}
	for i := range reps {
		bodies = append(bodies, bodyView(&reps[i], hiddenBecause))
	}
	return map[string]any{"entry": newEntryView(partName(space), &info), "message": info.Message, "bodies": bodies}, nil
}

// maxPreview is how much of a body is shown, in bytes.
const maxPreview = 2 << 10

// bodyView shows the headers of a body and its beginning, unless hiddenBecause
// says why not.
func bodyView(rep *cache.Rep, hiddenBecause string) map[string]any {
	v := map[string]any{"status": rep.Status, "type": rep.Type, "etag": rep.ETag, "location": rep.Location, "bytes": len(rep.Data)}
	head := rep.Data[:min(len(rep.Data), maxPreview)]
	for len(head) > 0 && len(head) < len(rep.Data) && !utf8.Valid(head) && len(rep.Data)-len(head) < maxPreview {
		head = head[:len(head)-1]
	}
	switch {
	case hiddenBecause != "":
		v["location"], v["preview"] = "", hiddenBecause
	case utf8.Valid(head):
		v["preview"] = string(head)
	}
	return v
}
