package recorded

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/host"
	"sundry/upstreams/replay"
)

// failureMode is a way in which an upstream stops answering.
type failureMode struct {
	fault replay.Fault
	// counts tells whether it should open the host's breaker: rubbish for one
	// endpoint says nothing about the host.
	counts bool
}

func failureModes() map[string]failureMode {
	return map[string]failureMode{
		"404":     {replay.Fault{Error: 1, Status: 404}, true},
		"410":     {replay.Fault{Error: 1, Status: 410}, true},
		"403":     {replay.Fault{Error: 1, Status: 403}, true},
		"429":     {replay.Fault{Error: 1, Status: 429}, true},
		"500":     {replay.Fault{Error: 1, Status: 500}, true},
		"empty":   {replay.Fault{Error: 1, Body: "empty"}, false},
		"HTML":    {replay.Fault{Error: 1, Body: "html"}, false},
		"refused": {replay.Fault{Error: 1}, true},
		"timeout": {replay.Fault{Latency: time.Hour}, true},
	}
}

// replayedCatalog is the catalog in replay, whose sources can be made to fail.
type replayedCatalog struct {
	*catalog.Catalog
	faults map[string]replay.Fault
	cases  []*Case
	env    *upstreams.Environment
}

func newReplayed(t *testing.T, breakers host.Config) *replayedCatalog {
	t.Helper()
	th := &replayedCatalog{faults: map[string]replay.Fault{}, cases: mustCases(t)}
	network := replay.New(th.faults)
	env := testEnvironment(t, network)
	th.env = env
	env.Hosts.Config = breakers
	var err error
	if th.Catalog, err = catalog.Load(catalog.Options{}, env); err != nil {
		t.Fatal(err)
	}
	exchanges, err := Exchanges(th.Catalog, th.cases)
	if err != nil {
		t.Fatal(err)
	}
	network.Set(exchanges)
	return th
}

// answeredCall is a call with the source that answers it.
type answeredCall struct {
	endpoint *catalog.Endpoint
	query    string
	source   *upstreams.Source
}

func (s *answeredCall) String() string { return s.endpoint.Name + "?" + s.query }

// answeredCalls are the calls of the conformance table that are answered by asking
// somebody, in chains of two sources or more.
func (th *replayedCatalog) answeredCalls(t *testing.T) []answeredCall {
	t.Helper()
	var all []answeredCall
	for _, e := range th.Endpoints {
		for _, row := range Calls(e) {
			s := answeredCall{endpoint: e, query: row.Query}
			answered := ""
			content, in, err := s.load(t.Context(), func(a upstreams.Attempt) { answered = a.Source })
			if err != nil || content.Negative != "" || len(in.Form.Chain.Sources) < 2 {
				continue // an error, a negative answer, or no other source
			}
			i := slices.IndexFunc(in.Form.Chain.Sources, func(o *upstreams.Source) bool { return o.Name == answered })
			if s.source = in.Form.Chain.Sources[i]; s.source.Remote() {
				all = append(all, s)
			}
		}
	}
	return all
}

func (s *answeredCall) load(ctx context.Context, watch func(upstreams.Attempt)) (cache.Content, catalog.Input, error) {
	in, bad := s.endpoint.Parse(s.query, catalog.Caller{Addr: caller})
	if bad != nil {
		return cache.Content{}, in, bad
	}
	ctx, cancel := context.WithTimeout(ctx, s.endpoint.Policy.FillTimeout)
	defer cancel()
	content, err := (&catalog.Fill{Input: in, Watch: watch}).Load(ctx, false)
	return content, in, err
}

// breakSource makes the source of the call fail, and no other.
func (th *replayedCatalog) breakSource(s *answeredCall, d failureMode) {
	clear(th.faults)
	th.faults[s.endpoint.Name+"/"+s.source.Declared] = d.fault
}

// TestADeadSourceNeverTakesItsEndpointWithIt kills the source that answers each
// call of the conformance table, in every way: another one answers. An
// endpoint that is added to the catalog is in it by itself.
func TestADeadSourceNeverTakesItsEndpointWithIt(t *testing.T) {
	th := newReplayed(t, host.Config{Failures: 1 << 20, Ratio: 2})
	seen := map[string]bool{}
	for _, s := range th.answeredCalls(t) {
		seen[s.endpoint.Name] = true
		for name, d := range failureModes() {
			t.Run(s.String()+" "+name, func(t *testing.T) {
				th.breakSource(&s, d)
				synctest.Test(t, func(t *testing.T) { s.mustBeAnsweredByAnother(t) })
			})
		}
	}
	// Those that are not in it compute their answer, or have one source alone.
	if got, want := slices.Sorted(maps.Keys(seen)), "60s,avatar,dailynews,dailywp,favicon,gamestatus,ip,kd,lishi,music,onlinestatus,sjbz,sjsp,vidparse,wpcat,yiyan"; !strings.HasPrefix(strings.Join(got, ","), want) {
		t.Errorf("endpoints %v, want at least %s", got, want)
	}
}

// mustBeAnsweredByAnother calls until the dead source was asked: some calls
// pick their category at random.
func (s *answeredCall) mustBeAnsweredByAnother(t *testing.T) {
	for range 50 {
		var failed error
		content, _, err := s.load(t.Context(), func(a upstreams.Attempt) {
			if a.Source == s.source.Name {
				failed = a.Err
			}
		})
		switch {
		case failed == nil && err == nil && content.Source != s.source.Name:
			continue
		case err != nil:
			t.Error(err)
		case content.Negative != "" || content.Source == s.source.Name:
			t.Errorf("answered by %q: %q", content.Source, content.Negative)
		}
		return
	}
	t.Error("the dead source was never asked")
}

// TestADeadSourceOpensItsBreaker: a host that fails again and again is left
// alone, one that answers rubbish is not.
func TestADeadSourceOpensItsBreaker(t *testing.T) {
	th := newReplayed(t, host.Config{})
	answeredCalls := th.first(t)
	for name, d := range failureModes() {
		for _, s := range answeredCalls {
			host := s.source.Host()
			if host == nil || s.endpoint.Name == "60s" && d.fault.Status == 404 || strings.Contains(s.query, "v.kuaishou") {
				continue // a host of the caller's; a file that is not out yet; a short link, whose host is another
			}
			th.breakSource(&s, d)
			opened := false
			synctest.Test(t, func(t *testing.T) {
				host.Reset()
				for tries := 0; tries < 80 && !opened; tries++ { // some calls pick their category at random
					_, _, _ = s.load(t.Context(), nil)
					opened = host.State() == "open"
					time.Sleep(2 * time.Second) // at once, the failures of one key count once
				}
			})
			if opened != d.counts {
				t.Errorf("%s %s: breaker of %s: open is %v", s.String(), name, host.Name, opened)
			}
			host.Reset()
		}
	}
}

// first is one answeredCall for each source that answers an endpoint's calls.
func (th *replayedCatalog) first(t *testing.T) []answeredCall {
	t.Helper()
	var out []answeredCall
	for _, s := range th.answeredCalls(t) {
		if !slices.ContainsFunc(out, func(o answeredCall) bool { return o.source == s.source }) {
			out = append(out, s)
		}
	}
	return out
}

// TestTheDoctorNamesADeadSource, with its status where it has one.
func TestTheDoctorNamesADeadSource(t *testing.T) {
	th := newReplayed(t, host.Config{Failures: 1 << 20, Ratio: 2})
	for _, s := range th.first(t) {
		for name, d := range failureModes() {
			th.breakSource(&s, d)
			for _, subject := range SubjectsOf(s.endpoint, th.cases) {
				if subject.Source != s.source {
					continue
				}
				var f Finding
				synctest.Test(t, func(t *testing.T) { f = subject.Examine(t.Context(), time.Now()) })
				notes := strings.Join(f.Notes, "; ")
				if f.Health == Works || notes == "" || !strings.Contains(notes, nameOf(d.fault.Status)) {
					t.Errorf("%s/%s %s: %s: %s", f.Endpoint, f.Source, name, f.Health, notes)
				}
			}
		}
	}
}

func nameOf(status int) string {
	if status == 0 {
		return ""
	}
	return strconv.Itoa(status)
}

// What an icon service does not tell does not outweigh what the site said: two
// negative answers of its own are the answer, which is cached.
func TestASiteWithoutAnIconWhileTheIconServicesAreDown(t *testing.T) {
	th := newReplayed(t, host.Config{Failures: 1 << 20, Ratio: 2})
	for name, d := range failureModes() {
		clear(th.faults)
		th.faults["favicon/duckduckgo"], th.faults["favicon/google"] = d.fault, d.fault
		e, _ := th.Get("favicon")
		s := answeredCall{endpoint: e, query: "url=soft.example.org"}
		synctest.Test(t, func(t *testing.T) {
			content, _, err := s.load(t.Context(), nil)
			if err != nil || content.Negative == "" {
				t.Errorf("%s: %+v %v", name, content, err)
			}
		})
		th.faults["favicon/page"] = replay.Fault{Error: 1}
		synctest.Test(t, func(t *testing.T) {
			if content, _, err := s.load(t.Context(), nil); err == nil && content.Negative != "" {
				t.Errorf("%s: a no, although the page could not be had", name)
			}
		})
	}
}
