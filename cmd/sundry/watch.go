package main

import (
	"context"
	"iter"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"sundry/metrics/panics"
	"sundry/proxy/listener"
)

// watch reloads configuration and catalog on SIGHUP, and when their files
// change; watches is called once no change is missed. After a mistake the old ones stay in force.
func (s *server) watch(ctx context.Context, watches func()) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	changed, stop := s.watchFiles(ctx)
	defer stop()
	watches()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			s.notify(listener.Reloading())
			_, _ = s.reloadOnce("SIGHUP") // logged
			s.notify("READY=1")
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
	timer := time.NewTimer(debounceTime)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			timer.Reset(debounceTime)
		case <-timer.C:
			return
		}
	}
}

// watchedFiles are the files of the operator that are loaded.
type watchedFiles struct {
	file    string   // of the configuration; "" for none
	catalog string   // the directory of catalog files, without a slash at its end; "" for none
	pair    []string // the files of the certificate and its key
	// found are the directories that were watched when all were last looked for, as they were; nil: watching
	// begins once there is one.
	found map[string]os.FileInfo
	// named returns the files elsewhere that the catalog in force names; nil means none.
	named func() []string
	// linked are the named files, and the files that links of the directories lead to, as they were.
	linked map[string]os.FileInfo
}

// replacedLook is how often it is looked whether others have taken the place of directories, or
// what links lead to was changed: of that a watch tells nothing.
const replacedLook = time.Second

// watchFiles watches the directories of what was loaded from files: a watch on
// a file itself ends when an editor replaces it, and Kubernetes swaps a symbolic
// link beside it.
func (s *server) watchFiles(ctx context.Context) (<-chan struct{}, func()) {
	of := watchedFiles{file: s.config.File, named: s.namedFiles}
	if s.config.Catalog != "" {
		of.catalog = filepath.Clean(s.config.Catalog)
	}
	if s.config.TLSCert != "" {
		of.pair = []string{filepath.Clean(s.config.TLSCert), filepath.Clean(s.config.TLSKey)}
	}
	if s.process.unwatched || of.file == "" && of.catalog == "" && of.pair == nil {
		return nil, func() {}
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		s.log.Warn("files are not watched; send SIGHUP to reload", "error", err)
		return nil, func() {}
	}
	s.watchDirectories(w, &of)
	of.linked = of.links()
	changed := make(chan struct{}, 1)
	s.panics.Go(panics.Reload, s.panics.Loop(ctx, panics.Reload, func(context.Context) { s.filter(w, &of, changed) }))
	return changed, func() { _ = w.Close() } // its error has no consequence
}

// watchDirectories watches the directories that there are now.
func (s *server) watchDirectories(w *fsnotify.Watcher, of *watchedFiles) {
	of.found = map[string]os.FileInfo{}
	for dir := range of.directories() {
		_ = w.Remove(dir)       // the one that had its place; there may be none
		info, _ := os.Stat(dir) // nil: there is none yet
		of.found[dir] = info
		if err := w.Add(dir); err != nil && info != nil {
			s.log.Warn("directory is not watched; send SIGHUP to reload", "directory", dir, "error", err)
			delete(of.found, dir)
		}
	}
}

// replaced reports whether another directory is in the place of one that is watched: a deployment
// has moved a link above it, or made it anew.
func (of *watchedFiles) replaced(w *fsnotify.Watcher) bool {
	watched := w.WatchList()
	for dir, was := range of.found {
		now, err := os.Stat(dir)
		if err == nil && (!os.SameFile(was, now) || !slices.Contains(watched, dir)) {
			return true
		}
	}
	return false
}

// directories are those of the configuration, of the certificate and its key, and that of catalog files with its folders. It is
// read once it is watched: a folder that is made meanwhile is found, or told of.
func (of *watchedFiles) directories() iter.Seq[string] {
	return func(yield func(string) bool) {
		if of.file != "" && !yield(filepath.Dir(of.file)) {
			return
		}
		for _, file := range of.pair {
			if !yield(filepath.Dir(file)) {
				return
			}
		}
		if of.catalog == "" || !yield(of.catalog) {
			return
		}
		entries, _ := os.ReadDir(of.catalog) // what cannot be read was reported when it was loaded
		for _, entry := range entries {
			path := filepath.Join(of.catalog, entry.Name())
			if (entry.IsDir() || of.isFolder(path) && leadsToDirectory(path)) && !yield(path) {
				return
			}
		}
	}
}

func leadsToDirectory(link string) bool {
	info, err := os.Stat(link)
	return err == nil && info.IsDir()
}

// links are the files that are loaded and lie elsewhere, by the links to them, or by their names in the catalog.
func (of *watchedFiles) links() map[string]os.FileInfo {
	found := map[string]os.FileInfo{}
	if of.named != nil {
		for _, path := range of.named() {
			found[path], _ = os.Stat(path) // nil means that the file does not exist
		}
	}
	for dir := range of.directories() {
		entries, _ := os.ReadDir(dir) // as above
		for _, entry := range entries {
			path := filepath.Join(dir, entry.Name())
			if entry.Type() != os.ModeSymlink || !of.isFile(path) {
				continue
			}
			if info, err := os.Stat(path); err == nil {
				found[path] = info
			}
		}
	}
	return found
}

// edited reports whether a file that a link leads to is another than it was, and notes how it is now.
func (of *watchedFiles) edited() bool {
	before := of.linked
	of.linked = of.links()
	return !maps.EqualFunc(before, of.linked, func(was, now os.FileInfo) bool {
		if was == nil || now == nil {
			return was == now
		}
		return os.SameFile(was, now) && was.ModTime().Equal(now.ModTime()) && was.Size() == now.Size()
	})
}

// filter passes on events that concern this instance's files, until the watcher
// is closed.
func (s *server) filter(w *fsnotify.Watcher, of *watchedFiles, changed chan<- struct{}) {
	look := time.NewTicker(replacedLook)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			replaced := of.replaced(w)
			if replaced {
				s.watchDirectories(w, of)
			}
			if of.edited() || replaced {
				requestReload(changed)
			}
		case e, open := <-w.Events:
			if !open {
				return
			}
			if e.Op.Has(fsnotify.Create) && of.isFolder(e.Name) {
				_ = w.Add(e.Name) // it is no directory, or gone again
			}
			if of.concerned(e) {
				of.linked = of.links() // which may be what has changed
				requestReload(changed)
			}
		case err, open := <-w.Errors:
			if !open {
				return
			}
			s.log.Warn("watching files failed", "error", err)
		}
	}
}

// namedFiles returns the files that the APIs of the catalog in force name.
func (s *server) namedFiles() (files []string) {
	for _, a := range s.front.Catalog().APIs {
		files = append(files, a.Files...)
	}
	return files
}

func requestReload(changed chan<- struct{}) {
	select {
	case changed <- struct{}{}:
	default: // a reload is due already
	}
}

// concerned reports whether an event is of the configuration file, of a catalog file or
// folder, or of the symbolic link that Kubernetes swaps.
func (of *watchedFiles) concerned(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod {
		return false
	}
	return filepath.Base(e.Name) == "..data" || of.isFile(e.Name) || of.isFolder(e.Name)
}

// isFile reports whether a path is that of the configuration, of the certificate or its key, or of a catalog file.
func (of *watchedFiles) isFile(path string) bool {
	if slices.Contains(of.pair, filepath.Clean(path)) {
		return true
	}
	if of.file != "" && filepath.Base(path) == filepath.Base(of.file) {
		return true
	}
	dir := filepath.Dir(path)
	return of.catalog != "" && filepath.Ext(path) == ".yaml" && (dir == of.catalog || of.isFolder(dir))
}

// isFolder reports whether a path is one that a folder of the catalog may have. It may not
// be there any more.
func (of *watchedFiles) isFolder(path string) bool {
	return of.catalog != "" && filepath.Ext(path) == "" && filepath.Dir(path) == of.catalog
}
