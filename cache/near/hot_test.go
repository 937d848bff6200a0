package near

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// TestSlowReaderDoesNotBringBackAnOldEntry: what a reader found in bigcache before a write does not come after it.
func TestSlowReaderDoesNotBringBackAnOldEntry(t *testing.T) {
	m := newMemory(t, MinMemory)
	mustPut(t, m, policy.Keyed, "k", textContent("old"))
	version := m.hot.version("k")
	old, _ := m.Stored(policy.Keyed, "k")
	mustPut(t, m, policy.Keyed, "k", textContent("new"))
	m.hot.offer(m, policy.Keyed, "k", &old, version)
	if m.Hot("k") != nil {
		t.Error("an entry that was replaced is in the hot table")
	}
	m.Remove(policy.Keyed, "k")
	m.hot.offer(m, policy.Keyed, "k", &old, version)
	if m.Hot("k") != nil {
		t.Error("an entry that was removed is in the hot table")
	}
}

// TestHotTableUnderConcurrentWrites: after writers and readers of one key, the last write is what is read.
func TestHotTableUnderConcurrentWrites(t *testing.T) {
	m := newMemory(t, MinMemory)
	for round := range 200 {
		key := fmt.Sprint("story:", round)
		var group sync.WaitGroup
		for reader := range 3 {
			group.Go(func() {
				for range 20 {
					if text := textOf(m, policy.Keyed, key); text != "" && !strings.HasPrefix(text, "write") {
						t.Errorf("reader %d: %q", reader, text)
					}
				}
			})
		}
		for n := range 20 {
			mustPut(t, m, policy.Keyed, key, textContent(fmt.Sprint("write ", n)))
		}
		group.Wait()
		if r := m.Hot(key); r != nil {
			if rep, err := r.Pick(0, r.Record); err != nil || string(rep.Data) != "write 19" {
				t.Fatalf("round %d: the hot table has %q", round, rep.Data)
			}
		}
	}
}

// read reads a key as the cache does: in the hot table, or else in bigcache, or else it is stored.
func read(t *testing.T, m *Memory, key string) {
	if m.Hot(key) == nil && textOf(m, policy.Keyed, key) == "" {
		mustPut(t, m, policy.Keyed, key, textContent(kilobyte))
	}
}

// TestHotTableResistsScans: a flood of keys that are asked for twice does not displace what is read often.
func TestHotTableResistsScans(t *testing.T) {
	m := newMemory(t, MinMemory)
	var often []string
	for i := range 20 {
		often = append(often, fmt.Sprint("often", i))
	}
	readOften := func() {
		for _, key := range often {
			read(t, m, key)
		}
	}
	for range 50 {
		readOften()
	}
	for i := range 20_000 {
		key := fmt.Sprint("scan", i)
		read(t, m, key)
		read(t, m, key)
		if i%100 == 0 {
			readOften()
		}
	}
	m.Wait()
	kept := 0
	for _, key := range often {
		if r, ok := m.hot.table.GetEntryQuietly(key); ok && r.Value != nil {
			kept++
		}
	}
	if kept < len(often)*9/10 {
		t.Errorf("%d of %d keys that are read often are left", kept, len(often))
	}
	if m.hot.evicted.Load() == 0 {
		t.Error("nothing was evicted, so nothing was tested")
	}
}

// compressible is a content that is worth compressing.
func compressible(n int) entry.Content {
	c := textContent(strings.Repeat(fmt.Sprint("said again and again ", n, "; "), 200))
	c.Forms[0][0].Compress = true
	return c
}

// ask reads the first form of an entry in the hot table in a coding, if that has been made.
func ask(m *Memory, r *Hot, c entry.Coding) entry.Rep {
	rep, _ := r.Pick(0, r.Record)
	m.Code(r, 0, entry.Codings(0).With(c), &rep)
	m.Wait()
	return rep
}

// TestHotTableHoldsItsLimit in bytes, codings included.
func TestHotTableHoldsItsLimit(t *testing.T) {
	m := newMemory(t, MinMemory)
	for i := range 500 {
		key := fmt.Sprint("k", i)
		mustPut(t, m, policy.Shared, key, compressible(i))
		textOf(m, policy.Shared, key)
		if m.Wait(); m.Hot(key) != nil {
			ask(m, m.Hot(key), entry.Zstd)
		}
	}
	if got := m.hot.table.WeightedSize(); got > uint64(m.hot.limit) || got < uint64(m.hot.limit)/4 {
		t.Errorf("%d bytes of %d", got, m.hot.limit)
	}
	sum := 0
	for r := range m.hot.table.Values() {
		sum += int(r.weight())
	}
	if sum > m.hot.limit {
		t.Errorf("entries of %d bytes, limit %d", sum, m.hot.limit)
	}
}

// TestCodingsOfTheSameContentStay, and what they weigh, when an entry is stored again.
func TestCodingsOfTheSameContentStay(t *testing.T) {
	m := newMemory(t, MinMemory)
	mustPut(t, m, policy.Shared, "k", compressible(1))
	ask(m, mustBeHot(t, m, policy.Shared, "k"), entry.Gzip)
	mustPut(t, m, policy.Shared, "k", compressible(1))
	m.Wait()
	r := m.Hot("k")
	if rep := ask(m, r, entry.Gzip); rep.Coding != entry.Gzip {
		t.Errorf("%v", rep.Coding)
	}
	if m.hot.table.WeightedSize() != uint64(r.weight()) || r.codings[0].size() == 0 {
		t.Errorf("%d bytes are counted, %d are there", m.hot.table.WeightedSize(), r.weight())
	}
}

// TestCodingOfAnEntryThatIsNowNegative: a compression may end when its entry was replaced by an answer without forms.
func TestCodingOfAnEntryThatIsNowNegative(t *testing.T) {
	m := newMemory(t, MinMemory)
	mustPut(t, m, policy.Shared, "k", compressible(1))
	before := mustBeHot(t, m, policy.Shared, "k")
	mustPut(t, m, policy.Shared, "k", entry.Content{Source: "second", Negative: "no such thing"})
	m.hot.reweigh(before)
	if now := m.Hot("k"); now == nil || !now.Meta.Negative {
		t.Errorf("%+v", now)
	}
}

// TestCodingThatIsTooLargeIsNotKept: the entry would be evicted for it, again and again.
func TestCodingThatIsTooLargeIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t, MinMemory)
		text := make([]byte, m.hot.largest*4/5) // of which compression leaves a good third
		random := rand.New(rand.NewPCG(1, 2))
		for i := range text {
			text[i] = "01234567"[random.IntN(8)]
		}
		content := textContent(string(text))
		content.Forms[0][0].Compress = true
		mustPut(t, m, policy.Shared, "k", content)
		r := mustBeHot(t, m, policy.Shared, "k")
		for range 2 {
			if rep := ask(m, r, entry.Gzip); rep.Coding != entry.Identity {
				t.Errorf("%v", rep.Coding)
			}
		}
		if m.Hot("k") == nil {
			t.Fatal("the entry has left the table")
		}
		if int(r.weight()) > m.hot.largest || r.codings[0][entry.Gzip-1].Load() == nil {
			t.Errorf("weighs %d of %d", r.weight(), m.hot.largest)
		}
	})
}
