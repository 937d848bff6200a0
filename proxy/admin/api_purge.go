package admin

import (
	"net/http"

	"sundry/cache"
	"sundry/proxy/live"
)

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
	case !known && body.Endpoint != cache.AllEndpoints:
		return nil, absent("endpoint", body.Endpoint)
	case body.Key != "" && !a.holds(body.Endpoint, body.Key):
		return nil, bad("key: not one of the endpoint's")
	case body.Key == "" && body.Mode != "soft" && body.Mode != "hard":
		return nil, bad("mode: %q: want soft (kept as stale) or hard", body.Mode)
	}
	entries, bytes := a.weigh(body.Endpoint, body.Key)
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
	return purged{entries, bytes, record, record.Pending}, nil
}

// purged is what a purge reached of this instance's near tier.
type purged struct {
	Entries int        `json:"entries"`
	Bytes   int        `json:"bytes"`
	Change  recordView `json:"change"`
	Pending bool       `json:"pending,omitempty"`
}

func (p purged) status() int { return p.Change.status() }

// holds tells whether a key is of an endpoint, or of one of its parts.
func (a *api) holds(endpoint, key string) bool {
	_, ok := Holder(a.Spaces(endpoint), key)
	return ok
}

// weigh counts what a purge would reach in the near tier here.
func (a *api) weigh(endpoint, key string) (entries, bytes int) {
	for _, e := range a.Catalog().Endpoints {
		if endpoint != cache.AllEndpoints && endpoint != e.Name {
			continue
		}
		for _, space := range a.Spaces(e.Name) {
			space.Walk(func(i cache.EntryInfo) bool {
				if i.State != cache.Gone && (key == "" || key == i.Key) {
					entries++
					bytes += i.Bytes
				}
				return true
			})
		}
	}
	return entries, bytes
}
