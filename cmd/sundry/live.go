package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache"
	"sundry/cache/entry"
	"sundry/cache/far"
	"sundry/cache/policy"
	"sundry/cache/web"
	"sundry/proxy/admin"
	"sundry/proxy/autopilot"
	"sundry/proxy/live"
	"sundry/proxy/site/status"
	"sundry/upstreams/catalog"
)

// newSystem makes the replicator and the autopilot, and what the admin API shows and changes.
func (s *server) newSystem(reg prometheus.Registerer) *admin.System {
	store, file := live.Store(&live.File{Path: s.config.InData("settings")}), ""
	if s.far != nil {
		store, file = s.far.SharedValue("settings"), s.config.InData("settings")
	}
	s.replicator = live.NewReplicator(live.ReplicatorConfig{
		// An outage of the store is one of Redis: what others announced meanwhile was lost as well.
		Store: store, Copy: file, Check: s.validate, Purge: s.purge, Unknown: s.distrust, Apply: s.apply, Returned: s.store.Missed, Registerer: reg, Log: s.log, Panics: s.panics,
	})
	s.autopilot = autopilot.New(autopilot.Config{
		Endpoints: s.piloted, Step: s.observer.Step, Replicator: s.replicator, Registerer: reg, Log: s.log,
	})
	return &admin.System{
		Catalog: s.front.Catalog, History: s.front.History, Status: s.front.Status, Spaces: s.cache.Spaces, Env: s.env, Advise: s.advise, Autopilot: s.autopilot.Status, Replicator: s.replicator, Log: s.log,
		Reload:        func() (admin.Reloaded, error) { return s.reloadOnce("an operator asked") },
		ReloadFailure: s.reloadFailure, Declaration: s.declaration, Grafana: s.grafana, Store: s.store, Resolve: s.front.APIOf, Foresee: s.front.Foresee, Unstored: s.front.Unstored, Public: s.front, PublicPath: s.config.BasePath,
		Persistent: s.persists,
		About: map[string]any{
			"version": version(), "replay": s.cmd.Replay, "redis": s.far != nil, "listen": s.config.Listen,
			"config": s.config.File, "catalog": s.config.Catalog,
		},
	}
}

// statusStore is where the record of the status is kept: in Redis, or else in the data directory; without either
// in memory.
func (s *server) statusStore() status.Store {
	file := s.config.InData("status")
	switch {
	case s.far == nil:
		return &live.File{Path: file}
	case file == "":
		return sharedStatus{s.far.SharedValue("status")}
	}
	return sharedStatus{&live.Mirror{Store: s.far.SharedValue("status"), Path: file, Log: s.log}}
}

// sharedStatus is a store of the status in Redis.
type sharedStatus struct{ live.Store }

// Load implements status.Store.
func (s sharedStatus) Load(ctx context.Context) ([]byte, error) {
	stored, err := s.Store.Load(ctx)
	if errors.Is(err, far.ErrNotAValue) {
		err = fmt.Errorf("%w: %w", status.ErrNotAValue, err)
	}
	return stored, err
}

// persists reports whether what operators change outlives a restart of this program, and of Redis.
func (s *server) persists(ctx context.Context) bool {
	return s.config.Data != "" || s.far != nil && s.far.Persists(ctx)
}

// declaration is the file of an endpoint in force.
func (s *server) declaration(endpoint string) (yaml []byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loaded.files.Declaration(endpoint)
}

// reloadFailure is nil if the last reload succeeded.
func (s *server) reloadFailure() *admin.ReloadFailure {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// grafana is where the console finds the dashboards, as the settings in force say; "" for nowhere.
func (s *server) grafana() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loaded.config.GrafanaURL
}

// catchUpTime bounds how long a start waits for what operators changed.
const catchUpTime = 2 * time.Second

// catchUp reads, before this instance serves, what operators have changed: after a
// restart it must not answer with entries from Redis that have been purged. If the
// store is unavailable, the instance serves nevertheless.
func (s *server) catchUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, catchUpTime)
	defer cancel()
	if err := s.replicator.FirstSync(ctx); err != nil {
		s.log.Warn("serving without the settings that operators changed meanwhile: they cannot be read yet", "error", err)
	}
}

// hears is called when this instance is told of what others change from now on, or no more.
func (s *server) hears(yes bool) {
	if yes {
		s.store.Missed()
	}
}

// inSyncOnly is the far tier for an instance that may not know every purge: while it
// does not, nothing is read, because an entry in Redis may have been purged.
type inSyncOnly struct {
	*far.Tier
	inSync func() bool
}

// Look implements cache.Remote.
func (p inSyncOnly) Look(ctx context.Context, key string, lease time.Duration) entry.Found {
	if !p.inSync() {
		return entry.Found{}
	}
	return p.Tier.Look(ctx, key, lease)
}

// inSync reports whether this instance is in sync with the stored settings.
func (s *server) inSync() bool { return s.replicator != nil && s.replicator.InSync() }

// validate compiles the catalog with these cache settings, without putting it into
// force.
func (s *server) validate(settings map[string]map[string]string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inForce(settings) {
		return nil
	}
	_, err := s.compileLive(settings)
	return err
}

// compileLive compiles the catalog in force with other cache settings: once for the check
// and for putting them into force. The caller holds mu.
func (s *server) compileLive(settings map[string]map[string]string) (*catalog.Catalog, error) {
	from := s.front.Catalog()
	if c := &s.compiled; c.set != nil && c.from == from && maps.EqualFunc(settings, c.settings, maps.Equal) {
		return c.set, nil
	}
	set, err := s.loaded.compileLive(from, s.env, settings)
	if err == nil {
		s.compiled = compiled{from, settings, set}
	}
	return set, err
}

// compiled is a catalog that was compiled from another one with other cache settings.
type compiled struct {
	from     *catalog.Catalog
	settings map[string]map[string]string
	set      *catalog.Catalog
}

// distrust keeps what other instances share of APIs from being used that may have been purged before then, such as by its tag:
// Redis still has it, and only those that were told know better.
func (s *server) distrust(before time.Time) { s.store.Purge(web.Purge{At: web.Heard(before)}) }

// purge puts purges into force on this instance, and carries out orders: even where the
// cache settings that came with them cannot be compiled here.
func (s *server) purge(purges map[string]policy.Purge, orders []live.Order) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cache.SetPurges(purges)
	s.purgeAPIs(purges)
	for _, o := range orders {
		s.execOrder(&o)
	}
}

// apply puts settings into force on this instance.
func (s *server) apply(e live.EffectiveSettings) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = e.Breakers
	s.applyHolds()
	if s.inForce(e.Cache) {
		return nil
	}
	return s.recompile(e.Cache)
}

// inForce reports whether the catalog in force was compiled with these cache
// settings. The caller holds mu.
func (s *server) inForce(settings map[string]map[string]string) bool {
	return maps.EqualFunc(settings, s.changed, maps.Equal)
}

// applyHolds opens, closes and releases breakers according to the holds of operators. The
// caller holds mu.
func (s *server) applyHolds() {
	for _, h := range s.env.Hosts.All() {
		h.Force(s.held[h.Name])
	}
}

// execOrder carries out an order on this instance.
func (s *server) execOrder(o *live.Order) {
	switch o.Do {
	case live.DoDrop:
		if p, err := web.ParsePurge(o.Target, o.Key); err == nil {
			p.At = web.Heard(o.At)
			s.store.Purge(p)
		}
		if space, ok := cache.SpaceOf(s.cache.Spaces(o.Target), o.Key); ok {
			space.PurgeKey(o.Key, o.At)
		}
	case live.DoReset:
		for _, h := range s.env.Hosts.All() {
			if h.Name == o.Target {
				h.Reset()
			}
		}
	}
}
