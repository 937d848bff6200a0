package upstreams

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// keptMax bounds how many outcomes of steps are remembered at once.
const keptMax = 1024

// Kept remembers what steps kept for longer than one call: signing keys, the
// songs of a list. The zero value is empty and ready; it is safe for
// concurrent use.
type Kept struct {
	once sync.Once
	list *lru.Cache[string, keptValue]
}

type keptValue struct {
	value any // not changed after it was put
	until time.Time
}

func (k *Kept) open() *lru.Cache[string, keptValue] {
	k.once.Do(func() {
		k.list, _ = lru.New[string, keptValue](keptMax) // fails for sizes below 1 only
	})
	return k.list
}

func (k *Kept) get(id string, now time.Time) (any, bool) {
	v, ok := k.open().Get(id)
	if !ok || !now.Before(v.until) {
		return nil, false
	}
	return v.value, true
}

func (k *Kept) put(id string, value any, until time.Time) {
	k.open().Add(id, keptValue{value, until})
}

func (k *Kept) drop(id string) { k.open().Remove(id) }

// Forget drops everything, so that the next calls ask again.
func (k *Kept) Forget() { k.open().Purge() }
