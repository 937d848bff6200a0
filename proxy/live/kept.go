package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"sundry/cache/durable"
)

// pendingFile keeps pending changes over a restart. Processes of one machine may share the file, such as one that takes over while the
// other is still running: each leaves the changes of others in it.
type pendingFile struct {
	path string // "" means that nothing is kept
	log  *slog.Logger

	mu      sync.Mutex // guards the file and what follows; it is locked before that of the Replicator
	own     []string   // IDs of changes that may be in the file and that this process knows
	written []byte     // the changes of this process as the file has them; nil means that they were not written
	failed  bool       // the last attempt failed
}

// pendingFormat is the version of the file. A version that adds fields which others must not ignore has the next number.
const pendingFormat = 1

// pendingFileContent is the JSON of the file.
type pendingFileContent struct {
	Format int `json:"sundry_pending"`
	// Offset is by how much the store's clock was ahead, in nanoseconds.
	Offset  time.Duration   `json:"offset,omitempty"`
	Changes []pendingChange `json:"changes"`
}

// parsePending reads the content of the file.
func parsePending(b []byte) (*pendingFileContent, error) {
	content := &pendingFileContent{}
	err := json.Unmarshal(b, content)
	switch {
	case err != nil:
		return nil, err
	case content.Format == 0:
		return nil, errors.New("expected pending changes")
	case content.Format != pendingFormat:
		return nil, fmt.Errorf("version %d of the file is not known here", content.Format)
	}
	for i := range content.Changes {
		c := &content.Changes[i]
		if c.ID == "" || c.At.IsZero() {
			return nil, errors.New("expected changes with an ID and a time")
		}
		c.At, c.waited = auditTime(c.At), true // it could not be stored when it was made
	}
	return content, nil
}

// read returns what the file has. What cannot be read as pending changes is kept under another name; an error means that the file must be
// left as it is.
func (p *pendingFile) read() (*pendingFileContent, error) {
	b, err := durable.ReadFile(p.path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return &pendingFileContent{}, nil
	}
	if err != nil {
		return nil, err
	}
	content, cause := parsePending(b)
	if cause == nil {
		return content, nil
	}
	aside := p.path + ".damaged"
	if err := errors.Join(durable.WriteFile(aside, b), p.remove()); err != nil {
		return nil, fmt.Errorf("keep what is in it as %s: %w", aside, err)
	}
	p.log.Error("the file of pending changes cannot be read; it is kept under another name, and what it has is not in force", "file", aside, "error", cause)
	return &pendingFileContent{}, nil
}

// remove removes the file.
func (p *pendingFile) remove() error {
	if err := os.Remove(p.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return durable.SyncDirectory(filepath.Dir(p.path))
}

// start returns what the file has from before this process.
func (p *pendingFile) start() *pendingFileContent {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.path == "" {
		return &pendingFileContent{}
	}
	content, err := p.read()
	if err != nil {
		p.report(err)
		return &pendingFileContent{}
	}
	return content
}

// take notes that changes of the file are those of this process from now on.
func (p *pendingFile) take(changes []pendingChange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.own = append(p.own, idsOf(changes)...)
}

func idsOf(changes []pendingChange) (ids []string) {
	for _, c := range changes {
		ids = append(ids, c.ID)
	}
	return ids
}

// holds reports whether the file may have changes of this process.
func (p *pendingFile) holds() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.own) > 0
}

// keeps reports whether what is pending is in the file.
func (p *pendingFile) keeps() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.path != "" && !p.failed
}

// replace writes the changes of this process in the place of those that the file has, and removes it once it has none. The caller holds mu.
func (p *pendingFile) replace(content pendingFileContent) error {
	have, err := p.read()
	if err != nil {
		return err
	}
	ids := idsOf(content.Changes)
	p.own = append(p.own, ids...)
	for _, c := range have.Changes {
		if !slices.Contains(p.own, c.ID) {
			content.Changes = append(content.Changes, c)
		}
	}
	if len(content.Changes) == 0 {
		err = p.remove()
	} else {
		err = p.write(content)
	}
	if err == nil {
		p.own = ids
	}
	return err
}

func (p *pendingFile) write(content pendingFileContent) error {
	b, err := json.Marshal(content)
	if err != nil {
		return err // cannot happen: strings and times always encode
	}
	return durable.WriteFile(p.path, b)
}

// report logs the first of consecutive failures, and their end. The caller holds mu.
func (p *pendingFile) report(err error) {
	switch {
	case err != nil && !p.failed:
		p.log.Error("pending changes are not kept in their file: a restart would lose them; retrying", "file", p.path, "error", err)
	case err == nil && p.failed:
		p.log.Info("pending changes are kept in their file again", "file", p.path)
	}
	p.failed = err != nil
}

// keepPending writes what is pending to the file, from which it is removed once it is stored.
func (r *Replicator) keepPending() {
	p := &r.kept
	p.mu.Lock()
	defer p.mu.Unlock()
	content := r.pendingContent()
	if p.path == "" || len(content.Changes)+len(p.own) == 0 {
		return
	}
	changes, err := json.Marshal(content.Changes)
	if err == nil && bytes.Equal(changes, p.written) {
		return
	}
	if err == nil {
		p.written = nil
		err = p.replace(content)
	}
	if err == nil {
		p.written = changes
	}
	p.report(err)
}

// pendingContent returns what is pending as the file has it.
func (r *Replicator) pendingContent() pendingFileContent {
	r.mu.Lock()
	defer r.mu.Unlock()
	content := pendingFileContent{Format: pendingFormat, Offset: time.Duration(r.clockOffset.Load())}
	for _, c := range r.pending {
		if r.clockRead.Load() {
			c.Made = time.Time{}
		}
		content.Changes = append(content.Changes, c)
	}
	return content
}

// restorePending puts changes into force that were pending when an earlier process ended. One that is no longer possible, such as cache
// settings that no longer compile, is left out.
func (r *Replicator) restorePending() {
	content := r.kept.start()
	if len(content.Changes) == 0 {
		return
	}
	if !r.clockRead.Load() {
		r.clockOffset.Store(int64(content.Offset)) // the best that is known of the store's clock
	}
	current, restored := r.Settings(), []pendingChange(nil)
	for _, c := range content.Changes {
		next, err := r.withRestored(current, c)
		if err != nil {
			r.cfg.Log.Error("a change that was pending before the restart cannot be made any more", "do", c.Do, "target", c.Target, "by", c.By, "at", c.At, "set", c.Set, "cache", c.Cache, "error", err)
		} else if next != current {
			current, restored = next, append(restored, c)
		}
	}
	r.enforceRestored(current, restored)
	r.kept.take(content.Changes)
	r.keepPending()
}

// withRestored returns settings with a change of the file.
func (r *Replicator) withRestored(s *Settings, c pendingChange) (*Settings, error) {
	next, err := s.withPending([]pendingChange{c})
	if err == nil {
		err = r.check(c.Change, next, r.Now())
	}
	return next, err
}

// enforceRestored puts settings into force that hold changes of the file.
func (r *Replicator) enforceRestored(current *Settings, restored []pendingChange) {
	if len(restored) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	runs := ranWhilePending(restored)
	r.current = current
	r.pending = bounded(append(slices.Clone(r.pending), restored...))
	r.metrics.pending.Set(float64(len(r.pending)))
	r.purge(slices.DeleteFunc(slices.Clone(current.Orders), func(o Order) bool { return !runs(o) }))
	r.cfg.Log.Info("changes that were pending before the restart are in force again", "changes", len(restored))
	if err := r.apply(); err != nil {
		r.cfg.Log.Warn("changes that were pending before the restart could not be applied yet", "error", err)
	}
}
