package admin

import (
	"maps"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"sundry/cache/policy"
	"sundry/metrics/words"
	"sundry/proxy/live"
	"sundry/upstreams/catalog"
)

// endpointView is an endpoint with its cache settings and statistics.
type endpointView struct {
	Name     string            `json:"name"`
	Group    string            `json:"group"`
	Title    map[string]string `json:"title"` // by language, as en and zh are
	EN       string            `json:"en"`
	ZH       string            `json:"zh"`
	Cached   bool              `json:"cached"`
	Daily    bool              `json:"daily"` // a calendar bounds freshness beside the ttl
	Personal bool              `json:"personal"`
	// Policy is the one in force, with the target and the autopilot, and Base that of the
	// catalog and the configuration: values such as 1h30m0s, by the name of the setting.
	Policy map[string]string `json:"policy"`
	Base   map[string]string `json:"base"`
	// Live are the settings that operators or the autopilot changed, and Until when they expire.
	Live  map[string]string `json:"live,omitempty"`
	Until time.Time         `json:"live_until,omitzero"`
}

// endpoints lists all endpoints.
func (a *api) endpoints(*http.Request) (any, error) {
	settings := a.Replicator.Settings()
	changed := settings.ActiveCache(a.Replicator.Now())
	views := []endpointView{}
	for _, e := range a.Catalog().Endpoints {
		v := endpointView{
			Name: e.Name, Group: e.Group, Title: titles(e.Title), EN: e.EN, ZH: e.ZH, Cached: e.Policy.Stores(), Daily: e.Policy.Until != nil,
			Personal: e.Personal(), Policy: settingTexts(e), Base: policyTexts(&e.Base), Live: changed[e.Name],
		}
		if v.Live != nil {
			v.Until = settings.Cache[e.Name].Until
		}
		views = append(views, v)
	}
	return map[string]any{"endpoints": views}, nil
}

// titles are what people call an endpoint, by language.
func titles(t words.Text) map[string]string { return map[string]string{"en": t.EN(), "zh": t.ZH()} }

// policyTexts are the settings of a policy by name, as texts.
func policyTexts(p *policy.Policy) map[string]string {
	out := map[string]string{}
	for _, name := range catalog.SettingNames() {
		out[name] = catalog.Setting(p, name).String()
	}
	return out
}

// settingTexts are all settings in force by name, as they are set.
func settingTexts(e *catalog.Endpoint) map[string]string {
	out := policyTexts(&e.Policy)
	out["target"], out["autopilot"] = e.Target.String(), "off"
	if b := e.Autopilot; b != nil {
		out["autopilot"] = b.Min.String() + ".." + b.Max.String()
	}
	return out
}

// maxNote bounds the characters of the reason for a change.
const maxNote = 200

// changeCache sets cache settings of an endpoint, in addition to those that are
// changed already; "" restores the value of the files.
func (a *api) changeCache(r *http.Request) (any, error) {
	var body struct {
		Set  map[string]string `json:"set"`
		For  string            `json:"for"`
		Note string            `json:"note"` // why, for the audit log
	}
	if err := decodeBody(r, &body); err != nil {
		return nil, err
	}
	e, ok := a.Catalog().Get(r.PathValue("name"))
	switch {
	case !ok:
		return nil, noEndpoint(r.PathValue("name"))
	case !e.Base.Stores():
		return nil, badRequest("%s is not cached, so it has no cache settings", "%s 不缓存，因此没有缓存设置", e.Name)
	case len(body.Set) == 0:
		return nil, badRequest(`set: expected cache settings, as in {"set":{"ttl":"2h"},"for":"1h"}`, `set：应为缓存设置，例如 {"set":{"ttl":"2h"},"for":"1h"}`)
	}
	if utf8.RuneCountInString(body.Note) > maxNote {
		return nil, fieldError("note", "note: expected at most %d characters", "note：最多 %d 个字符", maxNote)
	}
	d, err := parseFor(body.For)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(body.Set)) { // one by one, to say which is wrong
		if body.Set[name] == "" {
			continue
		}
		if err := e.CheckLive(map[string]string{name: body.Set[name]}); err != nil {
			return nil, told(name, err)
		}
	}
	return a.change(r, live.Change{Do: live.DoCache, Target: e.Name, Set: body.Set, For: d, Note: body.Note})
}

// resetCache restores the cache settings of the files.
func (a *api) resetCache(r *http.Request) (any, error) {
	if _, ok := a.Catalog().Get(r.PathValue("name")); !ok {
		return nil, noEndpoint(r.PathValue("name"))
	}
	return a.change(r, live.Change{Do: live.DoCache, Target: r.PathValue("name")})
}
