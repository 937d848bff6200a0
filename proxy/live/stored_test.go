package live

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// ofOlder are settings as versions from before the records stored them. Their audit log has forgotten some changes.
const ofOlder = `{"seq":900,"cache":{"ip":{"values":{"ttl":"2h"}},"60s":{"values":{"ttl":"5m"},"until":"2036-01-01T00:00:00Z"}},"by_hand":{"ip":"2026-01-01T00:00:00Z"},
	"breakers":{"h":{"force":"open"}},"purges":{"ip":{"soft":"2026-01-01T00:00:00Z","hard":"2026-01-02T00:00:00Z"}},
	"orders":[{"seq":899,"at":"2026-01-03T00:00:00Z","do":"drop","target":"ip","key":"ip:k"},{"seq":900,"at":"2026-01-04T00:00:00Z","do":"reset","target":"h"}],
	"audit":[{"seq":890,"id":"a","at":"2026-01-01T00:00:00Z","by":"me","do":"cache","target":"ip","after":{"values":{"ttl":"2h"}}},
	{"seq":891,"at":"2026-01-02T00:00:00Z","by":"me","do":"purge","target":"ip","note":"hard"},{"seq":900,"at":"2026-01-04T00:00:00Z","by":"me","do":"reset","target":"h"}]}`

// TestSettingsOfAnOlderVersion lose nothing, and become records with the next change. What that version stores later counts too.
func TestSettingsOfAnOlderVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &sharedStore{}
		store.put([]byte(ofOlder))
		r, at := newReplicator(store)
		complete := func(s *Settings, seq int64) {
			t.Helper()
			if s.Seq != seq || s.Cache["ip"].Values["ttl"] != "2h" || s.Cache["60s"].Values["ttl"] != "5m" || s.Breakers["h"].Force != "open" || s.Purges["ip"].Soft.IsZero() || s.Purges["ip"].Hard.IsZero() || len(s.drops) != 1 {
				t.Errorf("%+v", s)
			}
		}
		if err := r.sync(t.Context()); err != nil || string(store.mem) != ofOlder || len(at.orders()) != 1 {
			t.Errorf("%v: orders %v, and it wrote %s", err, at.orders(), store.mem)
		}
		complete(r.Settings(), 900)
		if _, err := r.Change(t.Context(), Change{By: "me", Do: DoPurge, Target: "60s"}); err != nil {
			t.Fatal(err)
		}
		s, err := parse(store.mem)
		if err != nil {
			t.Fatal(err)
		}
		complete(s, 901)
		// An older version carries along what it does not know, and adds its change to the audit log and the rest.
		older := strings.Replace(string(store.mem), `{"seq":901,`, `{"seq":902,`, 1)
		older = strings.Replace(older, `"breakers":{`, `"breakers":{"g":{"force":"closed"},`, 1)
		older = strings.Replace(older, `"audit":[`, `"audit":[{"seq":902,"id":"b","at":"2036-01-01T00:00:00Z","by":"me","do":"breaker","target":"g","after":{"force":"closed"}},`, 1)
		store.put([]byte(older))
		if err := r.sync(t.Context()); err != nil || r.Settings().Breakers["g"].Force != "closed" || string(store.mem) != older {
			t.Errorf("%v: %+v, stored %s", err, r.Settings(), store.mem)
		}
		complete(r.Settings(), 902)
	})
}

// TestDropsThatAnOlderVersionForgot make the floor rise.
func TestDropsThatAnOlderVersionForgot(t *testing.T) {
	older := func(drops, records int) storedSettings {
		st := storedSettings{Seq: int64(records)}
		for n := range records {
			r := Record{Seq: int64(n + 1), ID: fmt.Sprint(n), At: nine.Add(time.Duration(n) * time.Second), By: "me", Do: DoPurge, Target: "ip", Note: "soft"}
			if n >= records-drops {
				r.Do, r.Note = DoDrop, fmt.Sprint("ip:", n)
				st.Orders = append(st.Orders, Order{r.Seq, r.At, r.Do, r.Target, r.Note})
			}
			st.Audit = append(st.Audit, r)
		}
		return st
	}
	for name, row := range map[string]struct {
		drops, records int
		want           time.Time
	}{"all are known": {maxOrders, maxAudit - 1, time.Time{}}, "few drops": {maxOrders - 1, maxAudit, time.Time{}}, "some may be unknown": {maxOrders, maxAudit, nine}} {
		st := older(row.drops, row.records)
		if s, err := st.settings(); err != nil || !s.floor.Equal(row.want) {
			t.Errorf("%s: %v, the floor is %v", name, err, s.floor)
		}
	}
}

// TestRecordsOfANewerVersion stay as that has stored them, with kinds and fields that this one does not know.
func TestRecordsOfANewerVersion(t *testing.T) {
	const newer = `{"seq":3,"complete_to":3,"audit":[
		{"seq":1,"id":"a","at":"2026-01-01T00:00:00Z","by":"me","do":"trial","target":"own","after":{"new":9007199254740993},"new":1},
		{"seq":2,"id":"b","at":"2026-01-01T00:00:01Z","by":"me","do":"cache","target":"own","after":{"values":{"ttl":"2h"},"new":2},"new":3},
		{"seq":3,"id":"c","at":"2026-01-01T00:00:02Z","by":"me","do":"breaker","target":"h","after":["new",4]}]}`
	s, err := parse([]byte(newer))
	if err != nil || s.Cache["own"].Values["ttl"] != "2h" || len(s.Breakers) != 0 {
		t.Fatalf("%v: %+v", err, s)
	}
	for range 2 * maxAudit {
		s = and(t, decoded(t, s), Change{Do: DoPurge, Target: "ip"})
	}
	b := stored(t, s)
	for _, want := range []string{`"new":9007199254740993`, `"new":1`, `"new":2`, `"new":3`, `["new",4]`} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("%s is lost: %s", want, b)
		}
	}
}
