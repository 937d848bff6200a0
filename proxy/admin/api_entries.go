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
	Key      string    `json:"key"`
	State    string    `json:"state"`
	LeftS    int64     `json:"left_s"` // of freshness; negative when stale
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

func entryOf(i *cache.EntryInfo) entryView {
	return entryView{
		Key: i.Key, State: i.State.String(), LeftS: int64(i.Left / time.Second), AgeS: int64(i.Age / time.Second),
		Born: i.Meta.Born, Modified: i.Meta.Modified, Expires: i.Meta.Expires, Source: i.Meta.Source, Edition: i.Meta.Edition,
		Negative: i.Meta.Negative, Bytes: i.Bytes, Bodies: i.Bodies, Complete: i.Complete, Class: i.Class,
	}
}

// entriesMax bounds a listing.
const entriesMax = 1000

// entries lists those of an endpoint in the near tier of this instance, the
// youngest first.
func (a *api) entries(r *http.Request) (any, error) {
	space, ok := a.Space(r.PathValue("name"))
	if !ok {
		return nil, absent("endpoint", r.PathValue("name"))
	}
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 || limit > entriesMax {
		limit = 100
	}
	views, total, bytes := []entryView{}, 0, 0
	space.Walk(func(i cache.EntryInfo) bool {
		total++
		bytes += i.Bytes
		views = append(views, entryOf(&i))
		return true
	})
	slices.SortFunc(views, func(x, y entryView) int { return y.Born.Compare(x.Born) })
	return map[string]any{"entries": views[:min(limit, len(views))], "total": total, "bytes": bytes}, nil
}

// entry shows one, with a look at a body of each form.
func (a *api) entry(r *http.Request) (any, error) {
	name, key := r.PathValue("name"), r.URL.Query().Get("key")
	space, ok := a.Space(name)
	e, known := a.Catalog().Get(name)
	if !ok || !known {
		return nil, absent("endpoint", name)
	}
	info, reps, found := space.Look(key)
	if !found || !strings.HasPrefix(key, name+":") {
		return nil, absent("entry", key)
	}
	bodies := []map[string]any{}
	for i := range reps {
		bodies = append(bodies, bodyOf(&reps[i], e.Personal()))
	}
	return map[string]any{"entry": entryOf(&info), "message": info.Message, "bodies": bodies}, nil
}

// previewMax is how much of a body is shown, in bytes.
const previewMax = 2 << 10

// bodyOf shows the headers of a body and its beginning, unless what callers
// asked for is personal.
func bodyOf(rep *cache.Rep, personal bool) map[string]any {
	v := map[string]any{"status": rep.Status, "type": rep.Type, "etag": rep.ETag, "location": rep.Location, "bytes": len(rep.Data)}
	head := rep.Data[:min(len(rep.Data), previewMax)]
	for len(head) > 0 && len(head) < len(rep.Data) && !utf8.Valid(head) && len(rep.Data)-len(head) < previewMax {
		head = head[:len(head)-1]
	}
	switch {
	case personal:
		v["location"], v["preview"] = "", "not shown: what is asked here is personal"
	case utf8.Valid(head):
		v["preview"] = string(head)
	}
	return v
}
