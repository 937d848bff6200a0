package main

import (
	"errors"
	"strings"
	"time"

	"sundry/cmd/sundry/internal/config"
	"sundry/metrics/panics"
	"sundry/metrics/words"
	"sundry/proxy/admin"
	"sundry/upstreams/catalog"
)

// reloadOnce loads configuration and catalog again. With a mistake anywhere,
// nothing is applied.
func (s *server) reloadOnce(why string) (admin.Reloaded, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	done, err := s.reread(why)
	if err != nil {
		return done, s.reloadFailed(why, err)
	}
	s.failed = nil
	s.reload.Success.Set(1)
	s.reload.Time.SetToCurrentTime()
	if len(done.Changed)+len(done.NeedRestart) == 0 {
		s.log.Info("reloaded; nothing has changed", "why", why)
	}
	return done, nil
}

// reloadFailed tells of a reload that failed. The error that it returns has words. The caller holds mu.
func (s *server) reloadFailed(why string, err error) error {
	s.reload.Success.Set(0)
	err = errors.Join(byPlace(err)...)
	for mistake := range strings.SplitSeq(err.Error(), "\n") {
		s.log.Error("reload failed; the previous configuration and catalog stay in force", "why", why, "error", mistake)
	}
	mistakes, since := words.Translated(err, inChinese(err)), time.Now()
	if s.failed != nil {
		since = s.failed.Since
	}
	s.failed = &admin.ReloadFailure{Since: since, Mistakes: mistakes.Words()}
	return mistakes
}

// reread applies what the files hold now, as far as that is possible without a
// restart; other settings keep the values that are in force. The caller holds mu.
func (s *server) reread(why string) (done admin.Reloaded, err error) {
	defer s.panics.Catch(panics.Reload, &err)
	c, err := s.cmd.config(s.process)
	if err != nil {
		return done, err
	}
	changed, needRestart := c.Reconcile(s.config, s.loaded.config)
	in, err := s.readInputs(c)
	if err != nil {
		return done, err
	}
	set, reopened, err := s.compileWithGeo(in)
	if err != nil {
		return done, err
	}
	pair, err := openPair(c, s.pair.Load())
	if err != nil {
		return done, err
	}
	lines, err := s.putInForce(set, c)
	if err != nil {
		return done, err
	}
	if s.pair.Swap(pair) != pair {
		changed = append(changed, "tls: read again")
	}
	if reopened {
		changed = append(changed, "geo_file: read again")
	}
	changed = append(changed, lines...)
	s.loaded = in
	s.logChanges("reloaded", changed, why)
	for _, line := range needRestart {
		s.log.Warn("needs a restart", "why", why, "change", line)
	}
	return admin.Reloaded{Changed: changed, NeedRestart: needRestart}, nil
}

// compileWithGeo compiles what was just read, with the databases of addresses as they
// are now, and reports whether those were opened anew. After a mistake the old ones
// stay in force.
func (s *server) compileWithGeo(in *inputs) (set *catalog.Catalog, reopened bool, err error) {
	before := s.env.GeoFile
	if s.env.GeoFile, err = openGeo(in.config, before); err == nil {
		set, err = in.compileAnew(s.env, s.changed)
	}
	if err != nil {
		s.env.GeoFile = before
		return nil, false, err
	}
	return set, s.env.GeoFile != nil && s.env.GeoFile != before, nil
}

func (s *server) logChanges(what string, lines []string, why string) {
	for _, line := range lines {
		s.log.Info(what, "why", why, "change", line)
	}
}

// recompile compiles the catalog in force with other cache settings and puts it into
// force. The caller holds mu.
func (s *server) recompile(changed map[string]map[string]string) error {
	set, err := s.compileLive(changed)
	if err != nil {
		return err
	}
	lines, err := s.putInForce(set, s.loaded.config)
	if err != nil {
		return err
	}
	s.logChanges("cache settings changed", lines, "settings")
	s.changed, s.compiled = changed, compiled{}
	return nil
}

// putInForce puts a catalog and the configuration's settings into force, and returns
// the differences of the catalog. The caller holds mu.
func (s *server) putInForce(set *catalog.Catalog, c *config.Config) ([]string, error) {
	old := s.front.Catalog()
	if old == nil {
		return nil, errors.New("nothing was loaded before")
	}
	diff := catalog.Diff(old, set)
	if err := s.front.Reload(set, frontSettings(c)); err != nil {
		return nil, err
	}
	s.observer.Rules(s.rules(), time.Now())
	s.level.Set(logLevel(c))
	configure(s.env, c)
	s.applyHolds()
	s.logLeftOut(old, set)
	return diff, nil
}
