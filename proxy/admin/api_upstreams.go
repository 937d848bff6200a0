package admin

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"sundry/proxy/live"
	"sundry/upstreams"
	"sundry/upstreams/host"
)

// hostView is an upstream host.
type hostView struct {
	Name  string `json:"name"`
	State string `json:"state"` // of the breaker
	Force string `json:"force"` // auto, open or closed
	// Until the force ends by itself.
	Until time.Time `json:"until,omitzero"`
}

// sourceView is a source with what it did lately.
type sourceView struct {
	Endpoint string `json:"endpoint"`
	Chain    string `json:"chain"`
	Source   string `json:"source"`
	Host     string `json:"host,omitempty"`
	// Missing names the variable with the key that it lacks.
	Missing string `json:"missing,omitempty"`
	// Recent attempts, oldest first: milliseconds, and result.
	Recent  []attemptView `json:"recent"`
	LastErr string        `json:"last_error,omitempty"`
	ErrAt   time.Time     `json:"last_error_at,omitzero"`
}

type attemptView struct {
	At     time.Time `json:"at"`
	MS     int64     `json:"ms"`
	Result string    `json:"result"`
}

// upstreams lists hosts and sources.
func (a *api) upstreams(*http.Request) (any, error) {
	held := a.Replicator.Settings().Breakers
	hosts := []hostView{}
	for _, h := range a.Env.Hosts.All() {
		hosts = append(hosts, hostView{h.Name, h.State(), h.Forced().String(), held[h.Name].Until})
	}
	slices.SortFunc(hosts, func(x, y hostView) int { return strings.Compare(x.Name, y.Name) })
	sources := []sourceView{}
	for _, e := range a.Catalog().Endpoints {
		for _, c := range e.Chains {
			for _, s := range slices.Concat(c.Sources, c.LeftOut) {
				sources = append(sources, a.source(e.Name, c.Name, s))
			}
		}
	}
	return map[string]any{"hosts": hosts, "sources": sources}, nil
}

// open names the hosts whose breakers let no call through.
func (a *api) open() []string {
	names := []string{}
	for _, h := range a.Env.Hosts.All() {
		if h.State() == "open" {
			names = append(names, h.Name)
		}
	}
	slices.Sort(names)
	return names
}

func (a *api) source(endpoint, chain string, s *upstreams.Source) sourceView {
	v := sourceView{Endpoint: endpoint, Chain: chain, Source: s.Bare(), Missing: s.Missing, Recent: []attemptView{}}
	if h := s.Host(); h != nil {
		v.Host = h.Name
	}
	for _, n := range a.Env.Journal.Recent(endpoint, s.Bare()) {
		v.Recent = append(v.Recent, attemptView{n.At, n.Took.Milliseconds(), n.Result})
		if n.Err != "" {
			v.LastErr, v.ErrAt = n.Err, n.At
		}
	}
	return v
}

// changeBreaker holds a breaker, lets go of it, or makes it forget.
func (a *api) changeBreaker(r *http.Request) (any, error) {
	var body struct {
		Do  string `json:"do"` // open, closed, auto or reset
		For string `json:"for"`
	}
	if err := read(r, &body); err != nil {
		return nil, err
	}
	name := r.PathValue("host")
	if !slices.ContainsFunc(a.Env.Hosts.All(), func(h *host.Host) bool { return h.Name == name }) {
		return nil, absent("upstream host", name)
	}
	d, err := span(body.For)
	if err != nil {
		return nil, err
	}
	if body.Do == "reset" {
		return a.change(r, live.Change{Do: live.DoReset, Target: name})
	}
	if _, err := host.ParseForce(body.Do); err != nil {
		return nil, bad("do: %q: want open, closed, auto or reset", body.Do)
	}
	return a.change(r, live.Change{Do: live.DoBreaker, Target: name, Force: body.Do, For: d})
}
