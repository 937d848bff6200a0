package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"time"

	"sundry/cache/durable"
)

// copyFile is a copy of the settings on the disk of an instance whose store is Redis, with what is pending. A Redis without persistence is
// empty after a restart, and one that is restored from a backup lacks what came later: what the copy has and the store lacks is stored again
// when a process starts. Processes of one machine may share the file, such as one that takes over while the other is still running: each
// leaves in it what the other knows.
type copyFile struct {
	path string // "" means that there is no copy
	log  *slog.Logger

	mu     sync.Mutex // is locked before that of the Replicator
	own    []string   // IDs of pending changes that may be in the file and that this process made or has taken over
	known  *Settings  // what was last written
	latest []pendingChange
	failed bool // the last attempt failed
}

// copied is the JSON of the file.
type copied struct {
	storedSettings
	// Offset is by how much the store's clock was ahead, in nanoseconds.
	Offset  time.Duration   `json:"clock_offset,omitempty"`
	Pending []pendingChange `json:"pending,omitempty"`
}

// read returns the content of the file. A damaged one is stored under another name; an error means that the file must be left as it is.
func (f *copyFile) read() (*copied, *Settings, error) {
	b, err := durable.ReadFile(f.path, maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	content, known, cause := parseCopy(b)
	if cause == nil {
		return content, known, nil
	}
	aside := f.path + ".damaged"
	if err := durable.WriteFile(aside, b); err != nil {
		return nil, nil, fmt.Errorf("keep the damaged copy as %s: %w", aside, err)
	}
	f.log.Error("the copy of the settings cannot be read; it is kept under another name, and what it has is not in force", "file", aside, "error", cause)
	return &copied{}, settingsOf(nil, time.Time{}), nil
}

func parseCopy(b []byte) (*copied, *Settings, error) {
	content := &copied{}
	if len(b) > 0 {
		if err := json.Unmarshal(b, content); err != nil {
			return nil, nil, err
		}
	}
	for i := range content.Pending {
		c := &content.Pending[i]
		if c.ID == "" || c.At.IsZero() {
			return nil, nil, errors.New("expected pending changes with an ID and a time")
		}
		c.At, c.waited = auditTime(c.At), true // it could not be stored when it was made
	}
	known, err := content.settings()
	return content, known, err
}

// write merges what this process knows with what the file has.
func (f *copyFile) write(content *copied, known *Settings) error {
	have, others, err := f.read()
	if err != nil {
		return err
	}
	ids := idsOf(content.Pending)
	content.storedSettings = known.merge(others).stored()
	for _, c := range known.lacking(have.Pending, content.Pending) {
		if !slices.Contains(f.own, c.ID) {
			content.Pending = append(content.Pending, c)
		}
	}
	b, err := json.Marshal(content)
	if err != nil {
		return err // cannot happen: strings and times always encode
	}
	f.own = append(f.own, ids...)
	if err := durable.WriteFile(f.path, b); err != nil {
		return err
	}
	f.own = ids // the others are no longer in the file
	return nil
}

func idsOf(changes []pendingChange) (ids []string) {
	for _, c := range changes {
		ids = append(ids, c.ID)
	}
	return ids
}

// holdsPending reports whether what is pending is in the file.
func (f *copyFile) holdsPending() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.path != "" && !f.failed
}

// report logs the first of consecutive failures, and their end. The caller holds mu.
func (f *copyFile) report(err error) {
	switch {
	case err != nil && !f.failed:
		f.log.Error("the copy of the settings cannot be written: a restart would lose pending changes; retrying", "file", f.path, "error", err)
	case err == nil && f.failed:
		f.log.Info("the copy of the settings is written again", "file", f.path)
	}
	f.failed = err != nil
}

// writeCopy writes what is known here to the file, if that has changed.
func (r *Replicator) writeCopy() {
	f := &r.copy
	f.mu.Lock()
	defer f.mu.Unlock()
	content, known := r.content()
	unchanged := known == f.known && slices.EqualFunc(content.Pending, f.latest, func(a, b pendingChange) bool { return a.ID == b.ID && a.At.Equal(b.At) })
	if f.path == "" || unchanged || known.Seq == 0 && len(content.Pending)+len(f.own) == 0 {
		return
	}
	latest := content.Pending
	err := f.write(content, known)
	if err == nil {
		f.known, f.latest = known, latest
	}
	f.report(err)
}

// content returns what is known here as the file has it, without the records.
func (r *Replicator) content() (*copied, *Settings) {
	r.mu.Lock()
	defer r.mu.Unlock()
	content := &copied{Offset: time.Duration(r.clockOffset.Load())}
	for _, c := range r.pending {
		if r.clockRead.Load() {
			c.Made = time.Time{}
		}
		content.Pending = append(content.Pending, c)
	}
	return content, r.known
}

// readCopy puts into force what an earlier process knew. A pending change that is no longer possible, such as cache
// settings that no longer compile, is left out.
func (r *Replicator) readCopy() {
	content, known, ok := r.takeCopy()
	if !ok {
		return
	}
	if !r.clockRead.Load() {
		r.clockOffset.Store(int64(content.Offset)) // the best that is known of the store's clock
	}
	current, pending := known, []pendingChange(nil)
	for _, c := range known.lacking(content.Pending, nil) {
		next, err := current.withPending([]pendingChange{c})
		if err == nil {
			err = r.check(c.Change, next, r.Now())
		}
		if err != nil {
			r.cfg.Log.Error("a change that was pending before the restart cannot be made any more", "do", c.Do, "target", c.Target, "by", c.By, "at", c.At, "set", c.Set, "cache", c.Cache, "error", err)
			continue
		}
		current, pending = next, append(pending, c)
	}
	r.enforceCopy(known, current, pending)
	r.copy.takeOver(content.Pending)
	r.writeCopy()
}

// takeOver notes that pending changes of the file are those of this process from now on.
func (f *copyFile) takeOver(pending []pendingChange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.own = append(f.own, idsOf(pending)...)
}

// takeCopy reads the file; false means that it has nothing.
func (r *Replicator) takeCopy() (content *copied, known *Settings, ok bool) {
	f := &r.copy
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.path == "" {
		return nil, nil, false
	}
	content, known, err := f.read()
	if err != nil {
		f.report(err)
		return nil, nil, false
	}
	return content, known, known.Seq > 0 || len(content.Pending) > 0
}

// enforceCopy puts settings into force that an earlier process knew.
func (r *Replicator) enforceCopy(known, current *Settings, pending []pendingChange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noteMissed(known)
	r.current, r.known = current, known
	r.setPending(bounded(pending))
	r.purge(current, ordersOf(current.records, true))
	if len(pending) > 0 {
		r.cfg.Log.Info("changes that were pending before the restart are in force again", "changes", len(pending))
	}
	if err := r.apply(); err != nil {
		r.cfg.Log.Warn("settings from before the restart could not be applied yet", "error", err)
	}
}

// hasCopyAlone reports whether all that is known here comes from the copy.
func (r *Replicator) hasCopyAlone() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.loaded && r.known.Seq > 0
}
