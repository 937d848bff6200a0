package admin

import (
	"net/http"

	"sundry/cache"
	"sundry/cache/policy"
	"sundry/proxy/live"
)

// purge makes entries stale (soft) or removes them (hard): those of an endpoint, of
// all endpoints, or a single one. A preview counts those in the near tier of this
// instance.
func (a *api) purge(r *http.Request) (any, error) {
	var body struct {
		Endpoint string `json:"endpoint"` // or * for all
		Key      string `json:"key"`      // of one entry
		URL      string `json:"url"`      // of an API: what is kept of it, of all that begins with
		Prefix   string `json:"prefix"`   // the prefix, or has the tag, or is in the cache group
		Tag      string `json:"tag"`
		Group    string `json:"group"`
		Mode     string `json:"mode"` // soft or hard
		Preview  bool   `json:"preview"`
	}
	if err := decodeBody(r, &body); err != nil {
		return nil, err
	}
	_, known := a.Catalog().Get(body.Endpoint)
	_, isAPI := a.Catalog().API(body.Endpoint)
	of := selection{body.URL, body.Prefix, body.Tag, body.Group}
	switch {
	case isAPI && body.Key == "" && (body.Mode == "soft" || body.Mode == "hard"):
		return a.purgeAPI(r, body.Endpoint, of, body.Mode == "soft", body.Preview)
	case of != selection{} && !isAPI:
		return nil, fieldError("endpoint", "url, prefix, tag and group: expected the name of an API with proxy:", "url、prefix、tag、group：应给出以 proxy: 声明的 API 的名称")
	case isAPI && body.Key != "":
		return nil, fieldError("key", "key: expected url, prefix, tag or group for an API", "key：对于 API 应使用 url、prefix、tag 或 group")
	case !known && !isAPI && body.Endpoint != policy.AllEndpoints:
		return nil, noEndpoint(body.Endpoint)
	case body.Key != "" && !a.hasKey(body.Endpoint, body.Key):
		return nil, fieldError("key", "key: not a cache key of %s", "key：不是 %s 的缓存键", body.Endpoint)
	case body.Key == "" && body.Mode != "soft" && body.Mode != "hard":
		return nil, fieldError("mode", "mode: %q: expected soft (entries become stale) or hard (entries are gone)", "mode：不能是%q，应为 soft（条目变为过期）或 hard（条目不能再用）", body.Mode)
	}
	entries, bytes := a.countEntries(body.Endpoint, body.Key)
	kept, size := a.countAllKept(body.Endpoint)
	entries, bytes = entries+kept, bytes+size
	if body.Preview {
		return map[string]any{"entries": entries, "bytes": bytes}, nil
	}
	c := live.Change{Do: live.DoPurge, Target: body.Endpoint, Hard: body.Mode == "hard"}
	if body.Key != "" {
		c = live.Change{Do: live.DoDrop, Target: body.Endpoint, Key: body.Key}
	}
	record, err := a.change(r, c)
	if err != nil {
		return nil, err
	}
	return purgeView{entries, bytes, record, record.Pending}, nil
}

// purgeView is what a purge reached in this instance's near tier.
type purgeView struct {
	Entries int        `json:"entries"`
	Bytes   int        `json:"bytes"`
	Change  recordView `json:"change"`
	Pending bool       `json:"pending,omitempty"`
}

func (p purgeView) status() int { return p.Change.status() }

// hasKey reports whether a key belongs to an endpoint, or to one of its parts.
func (a *api) hasKey(endpoint, key string) bool {
	_, ok := cache.SpaceOf(a.Spaces(endpoint), key)
	return ok
}

// countEntries counts what a purge would reach in this instance's near tier.
func (a *api) countEntries(endpoint, key string) (entries, bytes int) {
	for _, e := range a.Catalog().Endpoints {
		if endpoint != policy.AllEndpoints && endpoint != e.Name {
			continue
		}
		for _, space := range a.Spaces(e.Name) {
			space.Walk(func(i cache.EntryInfo) bool {
				if i.State != policy.Gone && (key == "" || key == i.Key) {
					entries++
					bytes += i.Bytes
				}
				return true
			})
		}
	}
	return entries, bytes
}
