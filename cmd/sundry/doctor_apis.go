package main

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"time"

	"sundry/metrics/words"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/fixtures"
)

// reachAPIs requests the path of the health checks, or else the root, from each address of the APIs that were named, or of all.
// Whatever an address answers, it is reachable: what an API answers is its own affair. In replay there is no network, and no finding.
func (d *doctorCmd) reachAPIs(w *process, l *loaded) (found []fixtures.Finding, err error) {
	for _, a := range l.set.APIs {
		if d.Replay || len(d.Subjects) > 0 && !slices.Contains(d.Subjects, a.Name) {
			continue
		}
		for i := range a.Targets {
			one := *a
			one.Targets = a.Targets[i : i+1]
			start := time.Now()
			path, err := url.Parse(cmp.Or(a.Health.Path, "/"))
			if err != nil {
				return nil, err
			}
			c, err := d.getFrom(w.ctx, l, &one, path)
			if err != nil {
				return nil, err
			}
			f := fixtures.Finding{Endpoint: a.Name, Source: a.Targets[i].URL.Host, Health: fixtures.Works, Took: time.Since(start)}
			if c.origins == nil {
				f.Health, f.Notes = fixtures.Unreachable, []words.Text{upstreams.WhyFailed(c.result.Err)}
			} else {
				f.Notes = []words.Text{words.Sayf("reachable: answers %d %s to GET %s", "连得上：返回 %d %s（GET %s）", c.result.Code, http.StatusText(c.result.Code), c.ended[0].url)}
			}
			found = append(found, f)
		}
	}
	return found, nil
}

// unreachable are the APIs without an address that is reachable.
func unreachable(found []fixtures.Finding) (names []string) {
	for i := range found {
		reached := func(f fixtures.Finding) bool { return f.Endpoint == found[i].Endpoint && f.Health == fixtures.Works }
		if name := found[i].Endpoint; !slices.ContainsFunc(found, reached) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// namedAPIs are the APIs among names.
func namedAPIs(set *catalog.Catalog, names []string) (apis []string) {
	for _, name := range names {
		if _, ok := set.API(name); ok {
			apis = append(apis, name)
		}
	}
	return apis
}
