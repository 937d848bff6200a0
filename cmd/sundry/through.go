package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache/near"
	"sundry/cache/policy"
	"sundry/cache/web"
	"sundry/cmd/sundry/internal/config"
	"sundry/metrics/words"
	"sundry/proxy/through"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/host"
	"sundry/upstreams/lib/redact"
)

const (
	// storeShare is the part of the memory for the cache that what APIs answer gets, where the catalog has some when the
	// server starts; idleShare is that where it has none, for those that a reload adds.
	storeShare = 2
	idleShare  = 16
	// storeVariants is how many variants of one URI are kept.
	storeVariants = 50
)

// readInputs reads what the catalog is compiled from: its files, or one API and no endpoint.
func (f *flags) readInputs(c *config.Config, secret func(string) (string, bool)) (*inputs, error) {
	if f.one != nil {
		return &inputs{config: c, files: catalog.FilesOfAPI(f.one), secret: memoized(secret), alone: true}, nil
	}
	return readInputs(c, secret)
}

// readInputs reads what the catalog is compiled from.
func (s *server) readInputs(c *config.Config) (*inputs, error) {
	in, err := s.cmd.readInputs(c, s.process.getenv)
	return in, misconfigured(err)
}

// logAPIs says of each API where clients find it, at which addresses it is, for which Host it is asked, and what is stored of a response
// that says nothing.
func (s *server) logAPIs(home string) {
	for _, a := range s.front.Catalog().APIs {
		var origins, hosts, stored []string
		for _, t := range a.Targets {
			origins, hosts = append(origins, t.Address()), append(hosts, cmp.Or(t.Sent, "caller"))
		}
		for _, line := range a.Rules.ExplainDefault() {
			stored = append(stored, line.EN())
		}
		if len(stored) == 0 {
			stored = append(stored, "a response that says nothing is not stored")
		}
		s.log.Info("API", "name", a.Name, "at", s.placeOf(a, home), "origins", strings.Join(origins, ", "), "host", strings.Join(slices.Compact(hosts), ", "), "default", strings.Join(stored, "; "))
	}
}

// placeOf is where clients find an API.
func (s *server) placeOf(a *catalog.API, home string) string {
	switch {
	case a.Everywhere:
		return home
	case len(a.Hosts) > 0:
		return "Host: " + strings.Join(a.Hosts, ", ")
	}
	return strings.TrimSuffix(home, "/") + "/api/" + a.Name + "/"
}

// memory is for the cache, in bytes.
func (s *server) memory() int64 { return cmp.Or(int64(s.config.Cache.Memory), near.DefaultMemory) }

// shareMemory divides the memory for the cache between the near tier of endpoints and the store of APIs.
func (s *server) shareMemory() (endpoints, apis int64) {
	all := s.memory()
	switch {
	case s.cmd.To != "":
		endpoints = near.MinMemory
	case s.loaded.files.HaveAPIs():
		endpoints = all - all/storeShare
	default:
		return all, all / idleShare
	}
	endpoints = max(endpoints, near.MinMemory)
	return endpoints, max(all-endpoints, near.MinMemory)
}

func (s *server) newStore(memory int64, reg prometheus.Registerer) (*web.Store, error) {
	c := web.StoreConfig{Memory: memory, Variants: storeVariants, Name: "/web", Spools: web.NewSpoolMemory(int64(s.config.ReplyMemory)), Panics: s.panics, Registerer: reg} // no endpoint has a slash in its name
	c.Private = func(key string) bool { return redact.Query(key) != key }
	if s.far != nil {
		c.Far = inSyncOnly{s.far, s.inSync}
	}
	return web.NewStore(c)
}

// dialOrigin connects to an origin in the network of the process.
func (s *server) dialOrigin(ctx context.Context, network, address string) (net.Conn, error) {
	if n := s.process.network; n != nil {
		return n.dial(ctx, network, address)
	}
	return s.cmd.dialOrigin(ctx, network, address)
}

// dialOrigin connects to an origin that the operator named: any address may be meant.
func (f *flags) dialOrigin(ctx context.Context, network, address string) (net.Conn, error) {
	if f.Replay {
		return nil, words.Translated(fmt.Errorf("connect to %s: %w", address, through.ErrReplay), "回放时没有网络")
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

// callsOf counts the requests to a host of an API, among those to sources, and the journal has them.
func (s *server) callsOf(api, name string) func(err error, took time.Duration) {
	observe := s.env.Metrics.Calls(api, name)
	return func(err error, took time.Duration) {
		result := resultOfCall(err)
		if result == "rejected" || result == "busy" || result == "throttled" {
			took = 0
		}
		observe(result, took)
		s.env.Journal.Note(api, name, result, took, s.env.Hidden.Redactor().Err(err))
	}
}

func resultOfCall(err error) string {
	var timeout net.Error
	_, throttled := errors.AsType[*host.ThrottledError](err)
	status, answered := errors.AsType[through.StatusError](err)
	switch {
	case answered && status == http.StatusTooManyRequests:
		return upstreams.Limited.String()
	case answered:
		return "5xx"
	case err == nil:
		return "success"
	case throttled:
		return "throttled"
	case errors.Is(err, host.ErrRejected):
		return "rejected"
	case errors.Is(err, host.ErrBusy):
		return "busy"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	}
	return "unavailable"
}

// purgeAPIs carries out, on what is kept of APIs, the purges of whole endpoints that are new, or that another reading of the clock of
// Redis has given another time: an earlier one, too, since a purge that was dated in the future would hide those that follow. The
// caller holds mu.
func (s *server) purgeAPIs(purges map[string]policy.Purge) {
	if s.purged == nil {
		s.purged = map[string]policy.Purge{}
	}
	for target, p := range purges {
		prefix := target + "/"
		if target == policy.AllEndpoints {
			prefix = ""
		}
		before := s.purged[target]
		if !p.Hard.Equal(before.Hard) {
			s.store.Purge(web.Purge{At: web.Heard(p.Hard), Prefix: prefix})
			before.Hard = p.Hard
		}
		if !p.Soft.Equal(before.Soft) {
			s.store.Purge(web.Purge{At: web.Heard(p.Soft), Prefix: prefix, Soft: true})
			before.Soft = p.Soft
		}
		s.purged[target] = before
	}
}
