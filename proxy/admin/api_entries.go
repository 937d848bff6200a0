package admin

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"sundry/cache"
	"sundry/cache/entry"
	"sundry/metrics/words"
	"sundry/upstreams/lib/redact"
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
		return nil, noEndpoint(name)
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
		return nil, noEndpoint(name)
	}
	space, ok := cache.SpaceOf(a.Spaces(name), key)
	if !ok {
		return nil, notFound(words.Say("entry", "条目"), key)
	}
	info, reps, found := space.Look(key)
	if !found {
		return nil, notFound(words.Say("entry", "条目"), key)
	}
	var hiddenBecause words.Text
	switch {
	case e.Personal():
		hiddenBecause = words.Say("not shown: parameters of this endpoint are personal", "不予显示：这个接口的参数是个人信息")
	case space.Name() != e.Name && space.Name() != e.Pictures():
		hiddenBecause = words.Say("not shown: a step's result may hold credentials", "不予显示：步骤的结果可能含有凭据")
	}
	in := languageOf(r)
	names, bodies := e.FormNamesOf(key), []map[string]any{}
	for i := range reps {
		v := bodyView(&reps[i], in.Of(hiddenBecause), a.hidden().Redactor())
		if i < len(names) {
			v["form"] = names[i]
		}
		bodies = append(bodies, v)
	}
	return map[string]any{"entry": newEntryView(partName(space), &info), "message": in.Of(words.Unpack(info.Message)), "bodies": bodies}, nil
}

// bodyView shows the headers of a body and its beginning, unless hiddenBecause
// says why not.
func bodyView(rep *entry.Rep, hiddenBecause string, hidden *redact.Redactor) map[string]any {
	v := map[string]any{"status": rep.Status, "type": rep.Type, "etag": rep.ETag, "location": rep.Location, "bytes": len(rep.Data)}
	if hiddenBecause != "" {
		v["location"], v["preview"] = "", hiddenBecause
		return v
	}
	maps.Copy(v, preview(rep.Type, rep.Data, hidden))
	return v
}
