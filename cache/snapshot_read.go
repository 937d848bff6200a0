package cache

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// snapshotShare is the part of a class that may be filled from a snapshot: its shards are
// never filled evenly, and what is read must evict nothing.
const snapshotShare = 0.9

// Read puts into the near tier what the file holds and may still be used. It returns at
// the end of the file, or when ctx ends; callers need not wait for it. Call it once all
// purges are in force.
func (s *Snapshot) Read(ctx context.Context) {
	s.reading.Store(true)
	s.tidy()
	began := time.Now()
	r, err := s.readFile(ctx)
	if ctx.Err() != nil {
		return
	}
	s.read.Store(true)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.log.Info("no snapshot yet: the cache is cold", "file", s.file)
		return
	case errors.Is(err, errOtherVersion):
		s.log.Info("the snapshot was not read: the cache is cold", "file", s.file, "reason", err)
		return
	case err != nil && r.entries == 0:
		s.failed("read", "the snapshot was not read: the cache is cold", err)
	case err != nil:
		s.failed("read", "the snapshot was not read to its end", err)
	}
	s.count(r)
	if err == nil || r.entries > 0 {
		s.log.Info("snapshot read", r.attrs(began)...)
	}
}

// snapshotContents is what a read did.
type snapshotContents struct {
	written time.Time
	bytes   int64
	entries int // put into the near tier
	skipped [skipReasons]int
}

func (r *snapshotContents) attrs(began time.Time) []any {
	attrs := []any{"entries", r.entries, "bytes", r.bytes, "written", r.written.UTC().Format(time.RFC3339), "took", time.Since(began).Round(time.Millisecond)}
	for reason, n := range r.skipped {
		if n > 0 {
			attrs = append(attrs, skipReason(reason).String(), n)
		}
	}
	return attrs
}

func (s *Snapshot) count(r *snapshotContents) {
	s.metrics.entries.WithLabelValues(resultRead).Add(float64(r.entries))
	for reason, n := range r.skipped {
		if n > 0 {
			s.metrics.entries.WithLabelValues(skipReason(reason).String()).Add(float64(n))
		}
	}
	if !r.written.IsZero() {
		s.metrics.bytes.Set(float64(r.bytes))
		s.metrics.lastWrite.Set(float64(r.written.Unix()))
	}
}

// readFile returns what it read, with the error that ended it early.
func (s *Snapshot) readFile(ctx context.Context) (*snapshotContents, error) {
	none := &snapshotContents{}
	f, err := openRegular(s.file)
	if err != nil {
		return none, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	info, err := f.Stat()
	if err != nil {
		return none, err
	}
	return s.readFrom(ctx, f, info.Size())
}

// readFrom reads a snapshot of a size.
func (s *Snapshot) readFrom(ctx context.Context, from io.Reader, size int64) (*snapshotContents, error) {
	near := s.cache.near
	r := &snapshotContents{bytes: size}
	d := newSnapshotDecoder(from, size, near.largestEntry())
	if err := d.begin(); err != nil {
		return r, err
	}
	r.written = d.written
	room := near.roomForSnapshot()
	for ctx.Err() == nil {
		key, raw, err := d.next()
		switch {
		case errors.Is(err, io.EOF):
			return r, nil
		case errors.Is(err, errSkipped):
			r.skipped[skipBroken]++
			continue
		case err != nil:
			return r, err
		}
		if reason := s.admit(key, raw, &room); reason != skipNone {
			r.skipped[reason]++
		} else {
			r.entries++
		}
	}
	return r, ctx.Err()
}

// admit puts an entry into the near tier, or says why not. It keeps no reference to raw.
func (s *Snapshot) admit(key string, raw []byte, room *snapshotRoom) skipReason {
	now := time.Now()
	e, err := entry.Parse(raw)
	if err != nil || e.Check(now) != nil || !entry.Printable(key) {
		return skipBroken
	}
	space, reason := s.spaceOf(key)
	if reason != skipNone {
		return reason
	}
	if state, _ := space.state(key, &e.Meta, now); !policy.Usable(state) || !e.Meta.OldestPart().After(s.known()) {
		return skipGone
	}
	class, near := space.policy.Class, s.cache.near
	switch {
	case near.holds(class, key):
		return skipNewer
	case !room.take(near, class, key, &e):
		return skipFull
	case !near.putIfAbsent(class, key, &e):
		return skipNewer
	}
	space.removeIfPurged(key, &e)
	return skipNone
}

// snapshotRoom is how many bytes of each class may still be filled from a snapshot.
type snapshotRoom [policy.Classes]int

func (m *memory) roomForSnapshot() (room snapshotRoom) {
	for c := range policy.Classes {
		room[c] = int(snapshotShare * float64(m.capacity[c].size))
	}
	return room
}

// take reserves room for an entry; false when there is not enough.
func (r *snapshotRoom) take(m *memory, class policy.Class, key string, e *entry.Entry) bool {
	head, parts := len(key)+len(e.Raw)+valueOverhead, 0
	if wantsSplit(e) {
		n := e.Records()
		head = len(key) + e.HeadSize() + valueOverhead
		parts = len(e.Raw) - e.HeadSize() + n*(len(partKey(key, e.Generation, n))+valueOverhead)
	}
	of := m.classForParts(class, e)
	if r[class] < head || r[of] < parts || of == class && r[class] < head+parts {
		return false
	}
	r[class] -= head
	r[of] -= parts
	return true
}

// largestEntry is how many bytes an entry may have in the largest class.
func (m *memory) largestEntry() int {
	largest := 0
	for _, c := range m.capacity {
		largest = max(largest, c.entry)
	}
	return largest
}

// holds reports whether the tier has an entry of the key, or its head.
func (m *memory) holds(class policy.Class, key string) bool {
	_, ok := m.head(class, key)
	return ok
}

// putIfAbsent is put, unless there is an entry of the key, which is newer. It is not
// offered to the hot table: its first hit does that. It returns false where it was not
// stored.
func (m *memory) putIfAbsent(class policy.Class, key string, e *entry.Entry) bool {
	m.noteCreated(e)
	return m.putParts(class, key, e, m.setIfAbsent)
}

// setIfAbsent is set, unless the tier holds the key. All writes of entries take the class's lock
// before the hot table learns of them, so that this one cannot replace a newer one.
func (m *memory) setIfAbsent(class policy.Class, key string, value []byte) bool {
	m.shares[class].mu.Lock()
	defer m.shares[class].mu.Unlock()
	return !m.holds(class, key) && m.store(class, key, value)
}
