package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"sundry/proxy/admin"
	"sundry/upstreams/catalog"
)

// watch reloads configuration and catalog on SIGHUP, and when their files
// change. A mistake keeps the old set.
func (s *server) watch(ctx context.Context) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	changed, stop := s.watchFiles()
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			_, _ = s.reloadOnce("SIGHUP") // logged
		case <-changed:
			settle(ctx, changed)
			_, _ = s.reloadOnce("files changed") // logged
		}
	}
}

// quiet is how long files must have been left alone: editors and deployments
// write in several steps.
const quiet = 300 * time.Millisecond

func settle(ctx context.Context, changed <-chan struct{}) {
	for {
		t := time.NewTimer(quiet)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-changed:
			t.Stop()
		case <-t.C:
			return
		}
	}
}

// watchFiles watches the directories of what was loaded from files: a watch on
// a file itself ends when an editor replaces it, and Kubernetes swaps a link
// beside it.
func (s *server) watchFiles() (<-chan struct{}, func()) {
	if s.config.file == "" && s.config.Catalog == "" {
		return nil, func() {}
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		s.log.Warn("files are not watched; SIGHUP reloads", "error", err)
		return nil, func() {}
	}
	for _, path := range []string{s.config.file, s.config.Catalog} {
		if path == "" {
			continue
		}
		dir := path
		if path == s.config.file {
			dir = filepath.Dir(path)
		}
		if err := w.Add(dir); err != nil {
			s.log.Warn("directory is not watched; SIGHUP reloads", "directory", dir, "error", err)
		}
	}
	changed := make(chan struct{}, 1)
	go s.sift(w, changed)
	return changed, func() { _ = w.Close() } // nothing is lost with it
}

// sift passes on the word of changes that matter, until the watcher is closed.
func (s *server) sift(w *fsnotify.Watcher, changed chan<- struct{}) {
	for {
		select {
		case e, open := <-w.Events:
			if !open {
				return
			}
			if s.concerns(e) {
				select {
				case changed <- struct{}{}:
				default: // it is known already
				}
			}
		case err, open := <-w.Errors:
			if !open {
				return
			}
			s.log.Warn("watch files", "error", err)
		}
	}
}

// concerns tells changes of the configuration, of catalog files, and of the
// link that Kubernetes swaps.
func (s *server) concerns(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod {
		return false
	}
	name := filepath.Base(e.Name)
	ours := s.config.file != "" && name == filepath.Base(s.config.file)
	listed := s.config.Catalog != "" && filepath.Clean(filepath.Dir(e.Name)) == filepath.Clean(s.config.Catalog) && filepath.Ext(name) == ".yaml"
	return ours || listed || name == "..data"
}

// reloadOnce loads configuration and catalog anew. A mistake anywhere, and
// nothing of it is applied.
func (s *server) reloadOnce(why string) (admin.Reloaded, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	done, err := s.reread(why)
	if err != nil {
		s.reload.Success.Set(0)
		s.log.Error("reload failed; the set before it stays", "why", why, "error", err)
		return done, err
	}
	s.reload.Success.Set(1)
	s.reload.Time.SetToCurrentTime()
	if len(done.Changed)+len(done.NeedRestart) == 0 {
		s.log.Info("reloaded; nothing is different", "why", why)
	}
	return done, nil
}

// reread applies what is on the disk now, as far as it can be while it serves,
// and keeps of the rest what is in force. The caller holds mu.
func (s *server) reread(why string) (done admin.Reloaded, err error) {
	c, err := s.cmd.config(s.world)
	if err != nil {
		return done, err
	}
	differ := c.settle(s.config, s.loaded.config)
	in, err := readInputs(c, s.world.getenv)
	if err != nil {
		return done, err
	}
	set, err := in.compileAnew(s.env, s.live)
	if err != nil {
		return done, err
	}
	lines, err := s.swap(set, c, why)
	if err != nil {
		return done, err
	}
	s.loaded = in
	s.tell(differ, why)
	differ.Changed = append(differ.Changed, lines...)
	return differ, nil
}

// tell logs what is different in the configuration.
func (s *server) tell(differ admin.Reloaded, why string) {
	for _, line := range differ.Changed {
		s.log.Info("reloaded", "why", why, "change", line)
	}
	for _, line := range differ.NeedRestart {
		s.log.Warn("needs a restart", "why", why, "change", line)
	}
}

// retune compiles the set in force anew with other knobs. The caller holds mu.
func (s *server) retune(live map[string]map[string]string) error {
	set, err := s.loaded.compile(s.env, live)
	if err != nil {
		return err
	}
	if _, err := s.swap(set, s.loaded.config, "settings"); err != nil {
		return err
	}
	s.live = live
	return nil
}

// swap puts a set and the configuration's settings into force, and says what is
// new of the set. The caller holds mu.
func (s *server) swap(set *catalog.Catalog, c *config, why string) ([]string, error) {
	old := s.front.Catalog()
	if old == nil {
		return nil, errors.New("nothing was loaded before")
	}
	diff := catalog.Diff(old, set)
	if err := s.front.Reload(set, c.front()); err != nil {
		return nil, err
	}
	s.level.Set(c.level())
	s.env.SetOwnHosts(c.OwnHosts)
	s.env.SetLoopMark(c.mark())
	s.env.Guard.Allow(c.AllowTargets)
	s.hold()
	for _, line := range diff {
		s.log.Info("reloaded", "why", why, "change", line)
	}
	return diff, nil
}

// settle compares the configuration to the one in force, and tells what is
// different. Of what only a start can change, it takes the started one's.
func (c *config) settle(started, inForce *config) admin.Reloaded {
	var done admin.Reloaded
	all := settings()
	for i := range all {
		s := &all[i]
		if s.live {
			if line := s.difference(inForce, c); line != "" {
				done.Changed = append(done.Changed, line)
			}
			continue
		}
		if line := s.difference(started, c); line != "" {
			done.NeedRestart = append(done.NeedRestart, line)
		}
		s.carry(c, started)
	}
	return done
}

// difference says what a setting is now and was before; "" where it is the same.
func (s *setting) difference(was, is *config) string {
	a, b := s.show(was), s.show(is)
	switch {
	case a == b:
		return ""
	case s.secret:
		return s.key + " is another"
	}
	return fmt.Sprintf("%s: %s, was %s", s.key, orNothing(b), orNothing(a))
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}
