package web

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"

	"sundry/cache/clients"
	"sundry/upstreams/lib/waittest"
)

// read reads a spool from an offset to its end.
func read(s *Spool, at int64) ([]byte, error) {
	var all []byte
	for {
		b, wait, err := s.Next(at)
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return all, err
		case wait != nil:
			<-wait
			continue
		}
		all = append(all, b...)
		at += int64(len(b))
	}
}

// pattern is a body whose bytes say where they stand.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7 / 3)
	}
	return b
}

func TestManyReadWhatArrivesOnce(t *testing.T) {
	want := pattern(3*segment + 17)
	s := NewSpool(1<<20, 1<<20, -1, nil, clients.Nobody)
	var readers sync.WaitGroup
	for i := range 20 {
		readers.Go(func() {
			from := i * 1000
			if got, err := read(s, int64(from)); err != nil || !bytes.Equal(got, want[from:]) {
				t.Errorf("reader %d: %d bytes, %v", i, len(got), err)
			}
		})
	}
	for rest := want; len(rest) > 0; {
		n := min(len(rest), 1234)
		if _, err := s.Write(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	room, err := s.Room()
	if err != nil {
		t.Fatal(err)
	}
	for n := range copy(room, "end") + 1 {
		if got, whole := s.Completed(n); !whole || string(got) != string(want)+"end"[:n] {
			t.Errorf("it is not whole with %d more bytes", n)
		}
	}
	s.Close(nil)
	readers.Wait()
	if _, err := s.Write([]byte("x")); err == nil {
		t.Error("written after its end")
	}
}

// TestTheFastestReaderPacesTheWriter, so that memory is bounded; one who is too far behind is told so.
func TestTheFastestReaderPacesTheWriter(t *testing.T) {
	const window = 2 * segment
	want := pattern(20 * segment)
	s := NewSpool(window, window, -1, nil, clients.Nobody)
	var writer sync.WaitGroup
	writer.Go(func() {
		if _, err := s.Write(want); err != nil {
			t.Error(err)
		}
		s.Close(nil)
	})
	slow, _, err := s.Next(0)
	for err == nil && len(slow) == 0 {
		slow, _, err = s.Next(0)
	}
	got, err := read(s, 0)
	writer.Wait()
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := read(s, int64(len(slow))); !errors.Is(err, ErrLagging) {
		t.Errorf("the slow one: %v", err)
	}
	if n := len(s.segments) * segment; n > window+2*segment {
		t.Errorf("%d bytes are kept", n)
	}
	if _, whole := s.Completed(0); whole {
		t.Error("it is whole, though its beginning is gone")
	}
}

func TestABodyThatIsCutOff(t *testing.T) {
	broken := errors.New("connection reset")
	s := NewSpool(1<<20, 1<<20, -1, nil, clients.Nobody)
	_, _ = s.Write([]byte("half"))
	if _, err := s.Room(); err != nil {
		t.Fatal(err)
	}
	s.Close(broken)
	s.Close(nil)
	if got, err := read(s, 0); !errors.Is(err, broken) || string(got) != "half" {
		t.Errorf("%q %v", got, err)
	}
	if _, whole := s.Completed(1); whole {
		t.Error("it counts as whole")
	}
}

// TestABodyOfAKnownLength is read into memory once, whatever its length.
func TestABodyOfAKnownLength(t *testing.T) {
	for _, n := range []int{0, 1, 1000, segment - 1, segment, segment + 1, 3 * segment} {
		for _, told := range []int{n, n / 3, -1} {
			want, s := pattern(n), NewSpool(1<<20, 1<<20, int64(told), nil, clients.Nobody)
			if _, err := s.Write(want); err != nil {
				t.Fatal(err)
			}
			got, whole := s.Completed(0)
			s.Close(nil)
			if read, err := read(s, 0); err != nil || !whole || !bytes.Equal(read, want) || !bytes.Equal(got, want) {
				t.Errorf("%d bytes of which %d were told: %d, %v", n, told, len(got), err)
			}
			if n == 1000 && (told == n) != (&got[0] == &s.segments[0][0]) {
				t.Errorf("%d bytes of which %d were told: copied where it need not be, or keeping more than that", n, told)
			}
		}
	}
}

// TestSpoolsShareMemory: one that nobody reads stops where it is used up; another gets through with a segment of its own.
func TestSpoolsShareMemory(t *testing.T) {
	t.Parallel()
	memory := NewSpoolMemory(4 * segment)
	unread, want := NewSpool(1<<20, 1<<20, -1, memory, clients.Nobody), pattern(20*segment)
	var writers sync.WaitGroup
	writers.Go(func() {
		if n, err := unread.Write(want); !errors.Is(err, io.ErrClosedPipe) || n != 5*segment {
			t.Errorf("%d segments, %v", n/segment, err)
		}
	})
	waittest.Until(t, "the memory to be used up", func() bool { return memory.Used() == 4 })
	passing := NewSpool(1<<20, 1<<20, -1, memory, clients.Nobody)
	writers.Go(func() {
		if _, err := passing.Write(want); err != nil {
			t.Error(err)
		}
		passing.Close(nil)
	})
	passing.Hold()
	if got, err := read(passing, 0); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, whole := passing.Completed(0); whole || len(passing.segments) > 1 {
		t.Errorf("%d segments are kept", len(passing.segments))
	}
	passing.Release()
	unread.Hold()
	unread.Close(nil)
	writers.Wait()
	if memory.Used() != 4 {
		t.Errorf("%d segments are held, though what is written is still read", memory.Used())
	}
	unread.Release()
	if memory.Used() != 0 {
		t.Errorf("%d segments are held at the end", memory.Used())
	}
}

// TestReadersOfAStoredBody go on with it, so that they hold no memory of the spool, and get the same bytes.
func TestReadersOfAStoredBody(t *testing.T) {
	t.Parallel()
	memory, want := NewSpoolMemory(64*segment), pattern(5*segment+17)
	for _, arrived := range []int{0, 1, segment, 3*segment + 5, len(want)} { // before the rest does
		s := NewSpool(1<<20, 1<<20, int64(len(want)), memory, 1)
		s.Hold()
		if _, err := s.Write(want[:arrived]); err != nil {
			t.Fatal(err)
		}
		at, unread := 0, 0
		if arrived > 100 {
			b, _, _ := s.Next(100)
			at = 100 + len(b)
		}
		for rest := want[arrived:]; len(rest) > 0; {
			room, err := s.Room()
			if err != nil {
				t.Fatal(err)
			}
			n := copy(room, rest)
			if rest = rest[n:]; len(rest) > 0 {
				s.Wrote(n)
				continue
			}
			body, ok := s.Completed(n)
			if !ok {
				t.Fatal("the body is not there")
			}
			s.Settle(body, func() { unread++ })
			s.Wrote(n)
		}
		if arrived == len(want) {
			s.Settle(want, func() { unread++ })
		}
		if room, err := s.Room(); len(room) == 0 || err != nil || memory.Used() != 0 {
			t.Errorf("%d bytes of room, %v, %d segments are held", len(room), err, memory.Used())
		}
		s.Wrote(0)
		s.Close(nil)
		if got, err := read(s, int64(at)); err != nil || !bytes.Equal(got, want[at:]) {
			t.Errorf("%d bytes of %d, %v", len(got), len(want)-at, err)
		}
		if s.Release(); unread != 1 {
			t.Errorf("told %d times that nobody reads it", unread)
		}
	}
}

// TestTheWriterIsNotFarAhead of a slow reader where the body is not stored.
func TestTheWriterIsNotFarAhead(t *testing.T) {
	t.Parallel()
	memory := NewSpoolMemory(64 * segment)
	s := NewSpool(32*segment, 4*segment, 40*segment, memory, 1)
	s.Hold()
	for range 4 {
		room, wait, err := s.room()
		if wait != nil || err != nil {
			t.Fatal(wait, err)
		}
		s.Wrote(len(room))
	}
	if room, wait, err := s.room(); wait == nil || err != nil {
		t.Errorf("%d bytes of room, %v", len(room), err)
	}
	s.Close(nil)
	s.Release()
	if memory.Used() != 0 {
		t.Errorf("%d segments are held at the end", memory.Used())
	}
}

// TestSpoolsOfOneClient take a quarter of the memory: the bodies of others are still stored.
func TestSpoolsOfOneClient(t *testing.T) {
	t.Parallel()
	memory := NewSpoolMemory(64 * segment)
	fill := func(client clients.ID) (held int) {
		s := NewSpool(64*segment, 64*segment, -1, memory, client)
		for {
			room, wait, err := s.room()
			if err != nil {
				t.Fatal(err)
			}
			if wait != nil {
				return len(s.segments)
			}
			s.Wrote(len(room))
		}
	}
	if held := fill(1); held != 1+16 {
		t.Errorf("the first body of a client takes %d segments", held)
	}
	if held := fill(1); held != 1 {
		t.Errorf("the second body of a client takes %d segments", held)
	}
	if held := fill(2); held != 1+12 {
		t.Errorf("the body of another client takes %d segments", held)
	}
}
