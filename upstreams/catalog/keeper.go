package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"sundry/cache"
	"sundry/upstreams"
)

// Keeper keeps what steps brought in the cache, each step's in a space of its
// own beside its endpoint's: bounded, purged and inspected as answers are.
type Keeper struct{ Cache *cache.Cache }

var _ upstreams.Keeper = Keeper{}

// Shelf implements upstreams.Keeper. What lets us in elsewhere is nobody's
// business: it stays in this process. A failure makes no pause of its own: the
// answers that are made of the outcome have theirs.
func (k Keeper) Shelf(endpoint string, rule upstreams.ShelfRule) upstreams.Shelf {
	class := cache.Keyed
	if rule.Shared {
		class = cache.Shared
	}
	space := k.Cache.Space(endpoint+"/"+rule.Step, cache.Policy{
		TTL: rule.Lasts, FillTimeout: rule.Timeout, Class: class, Local: true,
	})
	return &shelf{space: space, prefix: space.Name() + ":" + rule.Version + ":"}
}

// shelf keeps outcomes as JSON.
type shelf struct {
	space  *cache.Space
	prefix string
}

// Fetch implements upstreams.Shelf.
func (s *shelf) Fetch(ctx context.Context, id string, ask func(context.Context) (any, error)) (any, time.Time, error) {
	hit, err := s.space.Fetch(ctx, s.key(id), cache.Want{}, asking(ask))
	if err != nil {
		return nil, time.Time{}, err
	}
	d := json.NewDecoder(bytes.NewReader(hit.Rep.Data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, time.Time{}, fmt.Errorf("what was kept: %w", err)
	}
	return v, hit.Meta.Created, nil
}

// Drop implements upstreams.Shelf.
func (s *shelf) Drop(id string) { s.space.PurgeKey(s.key(id), time.Now()) }

// key hides the id: it may hold a session, or what a caller asked for.
func (s *shelf) key(id string) string {
	sum := sha256.Sum256([]byte(id))
	return s.prefix + "#" + hex.EncodeToString(sum[:16])
}

// asking is a cache.Loader of a step's outcome.
type asking func(context.Context) (any, error)

// Load implements cache.Loader.
func (ask asking) Load(ctx context.Context, _ bool) (cache.Content, error) {
	v, err := ask(ctx)
	if err != nil {
		return cache.Content{}, err
	}
	b, err := json.Marshal(v)
	if err != nil {
		return cache.Content{}, fmt.Errorf("keep an outcome: %w", err)
	}
	body := cache.Body{Status: http.StatusOK, Type: "application/json"}
	body.Data[cache.Identity] = b
	return cache.Content{Source: "step", Forms: []cache.Form{{body}}}, nil
}
