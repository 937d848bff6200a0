package simulation

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// state is what operators see of an instance.
type state struct {
	instance, start int
	sent, received  time.Time
	values          map[string]string // of each setting
	pending         float64
	inSync          bool
	metrics         map[string]float64 // the sums of all labels
}

// look asks all instances for what operators see. An instance that gives no response is not looked at.
func (f *fleet) look() {
	for _, i := range f.instances {
		f.pending.Go(func() {
			if s := f.stateOf(i); s != nil {
				f.note(func() { f.states = append(f.states, s) })
			}
		})
	}
}

// stateOf asks an instance; nil means that it gives no response.
func (f *fleet) stateOf(i *instance) *state {
	s := &state{instance: i.number, start: i.starts, sent: time.Now(), values: map[string]string{}}
	var endpoints struct {
		Endpoints []struct {
			Name   string
			Policy map[string]string
		}
	}
	var upstreams struct {
		Hosts []struct{ Name, Force string }
	}
	var overview struct {
		Pending float64
		InSync  bool `json:"in_sync"`
	}
	if !f.ask(i, "endpoints", &endpoints) || !f.ask(i, "upstreams", &upstreams) || !f.ask(i, "overview", &overview) {
		return nil
	}
	for _, e := range endpoints.Endpoints {
		if e.Name == "own" {
			s.values[ttlSetting] = e.Policy["ttl"]
		}
	}
	for _, h := range upstreams.Hosts {
		if h.Name == originAddress {
			s.values[holdSetting] = h.Force
		}
	}
	s.pending, s.inSync, s.received = overview.Pending, overview.InSync, time.Now()
	s.metrics = i.readMetrics()
	return s
}

// ask reads from the admin API of an instance, and reports whether it has answered.
func (f *fleet) ask(i *instance, path string, into any) bool {
	got, err := i.admin.send(http.MethodGet, adminURL+path, http.Header{}, nil)
	if err != nil {
		return false // as when it is killed meanwhile
	}
	if err = json.Unmarshal(got.body, into); err != nil || got.status != http.StatusOK {
		f.broken("O1", "instance %d: GET %s: %d %s %v", i.number, path, got.status, got.body, err)
		return false
	}
	return true
}

// readMetrics returns the metrics of an instance, each summed over its labels; nil means that it gives no response.
func (i *instance) readMetrics() map[string]float64 {
	got, err := i.admin.send(http.MethodGet, "http://127.0.0.1:9090/metrics", http.Header{}, nil)
	if err != nil || got.status != http.StatusOK {
		return nil
	}
	sums := map[string]float64{}
	for line := range strings.Lines(string(got.body)) {
		name, _, _ := strings.Cut(line, " ")
		name, _, _ = strings.Cut(name, "{")
		fields := strings.Fields(line)
		if v, err := strconv.ParseFloat(fields[len(fields)-1], 64); err == nil && name != "#" {
			sums[name] += v
		}
	}
	return sums
}
