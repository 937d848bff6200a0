package cache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"sundry/cache/entry"
)

// Values are JSON values in a space: intermediate results that are needed again,
// such as that of an upstream's first step, rather than answers for callers. They
// are filled once per id, bounded, purged and inspected as answers are. A failure
// pauses an id only if the space's policy has a pause.
type Values struct {
	space  *Space
	source string
	prefix string
	// Session values say who asks, not what the answer is: an answer's drop leaves them.
	Session bool
}

// Values opens a space for values. The source is what inspection shows. Values
// of another version are not found.
func (s *Space) Values(source, version string) *Values {
	return &Values{space: s, source: source, prefix: s.name + ":" + version + ":"}
}

// Get returns the value of an id, and when it was created. Without one it calls
// load, once for all callers that wait at the same time, on a context of its own
// that may outlive this caller's. What load returns must be JSON-ready; numbers
// come back as json.Number.
func (v *Values) Get(ctx context.Context, id string, load func(context.Context) (any, error)) (any, time.Time, error) {
	key := v.key(id)
	v.dropOlder(ctx, key)
	answer, err := v.space.Get(ctx, key, Want{}, &valueLoader{v.source, load})
	if err != nil {
		return nil, time.Time{}, err
	}
	d := json.NewDecoder(bytes.NewReader(answer.Rep.Data))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, time.Time{}, fmt.Errorf("cached value: %w", err)
	}
	return value, answer.Meta.Created, nil
}

// Drop purges the value of an id that was created at that time, as Get returned it,
// and those before it. A later one stays, and so does a load that has begun.
func (v *Values) Drop(id string, created time.Time) {
	now := time.Now()
	v.space.purgeKey(v.key(id), heardAt(created, time.Time{}, time.Time{}, now), now)
}

// key hides the id: it may hold a session, or a caller's input.
func (v *Values) key(id string) string {
	sum := sha256.Sum256([]byte(id))
	return v.prefix + "#" + hex.EncodeToString(sum[:16])
}

// valueLoader loads one value.
type valueLoader struct {
	source string
	load   func(context.Context) (any, error)
}

// Load implements Loader.
func (l *valueLoader) Load(ctx context.Context, _ bool) (entry.Content, error) {
	value, err := l.load(ctx)
	if err != nil {
		return entry.Content{}, err
	}
	b, err := json.Marshal(value)
	if err != nil {
		return entry.Content{}, fmt.Errorf("value to cache: %w", err)
	}
	body := entry.Body{Status: http.StatusOK, Type: "application/json", Data: b}
	return entry.Content{Source: l.source, Forms: []entry.Form{{body}}}, nil
}
