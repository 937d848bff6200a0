package admin

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"sundry/metrics/words"
	"sundry/proxy/live"
	"sundry/upstreams"
	"sundry/upstreams/host"
)

// hostView is an upstream host with its breaker.
type hostView struct {
	Name  string `json:"name"`
	State string `json:"state"` // of the breaker
	Force string `json:"force"` // auto, open or closed
	// Until is when the hold expires.
	Until time.Time `json:"until,omitzero"`
}

// sourceView is a source, or a host of an API, with its recent attempts.
type sourceView struct {
	Endpoint string `json:"endpoint"`
	API      bool   `json:"api,omitempty"`
	Chain    string `json:"chain"`
	Source   string `json:"source"`
	// Hosts that it calls, each once, those of its steps first.
	Hosts []string `json:"hosts"`
	// Missing is the environment variable of the key without which the source is
	// left out.
	Missing string `json:"missing,omitempty"`
	// QuotaLeft is the share of its rate that is left; nil: it declares none.
	QuotaLeft *float64 `json:"quota_left,omitempty"`
	// Out is set for an address of an API that fails its health checks: others are asked first.
	Out bool `json:"out,omitempty"`
	// Answers is how many it gave in the last hour, on this instance.
	Answers int `json:"answers"`
	// Recent attempts, the oldest first.
	Recent []attemptView `json:"recent"`
	// LastErr is of the last that failed; one that the breaker rejected comes after what opened it.
	LastErr  string    `json:"last_error,omitempty"`
	LastKind string    `json:"last_error_result,omitempty"`
	ErrAt    time.Time `json:"last_error_at,omitzero"`
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
			for _, s := range c.Declared {
				sources = append(sources, a.sourceView(e.Name, c.Name, s))
			}
		}
	}
	for _, one := range a.Catalog().APIs {
		for _, target := range one.Targets {
			v := sourceView{Endpoint: one.Name, API: true, Source: target.URL.Host, Out: target.Check.Out(), Hosts: []string{}}
			if target.Host != nil {
				v.Hosts = append(v.Hosts, target.Host.Name)
			}
			v.addQuota(target.Quota)
			a.addAttempts(&v)
			sources = append(sources, v)
		}
	}
	return map[string]any{"hosts": hosts, "sources": sources}, nil
}

// breakers names the hosts whose breakers are in a state.
func (a *api) breakers(state string) []string {
	names := []string{}
	for _, h := range a.Env.Hosts.All() {
		if h.State() == state {
			names = append(names, h.Name)
		}
	}
	slices.Sort(names)
	return names
}

func (a *api) sourceView(endpoint, chain string, s *upstreams.Source) sourceView {
	v := sourceView{Endpoint: endpoint, Chain: chain, Source: s.Declared, Missing: s.Missing, Hosts: []string{}}
	for _, h := range s.Hosts() {
		v.Hosts = append(v.Hosts, h.Name)
	}
	v.addQuota(s.Quota)
	a.addAttempts(&v)
	return v
}

// addQuota adds what is left of a quota; nil: there is none.
func (v *sourceView) addQuota(q *host.Quota) {
	if q != nil {
		left := q.Left(time.Now())
		v.QuotaLeft = &left
	}
}

// addAttempts adds what the journal has of a source.
func (a *api) addAttempts(v *sourceView) {
	v.Recent, v.Answers = []attemptView{}, a.Env.Journal.Answers(v.Endpoint, v.Source, time.Now())
	for _, attempt := range a.Env.Journal.Recent(v.Endpoint, v.Source) {
		v.Recent = append(v.Recent, attemptView{attempt.At, attempt.Took.Milliseconds(), attempt.Result})
	}
	if failure, ok := a.Env.Journal.LastFailure(v.Endpoint, v.Source); ok {
		v.LastErr, v.LastKind, v.ErrAt = failure.Err, failure.Result, failure.At
	}
}

// changeBreaker holds a breaker, releases it, or resets its failures.
func (a *api) changeBreaker(r *http.Request) (any, error) {
	var body struct {
		Do  string `json:"do"` // open, closed, auto or reset
		For string `json:"for"`
	}
	if err := decodeBody(r, &body); err != nil {
		return nil, err
	}
	name := r.PathValue("host")
	if !slices.ContainsFunc(a.Env.Hosts.All(), func(h *host.Host) bool { return h.Name == name }) {
		return nil, notFound(words.Say("upstream host", "上游主机"), name)
	}
	d, err := parseFor(body.For)
	if err != nil {
		return nil, err
	}
	if body.Do == "reset" {
		return a.change(r, live.Change{Do: live.DoReset, Target: name})
	}
	if _, err := host.ParseForce(body.Do); err != nil {
		return nil, fieldError("do", "do: %q: expected open, closed, auto or reset", "do：不能是%q，应为 open、closed、auto 或 reset", body.Do)
	}
	return a.change(r, live.Change{Do: live.DoBreaker, Target: name, Force: body.Do, For: d})
}
