package cache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"sundry/cache/durable"
	"sundry/cache/entry"
	"sundry/cache/jitter"
	"sundry/cache/policy"
)

// snapshotWritten is what a write did.
type snapshotWritten struct {
	entries int
	bytes   int64
	took    time.Duration
}

func (w snapshotWritten) attrs() []any {
	return []any{"entries", w.entries, "bytes", w.bytes, "took", w.took.Round(time.Millisecond)}
}

var (
	errNotRead         = errors.New("the file has not been read yet")
	errPurgedMeanwhile = errors.New("entries were purged meanwhile")
)

// write replaces the file, resting for a while after each stretch. It begins anew if something
// is purged meanwhile.
func (s *Snapshot) write(ctx context.Context, pause time.Duration) (w snapshotWritten, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	began := time.Now()
	for range snapshotTries {
		if w, err = s.writeOnce(ctx, pause); !errors.Is(err, errPurgedMeanwhile) {
			break
		}
	}
	w.took = time.Since(began)
	if err == nil {
		s.metrics.entries.WithLabelValues(resultWritten).Add(float64(w.entries))
		s.metrics.bytes.Set(float64(w.bytes))
		s.metrics.lastWrite.SetToCurrentTime()
	}
	return w, err
}

func (s *Snapshot) writeOnce(ctx context.Context, pause time.Duration) (w snapshotWritten, err error) {
	switch {
	case !s.read.Load():
		return w, errNotRead
	case ctx.Err() != nil:
		return w, ctx.Err()
	}
	start := s.startPass()
	tmp, err := durable.Create(s.file)
	if err != nil {
		return w, err
	}
	w, err = s.dump(ctx, tmp, pause)
	if err := durable.Finish(tmp, err); err != nil {
		return w, errors.Join(fmt.Errorf("write: %w", err), durable.Discard(tmp))
	}
	if err := s.publish(tmp, start); err != nil {
		return w, errors.Join(err, durable.Discard(tmp))
	}
	return w, nil
}

// passStart is what had happened when a pass over the tier began.
type passStart struct {
	purges uint64 // that the instance has learnt of
	stored uint64 // values that the tier has stored
}

func (s *Snapshot) startPass() passStart {
	s.mu.Lock()
	defer s.mu.Unlock()
	return passStart{s.purges, s.cache.near.counters.stored.Load()}
}

// dump writes all entries: first those that are read most, in case that there is not
// enough room for all, then class by class. It holds no lock for longer than it takes to
// copy one value, or the hashes of a shard's keys.
func (s *Snapshot) dump(ctx context.Context, to io.Writer, pause time.Duration) (w snapshotWritten, err error) {
	d := &snapshotDump{Snapshot: s, ctx: ctx, pause: pause, out: newSnapshotEncoder(to), done: map[uint64]struct{}{}}
	if err := d.out.begin(time.Now()); err != nil {
		return w, err
	}
	if err := d.all(); err != nil && !errors.Is(err, errSnapshotFull) {
		return w, err
	}
	err = d.out.end()
	return snapshotWritten{entries: int(d.out.records), bytes: d.out.bytes}, err
}

// snapshotDump is one pass over the near tier.
type snapshotDump struct {
	*Snapshot
	ctx   context.Context //nolint:containedctx // of this pass
	pause time.Duration
	out   *snapshotEncoder
	done  map[uint64]struct{} // hashes of the keys of the hot table
	paced int64               // bytes written when pace was last called
	rest  int                 // bytes looked at or written since the last pause
}

// errSnapshotFull ends a pass: the file has reached its limit.
var errSnapshotFull = errors.New("the snapshot is full")

func (d *snapshotDump) all() error {
	near := d.cache.near
	for key, r := range near.hot.table.All() {
		d.done[near.hot.hash(key)] = struct{}{}
		if space, _ := d.spaceOf(key); space != nil {
			if err := d.add(space, key, &r.Entry); err != nil {
				return err
			}
		}
		if err := d.pace(r.Size()); err != nil {
			return err
		}
	}
	for _, class := range [...]policy.Class{policy.Shared, policy.Keyed, policy.Computed} { // Large has only parts
		if err := d.class(class); err != nil {
			return err
		}
	}
	return nil
}

// class adds the entries of one class but those of the hot table.
func (d *snapshotDump) class(class policy.Class) error {
	near := d.cache.near
	it := near.class[class].Iterator()
	for it.SetNext() {
		item, err := it.Value()
		if err != nil {
			continue // evicted meanwhile
		}
		value := item.Value() // a copy
		if err := d.item(class, item.Key(), value); err != nil {
			return err
		}
		if err := d.pace(len(value)); err != nil {
			return err
		}
	}
	return nil
}

// item adds an entry of a class, unless it was added before or is none.
func (d *snapshotDump) item(class policy.Class, key string, value []byte) error {
	if _, done := d.done[d.cache.near.hot.hash(key)]; done || strings.IndexByte(key, 0) >= 0 {
		return nil
	}
	e, err := entry.Parse(value)
	if err != nil {
		return nil //nolint:nilerr // it is overwritten meanwhile
	}
	space, _ := d.spaceOf(key)
	if space == nil || space.policy.Class != class {
		return nil
	}
	return d.add(space, key, &e)
}

// add writes an entry that may still be used. One that a purge has made stale is left out:
// after a restart nobody may know of the purge.
func (d *snapshotDump) add(space *Space, key string, e *entry.Entry) error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	now := time.Now()
	state, _ := space.state(key, &e.Meta, now)
	if own, _ := space.policy.State(&e.Meta, now); !policy.Usable(state) || state != own {
		return nil
	}
	if e.Split() {
		whole, ok := d.cache.near.join(space.policy.Class, key, e)
		if !ok {
			return nil
		}
		e = &whole
	}
	size := snapshotRecordHead + len(key) + len(e.Raw)
	if d.out.bytes+int64(size+snapshotRecordHead) > d.limit {
		return errSnapshotFull
	}
	return d.out.record(key, e.Raw)
}

// pace rests after each stretch of what was looked at, or written if that is more: of a large entry, what
// was looked at is its head.
func (d *snapshotDump) pace(seen int) error {
	written := int(d.out.bytes - d.paced)
	d.paced = d.out.bytes
	if d.rest += max(seen, written); d.pause == 0 || d.rest < snapshotStretch {
		return nil
	}
	pause := d.pause * time.Duration(d.rest/snapshotStretch)
	d.rest %= snapshotStretch
	return jitter.Pause(d.ctx, pause, 0)
}
