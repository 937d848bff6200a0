package main

import (
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/proxy/admin"
)

// system is what the admin API shows and changes.
func (s *server) system(metrics prometheus.Gatherer) *admin.System {
	var store admin.Store = &admin.File{Path: s.config.State}
	if s.far != nil {
		store = s.far.Document("settings")
	}
	s.tuner = admin.NewTuner(store, s.tryOut, s.apply, s.log)
	return &admin.System{
		Catalog: s.front.Catalog, Space: s.front.Space, Env: s.env, Tuner: s.tuner, Metrics: metrics, Log: s.log,
		Reload:  func() error { return s.reloadOnce("an operator asked") },
		Lasting: s.far != nil || s.config.State != "",
		About: map[string]any{
			"version": version(), "replay": s.cmd.Replay, "redis": s.far != nil, "listen": s.config.Listen,
			"config": s.config.file, "catalog": s.config.Catalog,
		},
	}
}

// tryOut compiles a set with the settings, aside. Those that leave the knobs as
// they are, a purge or a breaker's, need none.
func (s *server) tryOut(settings *admin.Settings) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	live := settings.Live(time.Now())
	if s.inForce(live) {
		return nil
	}
	_, err := compileCatalog(s.loaded, s.env, live)
	return err
}

// apply puts settings into force on this instance, and carries out the orders
// that came since.
func (s *server) apply(settings *admin.Settings, since int64, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	live := settings.Live(now)
	if !s.inForce(live) {
		if err := s.swap(s.loaded, live, "settings"); err != nil {
			return err
		}
	}
	s.cache.Purge(settings.Purges)
	s.held = settings.Held(now)
	s.hold()
	for _, o := range settings.Orders {
		if o.Seq > since {
			s.carryOut(&o)
		}
	}
	return nil
}

// inForce tells knobs that the running set was made with. The caller holds mu.
func (s *server) inForce(live map[string]map[string]string) bool {
	return maps.EqualFunc(live, s.live, maps.Equal)
}

// hold keeps the breakers as operators said. The caller holds mu.
func (s *server) hold() {
	for _, h := range s.env.Hosts.All() {
		h.Force(s.held[h.Name])
	}
}

func (s *server) carryOut(o *admin.Order) {
	switch o.Do {
	case "drop":
		if space, ok := s.front.Space(o.Target); ok {
			space.Drop(o.Key)
		}
	case "reset":
		for _, h := range s.env.Hosts.All() {
			if h.Name == o.Target {
				h.Reset()
			}
		}
	}
}
