package live

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/policy"
)

// TestMergingIsALattice: whatever is merged with what, in any order and however often, is the same in the end.
func TestMergingIsALattice(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 1))
	for range 10 {
		sets := make([]*Settings, 4)
		for i := range sets {
			sets[i] = &Settings{}
			for n := range dice.IntN(400) {
				c := Change{
					ID: fmt.Sprint(i, "-", n), By: []string{"me", ByAutopilot}[dice.IntN(2)], Target: fmt.Sprint(dice.IntN(5)), Key: fmt.Sprint(dice.IntN(500)),
					Do: []string{DoCache, DoPurge, DoDrop, DoDrop, DoReset}[dice.IntN(5)], Cache: map[string]string{"ttl": fmt.Sprint(n, "s")},
				}
				next, err := sets[i].With(c, nine.Add(time.Duration(dice.IntN(100_000))*time.Millisecond))
				if err != nil {
					t.Fatal(err)
				}
				sets[i] = next
			}
			if i > 0 && dice.IntN(2) == 0 {
				sets[i] = sets[i].merge(sets[i-1]) // what both know
			}
		}
		want := ""
		for range 6 {
			dice.Shuffle(len(sets), func(i, j int) { sets[i], sets[j] = sets[j], sets[i] })
			merged := sets[0].merge(sets[1].merge(sets[2])).merge(sets[3]).merge(sets[dice.IntN(4)])
			merged.floor = time.Time{}
			all := string(stored(t, merged))
			if want == "" {
				want = all
			}
			if all != want {
				t.Fatalf("%s\n%s", all, want)
			}
		}
	}
}

// convergence is a fleet that is ill-treated, and what must be true of it in the end.
type convergence struct {
	*testing.T
	dice    *rand.Rand
	store   *sharedStore
	conns   []*connection
	fleet   []*Replicator
	purged  []map[string]policy.Purge // by instance
	dropped []map[string]time.Time    // by instance and key
	last    map[string]string         // TTLs, by endpoint
	purges  map[string]bool           // endpoints
	drops   map[string]bool           // keys
	backup  []byte
}

func (c *convergence) join() {
	i := len(c.fleet)
	conn := &connection{sharedStore: c.store}
	c.conns, c.purged, c.dropped = append(c.conns, conn), append(c.purged, nil), append(c.dropped, map[string]time.Time{})
	r := NewReplicator(ReplicatorConfig{
		Store: conn, Log: slog.New(slog.DiscardHandler), Check: valid, Apply: func(EffectiveSettings) error { return nil },
		Purge: func(p map[string]policy.Purge, orders []Order) {
			c.purged[i] = p
			for _, o := range orders {
				if o.Do == DoDrop {
					c.dropped[i][o.Key] = policy.Later(c.dropped[i][o.Key], o.At)
				}
			}
		},
	})
	c.fleet = append(c.fleet, r)
	_ = r.sync(c.Context())
}

func (c *convergence) change(i int, change Change) {
	change.By = "op"
	if _, err := c.fleet[i].Change(c.Context(), change); err != nil {
		c.Fatal(err)
	}
	time.Sleep(2 * time.Millisecond) // dates have milliseconds
}

// step does something at random.
func (c *convergence) step(n int) {
	i, target := c.dice.IntN(len(c.fleet)), fmt.Sprint("e", c.dice.IntN(3))
	switch c.dice.IntN(13) {
	case 0:
		c.conns[i].away(!c.conns[i].down)
	case 12:
		c.conns[i].inject(func(conn *connection) { conn.readOnly = !conn.readOnly })
	case 1:
		c.backup = slices.Clone(c.store.mem)
	case 2:
		c.store.put(slices.Clone(c.backup))
	case 3:
		c.store.put(nil)
	case 4:
		c.store.put([]byte(garbage))
	case 5:
		c.conns[i].inject(func(conn *connection) { conn.silent = 1 })
	case 6, 7:
		c.last[target] = fmt.Sprintf("%ds", n+1)
		c.change(i, Change{Do: DoCache, Target: target, Cache: map[string]string{"ttl": c.last[target]}})
	case 8:
		c.purges[target] = true
		c.change(i, Change{Do: DoPurge, Target: target, Hard: true})
	case 9:
		key := fmt.Sprint("k", c.dice.IntN(20))
		c.drops[key] = true
		c.change(i, Change{Do: DoDrop, Target: "e0", Key: key})
	default:
		if _ = c.fleet[i].sync(c.Context()); c.conns[i].readOnly && !c.conns[i].down && string(c.store.mem) != garbage {
			c.hasAllOf(i)
		}
	}
}

// hasAllOf checks that an instance in touch with a store that takes no writes has in force what is stored.
func (c *convergence) hasAllOf(i int) {
	s, err := parse(c.store.mem)
	if err != nil {
		c.Fatal(err)
	}
	if lacks := s.without(c.fleet[i].Settings()); len(lacks) > 0 || !c.fleet[i].InSync() {
		c.Fatalf("instance %d lacks %v, in sync: %v", i, lacks, c.fleet[i].InSync())
	}
}

// garbage is what damaged settings are.
const garbage = "garbage"

// check checks that all instances, and the store, have the same settings, each target what was set last, and that no purge and no drop is
// lost anywhere.
func (c *convergence) check() {
	for i, r := range c.fleet {
		s := r.Settings()
		if string(stored(c.T, s)) != string(c.store.mem) || r.Pending() != 0 || !r.InSync() {
			c.Fatalf("instance %d: %d pending, in sync: %v\n%s\n%s", i, r.Pending(), r.InSync(), stored(c.T, s), c.store.mem)
		}
		for target, ttl := range c.last {
			if got := s.Cache[target].Values["ttl"]; got != ttl {
				c.Fatalf("instance %d: %s has %s, want %s", i, target, got, ttl)
			}
		}
		for key := range c.drops {
			if c.dropped[i][key].IsZero() {
				c.Fatalf("instance %d has not dropped %s", i, key)
			}
		}
		for target := range c.purges {
			if c.purged[i][target].Hard.IsZero() {
				c.Fatalf("instance %d has not purged %s", i, target)
			}
		}
	}
}

// TestFleetsConverge, whatever becomes of the store and the way to it.
func TestFleetsConverge(t *testing.T) {
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			c := &convergence{T: t, dice: rand.New(rand.NewPCG(seed, 1)), store: &sharedStore{}, last: map[string]string{}, purges: map[string]bool{}, drops: map[string]bool{}}
			for range 3 {
				c.join()
			}
			for n := range 60 {
				c.step(n)
			}
			for range 8 {
				time.Sleep(damageWait)
				for i, r := range c.fleet {
					c.conns[i].inject(func(conn *connection) { conn.down, conn.readOnly, conn.silent = false, false, 0 })
					_ = r.sync(t.Context())
				}
			}
			c.check()
		})
	}
}
