package policy

import (
	"testing"
	"time"

	"sundry/cache/entry"
)

func TestPurgesByEndpoint(t *testing.T) {
	created := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	now := created.Add(10 * time.Second)
	before, after := created.Add(-time.Second), created.Add(time.Second)
	p := usual()
	ungraceful := p
	ungraceful.Grace = 0
	for name, r := range map[string]struct {
		purge Purge
		meta  entry.Meta
		under *Policy
		given State
		want  State
	}{
		"nothing is purged":             {Purge{}, entry.Meta{Created: created}, &p, Fresh, Fresh},
		"created after both":            {Purge{before, before}, entry.Meta{Created: created}, &p, Fresh, Fresh},
		"hard":                          {Purge{Hard: after}, entry.Meta{Created: created}, &p, Fresh, Gone},
		"hard, at the same instant":     {Purge{Hard: created}, entry.Meta{Created: created}, &p, Eager, Gone},
		"soft":                          {Purge{Soft: after}, entry.Meta{Created: created}, &p, Fresh, Grace},
		"soft, of what is stale anyway": {Purge{Soft: after}, entry.Meta{Created: created}, &p, Stale, Stale},
		"soft, without grace":           {Purge{Soft: after}, entry.Meta{Created: created}, &ungraceful, Eager, Stale},
		"soft, negative":                {Purge{Soft: after}, entry.Meta{Created: created, Negative: true}, &p, Fresh, Gone},
	} {
		state, left := r.purge.Apply(&r.meta, r.under, now, r.given, time.Minute)
		if state != r.want || (state != r.given) != (left < 0) {
			t.Errorf("%s: %v, %v left; want %v", name, state, left, r.want)
		}
	}
}
