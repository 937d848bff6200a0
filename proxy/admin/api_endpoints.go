package admin

import (
	"maps"
	"net/http"
	"time"

	"sundry/cache"
	"sundry/proxy/live"
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
	stats, settings := a.stats(), a.Replicator.Settings()
	set := settings.ActiveCache(time.Now())
	views := []endpointView{}
	for _, e := range a.Catalog().Endpoints {
		v := endpointView{
			Name: e.Name, Group: e.Group, EN: e.EN, ZH: e.ZH, Cached: e.Policy.Stores(), Daily: e.Policy.Until != nil,
			Personal: e.Personal(), Policy: knobs(&e.Policy), Base: knobs(&e.Base), Live: set[e.Name], Stats: stats[e.Name],
		}
		if v.Live != nil {
			v.Until = settings.Cache[e.Name].Until
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
	values := maps.Clone(a.Replicator.Settings().ActiveCache(time.Now())[e.Name])
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
	return a.change(r, live.Change{Do: live.DoCache, Target: e.Name, Cache: values, For: d})
}

// resetKnobs goes back to the files.
func (a *api) resetKnobs(r *http.Request) (any, error) {
	if _, ok := a.Catalog().Get(r.PathValue("name")); !ok {
		return nil, absent("endpoint", r.PathValue("name"))
	}
	return a.change(r, live.Change{Do: live.DoCache, Target: r.PathValue("name")})
}
