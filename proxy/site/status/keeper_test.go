package status

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// shelf is a store that may fail.
type shelf struct {
	mu       sync.Mutex
	value    []byte
	away     error
	answered bool // the next swap succeeds, and says that it does not
	foreign  bool // there is something that is no value
}

func (s *shelf) Load(context.Context) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.foreign {
		return nil, fmt.Errorf("status: %w", ErrNotAValue)
	}
	return s.value, s.away
}

func (s *shelf) Repair(_ context.Context, damaged, value []byte) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.foreign || damaged != nil {
		return false, nil
	}
	s.foreign, s.value = false, value
	return true, nil
}

func (s *shelf) CompareAndSwap(_ context.Context, old, value []byte) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away != nil || s.foreign || !bytes.Equal(s.value, old) {
		return false, s.away
	}
	s.value = value
	if s.answered {
		s.answered = false
		return false, errAway
	}
	return true, nil
}

var errAway = errors.New("away")

// packed is a text as a record is stored.
func packed(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.Bytes()
}

func (k *Keeper) today(name string) Tally { return k.Record(at).of(name).Days[number(at, day)] }

func write(t *testing.T, k *Keeper) {
	t.Helper()
	if err := k.Write(t.Context(), at); err != nil {
		t.Fatal(err)
	}
}

// TestKeeperOutlivesTheProcess: what was written is there, and what others have added, with all that was counted once.
func TestKeeperOutlivesTheProcess(t *testing.T) {
	s := &shelf{}
	one := NewKeeper(s, slog.Default())
	one.count("a", at, Tally{7, 0, 20})
	if one.today("a") != (Tally{7, 0, 20}) {
		t.Error("what is not written yet is not shown")
	}
	write(t, one)
	two := NewKeeper(s, slog.Default())
	two.count("a", at, Tally{3, 0, 0})
	two.count("b", at, Tally{1, 0, 0})
	write(t, two)
	write(t, one)
	for _, k := range []*Keeper{one, two} {
		if r := k.Record(at); k.today("a") != (Tally{10, 0, 20}) || k.today("b") != (Tally{1, 0, 0}) || len(r.Incidents) != 1 || r.Seed == "" {
			t.Errorf("%+v", r)
		}
	}
}

// TestKeepersAddAtOnce: nothing is lost and nothing counted twice.
func TestKeepersAddAtOnce(t *testing.T) {
	s := &shelf{}
	var writing sync.WaitGroup
	keepers := []*Keeper{NewKeeper(s, slog.Default()), NewKeeper(s, slog.Default()), NewKeeper(s, slog.Default())}
	for _, k := range keepers {
		writing.Go(func() {
			for range 50 {
				k.count("a", at, Tally{1, 0, 0})
				_ = k.Write(t.Context(), at) // what it cannot write for the others, it writes later
			}
		})
	}
	writing.Wait()
	for _, k := range keepers {
		write(t, k)
	}
	write(t, keepers[0])
	if got := keepers[0].today("a"); got != (Tally{150, 0, 0}) {
		t.Errorf("%v", got)
	}
}

// TestKeeperWithoutItsStore: it is away for a while, or loses what it had, or what it has is damaged.
func TestKeeperWithoutItsStore(t *testing.T) {
	for name, do := range map[string]func(*shelf){
		"away":                     func(s *shelf) { s.away = errAway },
		"written, and not told so": func(s *shelf) { s.answered = true },
		"emptied":                  func(s *shelf) { s.value = nil },
		"no record":                func(s *shelf) { s.value = []byte("hello") },
		"cut off":                  func(s *shelf) { s.value = s.value[:len(s.value)/2] },
		"a byte differs":           func(s *shelf) { s.value = bytes.Clone(s.value); s.value[len(s.value)/2]++ },
		"another document":         func(s *shelf) { s.value = packed("{}") },
		"another type of Redis":    func(s *shelf) { s.foreign, s.value = true, nil },
		"a bomb":                   func(s *shelf) { s.value = packed(many(100_000, `"e%d":{"days":{"1":[1,1,1]},"slots":{}}`)) },
		"a larger bomb": func(s *shelf) {
			s.value = packed(strings.Repeat(" ", 63<<20) + many(1, `"e%d":{"days":{},"slots":{}}`))
		},
		"too many days": func(s *shelf) {
			s.value = packed(fmt.Sprintf(many(1, `"e%d":{"days":{%s},"slots":{}}`), counts(daysKept+1)))
		},
		"too many slots": func(s *shelf) {
			s.value = packed(fmt.Sprintf(many(1, `"e%d":{"days":{},"slots":{%s}}`), counts(2*window+2)))
		},
		"too many incidents": func(s *shelf) { s.value = packed(incidents(spellsKept+1, "")) },
		"too many spells": func(s *shelf) {
			s.value = packed(incidents(1, strings.Repeat(`{"endpoint":"a","state":"failing"},`, spellsKept)+`{"endpoint":"a","state":"failing"}`))
		},
		"a long seed": func(s *shelf) { s.value = packed(`{"version":1,"seed":"` + strings.Repeat("x", 1<<20) + `"}`) },
	} {
		s := &shelf{}
		k := NewKeeper(s, slog.New(slog.DiscardHandler))
		k.count("a", at, Tally{5, 0, 0})
		write(t, k)
		do(s)
		k.count("a", at, Tally{1, 0, 0})
		_ = k.Write(t.Context(), at)
		k.count("a", at, Tally{1, 0, 0})
		if got := k.today("a"); got != (Tally{7, 0, 0}) {
			t.Errorf("%s: shown %v", name, got)
		}
		s.away = nil
		write(t, k)
		again := NewKeeper(s, slog.Default())
		write(t, again)
		if got := again.today("a"); got != (Tally{7, 0, 0}) {
			t.Errorf("%s: stored %v", name, got)
		}
	}
}

// many is a record of so many endpoints, counts are so many of the numbers of an endpoint.
func many(n int, endpoint string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.Replace(endpoint, "%d", strconv.Itoa(i), 1)
	}
	return `{"version":1,"seed":"x","endpoints":{` + strings.Join(all, ",") + `}}`
}

func counts(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`"%d":[1,1,1]`, i)
	}
	return strings.Join(all, ",")
}

// incidents is a record of so many incidents with these spells.
func incidents(n int, spells string) string {
	return `{"version":1,"seed":"x","incidents":[` + strings.Repeat(`{"spells":[`+spells+`]},`, n-1) + `{"spells":[` + spells + `]}]}`
}

// TestAFullRecordIsKept: with all that a fleet writes, and the largest numbers.
func TestAFullRecordIsKept(t *testing.T) {
	s := &shelf{}
	k := NewKeeper(s, slog.Default())
	large := Tally{1 << 62, 1 << 62, 1 << 62}
	for i := range 2 * endpointsKept {
		name := fmt.Sprintf("%s-%d", strings.Repeat("n", 50), i)
		for n := range int64(2 * daysKept) {
			k.counts.of(name).Days[number(at, day)-n] = large
		}
		for n := range int64(4 * window) {
			k.counts.of(name).Slots[number(at, slot)+n-2*window] = large
		}
	}
	write(t, k)
	again := NewKeeper(s, slog.Default())
	write(t, again)
	r := again.Record(at)
	name := strings.Repeat("n", 50) + "-0"
	if p := r.Endpoints[name]; len(r.Endpoints) != endpointsKept || len(p.Days) != daysKept || len(p.Slots) != 2*window+1 {
		t.Errorf("%d endpoints", len(r.Endpoints))
	}
}

// TestRecordsAreDecodedOnce: what a page changes in its record is in no other, and costs no decoding.
func TestRecordsAreDecodedOnce(t *testing.T) {
	k := NewKeeper(&shelf{value: packed(many(1, `"e%d":{"days":{"20514":[4,1,1]},"slots":{}}`))}, slog.Default())
	write(t, k)
	r := k.Record(at)
	r.Add("e0", at, Tally{1, 0, 0})
	r.Incidents = append(r.Incidents, Incident{})
	k.stored = []byte("what is not decoded again")
	if again := k.Record(at); again.Endpoints["e0"].Days[20514] != (Tally{4, 1, 1}) || again.Seed != "x" || len(again.Incidents) != 0 {
		t.Errorf("%+v", again)
	}
}

// TestKeeperBeginsWithWhatThereIs: a start finds something else than a record of this version.
func TestKeeperBeginsWithWhatThereIs(t *testing.T) {
	for name, row := range map[string]struct {
		stored  []byte
		want    Tally
		refused bool
	}{
		"damaged":            {stored: []byte("hello"), want: Tally{1, 0, 0}},
		"an older version":   {stored: packed(`{"seed":"s","endpoints":{"a":{"days":{"20514":[4,1,1]},"slots":{}},"b":null,"c":{}},"incidents":null}`), want: Tally{5, 1, 1}},
		"an unknown state":   {stored: packed(`{"version":1,"seed":"s","incidents":[{"spells":[{"endpoint":"a","state":"odd"}]}]}`), want: Tally{1, 0, 0}},
		"negative":           {stored: packed(`{"version":1,"seed":"s","endpoints":{"a":{"days":{"20514":[-4,1,1]}}}}`), want: Tally{1, 0, 0}},
		"of a later version": {stored: packed(`{"version":2,"days":"otherwise"}`), want: Tally{1, 0, 0}, refused: true},
	} {
		s := &shelf{value: row.stored}
		k := NewKeeper(s, slog.New(slog.DiscardHandler))
		k.count("a", at, Tally{1, 0, 0})
		if err := k.Write(t.Context(), at); (err != nil) != row.refused || row.refused && !bytes.Equal(s.value, row.stored) {
			t.Errorf("%s: %v", name, err)
		}
		if got := k.today("a"); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
	if number(at, day) != 20514 {
		t.Errorf("today is %d", number(at, day))
	}
}

// TestKeeperWritesNothingNew: a store is left alone while nobody asks.
func TestKeeperWritesNothingNew(t *testing.T) {
	s := &shelf{}
	k := NewKeeper(s, slog.Default())
	k.count("a", at, Tally{1, 0, 0})
	write(t, k)
	before := &s.value[0]
	if err := k.Write(t.Context(), at.Add(time.Minute)); err != nil || &s.value[0] != before {
		t.Errorf("written again: %v", err)
	}
}

// hanging is a store that does not reply.
type hanging struct{ Store }

// Load implements Store.
func (hanging) Load(ctx context.Context) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestAWriteDoesNotWaitForAnother longer than its context lasts, such as that of a stop.
func TestAWriteDoesNotWaitForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := NewKeeper(hanging{}, slog.Default())
		long, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		go func() { _ = k.Write(long, time.Now()) }()
		synctest.Wait()
		short, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		began := time.Now()
		if err := k.Write(short, began); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}
