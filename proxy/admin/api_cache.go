package admin

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sundry/cache"
	"sundry/upstreams/catalog"
)

// endpointView is an endpoint with its cache rule and how it fares.
type endpointView struct {
	Name     string `json:"name"`
	Group    string `json:"group"`
	EN       string `json:"en"`
	ZH       string `json:"zh"`
	Cached   bool   `json:"cached"`
	Daily    bool   `json:"daily"` // a calendar decides beside the ttl
	Personal bool   `json:"personal"`
	// Policy in force and of the files, by knob, as texts such as 1h30m0s.
	Policy map[string]string `json:"policy"`
	Base   map[string]string `json:"base"`
	// Live are the knobs that operators set, until when.
	Live  map[string]string `json:"live,omitempty"`
	Until time.Time         `json:"live_until,omitzero"`
	Stats *endpointStats    `json:"stats"`
}

// endpoints lists them.
func (a *api) endpoints(*http.Request) (any, error) {
	stats, settings := a.stats(), a.Tuner.Settings()
	live := settings.Live(time.Now())
	views := []endpointView{}
	for _, e := range a.Catalog().Endpoints {
		v := endpointView{
			Name: e.Name, Group: e.Group, EN: e.EN, ZH: e.ZH, Cached: e.Policy.Stores(), Daily: e.Policy.Until != nil,
			Personal: e.Personal(), Policy: knobs(&e.Policy), Base: knobs(&e.Base), Live: live[e.Name], Stats: stats[e.Name],
		}
		if v.Live != nil {
			v.Until = settings.Knobs[e.Name].Until
		}
		if v.Stats == nil {
			v.Stats = &endpointStats{}
		}
		v.Stats.finish()
		views = append(views, v)
	}
	return map[string]any{"endpoints": views}, nil
}

func knobs(p *cache.Policy) map[string]string {
	out := map[string]string{}
	for _, name := range catalog.Knobs() {
		out[name] = catalog.Knob(p, name).String()
	}
	return out
}

// changeKnobs sets knobs of an endpoint, beside those that are set already; ""
// takes one back.
func (a *api) changeKnobs(r *http.Request) (any, error) {
	var body struct {
		Set map[string]string `json:"set"`
		For string            `json:"for"`
	}
	if err := read(r, &body); err != nil {
		return nil, err
	}
	e, ok := a.Catalog().Get(r.PathValue("name"))
	switch {
	case !ok:
		return nil, absent("endpoint", r.PathValue("name"))
	case !e.Base.Stores():
		return nil, bad("%s is not cached, by its file", e.Name)
	case len(body.Set) == 0:
		return nil, bad(`set: nothing to set; want knobs as in {"set":{"ttl":"2h"},"for":"1h"}`)
	}
	d, err := span(body.For)
	if err != nil {
		return nil, err
	}
	values := maps.Clone(a.Tuner.Settings().Live(time.Now())[e.Name])
	if values == nil {
		values = map[string]string{}
	}
	for name, v := range body.Set {
		if values[name] = v; v == "" {
			delete(values, name)
		}
	}
	if err := catalog.CheckKnobs(values); err != nil {
		return nil, bad("%w", err)
	}
	return a.change(r, Change{Do: "knobs", Target: e.Name, Knobs: values, For: d})
}

// resetKnobs goes back to the files.
func (a *api) resetKnobs(r *http.Request) (any, error) {
	if _, ok := a.Catalog().Get(r.PathValue("name")); !ok {
		return nil, absent("endpoint", r.PathValue("name"))
	}
	return a.change(r, Change{Do: "knobs", Target: r.PathValue("name")})
}

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

// purge makes an endpoint, all, or one entry stale or gone. A preview tells
// what this instance has of it.
func (a *api) purge(r *http.Request) (any, error) {
	var body struct {
		Endpoint string `json:"endpoint"` // or * for all
		Key      string `json:"key"`      // of one entry
		Mode     string `json:"mode"`     // soft or hard
		Preview  bool   `json:"preview"`
	}
	if err := read(r, &body); err != nil {
		return nil, err
	}
	_, known := a.Catalog().Get(body.Endpoint)
	switch {
	case !known && body.Endpoint != cache.Everywhere:
		return nil, absent("endpoint", body.Endpoint)
	case body.Key != "" && (!known || !strings.HasPrefix(body.Key, body.Endpoint+":")):
		return nil, bad("key: not one of the endpoint's")
	case body.Key == "" && body.Mode != "soft" && body.Mode != "hard":
		return nil, bad("mode: %q: want soft (kept as stale) or hard", body.Mode)
	}
	entries, bytes := a.weigh(body.Endpoint, body.Key)
	if body.Preview {
		return map[string]any{"entries": entries, "bytes": bytes}, nil
	}
	c := Change{Do: "purge", Target: body.Endpoint, Hard: body.Mode == "hard"}
	if body.Key != "" {
		c = Change{Do: "drop", Target: body.Endpoint, Key: body.Key}
	}
	record, err := a.change(r, c)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	return map[string]any{"entries": entries, "bytes": bytes, "change": json.RawMessage(b)}, nil
}

// weigh counts what a purge would reach in the near tier here.
func (a *api) weigh(endpoint, key string) (entries, bytes int) {
	for _, e := range a.Catalog().Endpoints {
		if endpoint != cache.Everywhere && endpoint != e.Name {
			continue
		}
		space, ok := a.Space(e.Name)
		if !ok {
			continue
		}
		space.Walk(func(i cache.EntryInfo) bool {
			if i.State != cache.Gone && (key == "" || key == i.Key) {
				entries++
				bytes += i.Bytes
			}
			return true
		})
	}
	return entries, bytes
}
