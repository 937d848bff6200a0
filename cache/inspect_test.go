package cache

import (
	"testing"
	"testing/synctest"
	"time"
)

// What an endpoint keeps beside its answers is shown apart, dropped by key, and
// purged with them.
func TestParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, Config{Far: newShelf()})
		answers, pictures := c.Space("sjbz", usual()), c.Space("sjbz/pictures", usual())
		l := &script{}
		fill := func() {
			mustFetch(t, answers, "sjbz:v1:main", l)
			mustFetch(t, pictures, "sjbz/pictures:v1:a", l)
			mustFetch(t, pictures, "sjbz/pictures:v1:b", l)
			synctest.Wait()
		}
		shown := func(s *Space, want ...string) {
			t.Helper()
			got := map[string]State{}
			s.Walk(func(e EntryInfo) bool { got[e.Key] = e.State; return true })
			if len(got) != len(want) {
				t.Errorf("%s shows %v, want %v", s.Name(), got, want)
			}
			for _, key := range want {
				if _, _, ok := s.Look(key); got[key] != Fresh || !ok {
					t.Errorf("%s: %s is %v", s.Name(), key, got[key])
				}
			}
		}
		fill()
		shown(answers, "sjbz:v1:main")
		shown(pictures, "sjbz/pictures:v1:a", "sjbz/pictures:v1:b")

		time.Sleep(time.Second)
		pictures.Drop("sjbz/pictures:v1:a", time.Now())
		shown(pictures, "sjbz/pictures:v1:b")
		time.Sleep(time.Second)
		fill()
		wantCalls(t, l, 4)

		time.Sleep(time.Second)
		c.Purge(map[string]Mark{"sjbz": {Hard: time.Now()}})
		time.Sleep(time.Second)
		fill()
		wantCalls(t, l, 7)
		shown(pictures, "sjbz/pictures:v1:a", "sjbz/pictures:v1:b")
	})
}
