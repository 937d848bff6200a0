package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"sundry/metrics/panics"
	"sundry/proxy/admin"
	"sundry/upstreams/catalog"
)

// watch reloads configuration and catalog on SIGHUP, and when their files
// change. After a mistake the old ones stay in force.
func (s *server) watch(ctx context.Context) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	changed, stop := s.watchFiles(ctx)
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			_, _ = s.reloadOnce("SIGHUP") // logged
		case <-changed:
			debounce(ctx, changed)
			_, _ = s.reloadOnce("files changed") // logged
		}
	}
}

// debounceTime is how long files must stay unchanged before a reload: editors and deployments
// write in several steps.
const debounceTime = 300 * time.Millisecond

func debounce(ctx context.Context, changed <-chan struct{}) {
	for {
		t := time.NewTimer(debounceTime)
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
// a file itself ends when an editor replaces it, and Kubernetes swaps a symbolic
// link beside it.
func (s *server) watchFiles(ctx context.Context) (<-chan struct{}, func()) {
	if s.config.file == "" && s.config.Catalog == "" {
		return nil, func() {}
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		s.log.Warn("files are not watched; send SIGHUP to reload", "error", err)
		return nil, func() {}
	}
	var dirs []string
	if s.config.file != "" {
		dirs = append(dirs, filepath.Dir(s.config.file))
	}
	for _, dir := range append(dirs, catalogDirectories(s.config.Catalog)...) {
		if err := w.Add(dir); err != nil {
			s.log.Warn("directory is not watched; send SIGHUP to reload", "directory", dir, "error", err)
		}
	}
	changed := make(chan struct{}, 1)
	s.panics.Go(panics.Reload, s.panics.Loop(ctx, panics.Reload, func(context.Context) { s.filter(w, changed) }))
	return changed, func() { _ = w.Close() } // its error has no consequence
}

// catalogDirectories are the operator's directory of catalog files and its folders.
func catalogDirectories(dir string) []string {
	if dir == "" {
		return nil
	}
	dirs := []string{dir}
	entries, _ := os.ReadDir(dir) // what cannot be read was reported when it was loaded
	for _, entry := range entries {
		if entry.IsDir() {
			dirs = append(dirs, filepath.Join(dir, entry.Name()))
		}
	}
	return dirs
}

// filter passes on events that concern this instance's files, until the watcher
// is closed.
func (s *server) filter(w *fsnotify.Watcher, changed chan<- struct{}) {
	for {
		select {
		case e, open := <-w.Events:
			if !open {
				return
			}
			s.watchFolder(w, e)
			if s.concerns(e) {
				select {
				case changed <- struct{}{}:
				default: // a reload is due already
				}
			}
		case err, open := <-w.Errors:
			if !open {
				return
			}
			s.log.Warn("watching files failed", "error", err)
		}
	}
}

// watchFolder watches a folder that was made in the catalog's directory.
func (s *server) watchFolder(w *fsnotify.Watcher, e fsnotify.Event) {
	if e.Op.Has(fsnotify.Create) && s.isFolder(e.Name) && slices.Contains(catalogDirectories(s.config.Catalog), e.Name) {
		_ = w.Add(e.Name) // it may be gone again
	}
}

// concerns reports whether an event is of the configuration file, of a catalog file or
// folder, or of the symbolic link that Kubernetes swaps.
func (s *server) concerns(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod {
		return false
	}
	name := filepath.Base(e.Name)
	configuration := s.config.file != "" && name == filepath.Base(s.config.file)
	return configuration || s.isCatalogFile(e.Name) || s.isFolder(e.Name) || name == "..data"
}

// isCatalogFile reports whether a path is that of a catalog file, alone or in a folder.
func (s *server) isCatalogFile(path string) bool {
	dir := filepath.Dir(path)
	return s.config.Catalog != "" && filepath.Ext(path) == ".yaml" && (s.isFolder(dir) || dir == filepath.Clean(s.config.Catalog))
}

// isFolder reports whether a path is one that a folder of the catalog may have. It may not
// be there any more.
func (s *server) isFolder(path string) bool {
	return s.config.Catalog != "" && filepath.Ext(path) == "" && filepath.Dir(path) == filepath.Clean(s.config.Catalog)
}

// reloadOnce loads configuration and catalog again. With a mistake anywhere,
// nothing is applied.
func (s *server) reloadOnce(why string) (admin.Reloaded, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	done, err := s.reread(why)
	if err != nil {
		s.reload.Success.Set(0)
		s.log.Error("reload failed; the previous configuration and catalog stay in force", "why", why, "error", err)
		return done, err
	}
	s.reload.Success.Set(1)
	s.reload.Time.SetToCurrentTime()
	if len(done.Changed)+len(done.NeedRestart) == 0 {
		s.log.Info("reloaded; nothing has changed", "why", why)
	}
	return done, nil
}

// reread applies what the files hold now, as far as that is possible without a
// restart; other settings keep the values that are in force. The caller holds mu.
func (s *server) reread(why string) (done admin.Reloaded, err error) {
	defer s.panics.Catch(panics.Reload, &err)
	c, err := s.cmd.config(s.process)
	if err != nil {
		return done, err
	}
	changes := c.reconcile(s.config, s.loaded.config)
	in, err := readInputs(c, s.process.getenv)
	if err != nil {
		return done, err
	}
	set, geo, err := s.compileWithGeo(in)
	if err != nil {
		return done, err
	}
	lines, err := s.swap(set, c, why)
	if err != nil {
		return done, err
	}
	if geo {
		changes.Changed = append(changes.Changed, "geo_file: read again")
	}
	s.loaded = in
	s.logChanges(changes, why)
	changes.Changed = append(changes.Changed, lines...)
	return changes, nil
}

// compileWithGeo compiles what was just read, with the databases of addresses as they
// are now, and reports whether those were opened anew. After a mistake the old ones
// stay in force.
func (s *server) compileWithGeo(in *inputs) (set *catalog.Catalog, reopened bool, err error) {
	before := s.env.GeoFile
	if s.env.GeoFile, err = in.config.openGeo(before); err == nil {
		set, err = in.compileAnew(s.env, s.changed)
	}
	if err != nil {
		s.env.GeoFile = before
		return nil, false, err
	}
	return set, s.env.GeoFile != nil && s.env.GeoFile != before, nil
}

// logChanges logs the differences in the configuration.
func (s *server) logChanges(changes admin.Reloaded, why string) {
	for _, line := range changes.Changed {
		s.log.Info("reloaded", "why", why, "change", line)
	}
	for _, line := range changes.NeedRestart {
		s.log.Warn("needs a restart", "why", why, "change", line)
	}
}

// recompile compiles the catalog in force with other cache settings and puts it into
// force. The caller holds mu.
func (s *server) recompile(changed map[string]map[string]string) error {
	set, err := s.loaded.compileLive(s.front.Catalog(), s.env, changed)
	if err != nil {
		return err
	}
	if _, err := s.swap(set, s.loaded.config, "settings"); err != nil {
		return err
	}
	s.changed = changed
	return nil
}

// swap puts a catalog and the configuration's settings into force, and returns
// the differences of the catalog. The caller holds mu.
func (s *server) swap(set *catalog.Catalog, c *config, why string) ([]string, error) {
	old := s.front.Catalog()
	if old == nil {
		return nil, errors.New("nothing was loaded before")
	}
	diff := catalog.Diff(old, set)
	if err := s.front.Reload(set, c.frontSettings()); err != nil {
		return nil, err
	}
	s.observer.Rules(s.rules(), time.Now())
	s.level.Set(c.level())
	s.env.SetOwnHosts(c.OwnHosts)
	s.env.SetLoopMark(c.mark())
	s.env.SetAgents(c.agents())
	s.env.SetProxies(c.proxies())
	s.env.Guard.Allow(c.AllowTargets)
	s.applyHolds()
	for _, line := range diff {
		s.log.Info("reloaded", "why", why, "change", line)
	}
	s.logLeftOut(old, set)
	return diff, nil
}

// reconcile compares the configuration with the one in force and returns the
// differences. Settings that only a restart can change keep the value that this
// instance was started with.
func (c *config) reconcile(started, inForce *config) admin.Reloaded {
	var done admin.Reloaded
	all := settings()
	for i := range all {
		s := &all[i]
		if s.reloadable {
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

// difference describes how a setting differs from before; "" where it does not.
func (s *setting) difference(was, is *config) string {
	a, b := s.show(was), s.show(is)
	switch {
	case a == b:
		return ""
	case s.secret:
		return s.key + " has changed (its value is not shown)"
	}
	return fmt.Sprintf("%s: %s, was %s", s.key, orUnset(b), orUnset(a))
}

func orUnset(s string) string {
	if s == "" {
		return "not set"
	}
	return s
}
