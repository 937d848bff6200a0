package main

import (
	"context"
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache"
	"sundry/proxy/admin"
	"sundry/proxy/live"
)

// system is what the admin API shows and changes.
func (s *server) system(reg *prometheus.Registry) (*admin.System, error) {
	var store live.Store = &live.File{Path: s.config.State}
	if s.far != nil {
		store = live.NewRedis(s.far)
	}
	var err error
	s.replicator, err = live.NewReplicator(live.ReplicatorConfig{Store: store, Check: s.tryOut, Apply: s.apply, Registerer: reg, Log: s.log})
	if err != nil {
		return nil, err
	}
	return &admin.System{
		Catalog: s.front.Catalog, Spaces: s.cache.Spaces, Env: s.env, Replicator: s.replicator, Metrics: reg, Log: s.log,
		Reload:  func() (admin.Reloaded, error) { return s.reloadOnce("an operator asked") },
		Lasting: s.far != nil || s.config.State != "",
		About: map[string]any{
			"version": version(), "replay": s.cmd.Replay, "redis": s.far != nil, "listen": s.config.Listen,
			"config": s.config.file, "catalog": s.config.Catalog,
		},
	}, nil
}

// joinTime bounds how long a start waits to learn what operators changed.
const joinTime = 2 * time.Second

// join takes over what operators changed before this instance serves: a
// restarted one must not answer with what was purged out of Redis. A store that
// is away keeps nobody from serving.
func (s *server) join(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	if err := s.replicator.FirstSync(ctx); err != nil {
		s.log.Warn("serving without the settings made while it runs: they cannot be read yet", "error", err)
	}
}

// learned is the far tier as long as this instance has heard of every purge.
// While it has not, what Redis holds may be what was purged meanwhile.
type learned struct {
	cache.Remote
	inStep func() bool
}

// Look implements cache.Remote.
func (l learned) Look(ctx context.Context, key string) (value, failure []byte, leased bool) {
	if !l.inStep() {
		return nil, nil, false
	}
	return l.Remote.Look(ctx, key)
}

// inStep tells whether the replicator is; one that is not made yet is not.
func (s *server) inStep() bool { return s.replicator != nil && s.replicator.InSync() }

// tryOut compiles a set with the knobs, aside. Changes that leave them as they
// are, a purge or a breaker's, need none.
func (s *server) tryOut(knobs map[string]map[string]string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inForce(knobs) {
		return nil
	}
	_, err := s.loaded.compile(s.env, knobs)
	return err
}

// apply puts settings into force on this instance. Purges and orders come
// first: they hold even where knobs cannot be compiled here.
func (s *server) apply(e live.EffectiveSettings) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cache.SetPurges(e.Purges)
	for _, o := range e.Orders {
		s.carryOut(&o)
	}
	s.held = e.Breakers
	s.hold()
	if s.inForce(e.Cache) {
		return nil
	}
	return s.retune(e.Cache)
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

func (s *server) carryOut(o *live.Order) {
	switch o.Do {
	case "drop":
		if space, ok := admin.Holder(s.cache.Spaces(o.Target), o.Key); ok {
			space.PurgeKey(o.Key, o.At)
		}
	case "reset":
		for _, h := range s.env.Hosts.All() {
			if h.Name == o.Target {
				h.Reset()
			}
		}
	}
}
