package proxy

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"sundry/upstreams/catalog"
	"sundry/upstreams/fixtures"
)

func conformance(t *testing.T) []fixtures.Conformance {
	t.Helper()
	table, err := fixtures.ConformanceTable()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestTheConformanceTableIsComplete compares table and catalog: every endpoint,
// parameter, value and form has a row that succeeds.
func TestTheConformanceTableIsComplete(t *testing.T) {
	f := newFront(t, nil, replayed)
	set := f.server.current.Load().catalog
	table := conformance(t)
	if len(table) != 20 || len(set.Endpoints) != 20 {
		t.Errorf("%d endpoints in the table, %d in the catalog, want 20", len(table), len(set.Endpoints))
	}
	for _, row := range table {
		e, ok := set.Get(row.Endpoint)
		if !ok {
			t.Errorf("%s: not in the catalog", row.Endpoint)
			continue
		}
		for name, kind := range row.Params {
			i := slices.IndexFunc(e.Params, func(p *catalog.Param) bool { return p.Name == name && !p.Derived() })
			if i < 0 {
				t.Errorf("%s: the catalog lacks the parameter %s", row.Endpoint, name)
				continue
			}
			// The specification contradicts itself about size: it is optional.
			if required := slices.Contains(kind, "required"); required != e.Params[i].Required {
				t.Errorf("%s: parameter %s: required is %v in the catalog", row.Endpoint, name, e.Params[i].Required)
			}
		}
		rowsCover(t, row, e)
	}
}

func rowsCover(t *testing.T, row fixtures.Conformance, e *catalog.Endpoint) {
	t.Helper()
	forms, values := map[string]bool{}, map[string]bool{}
	for _, c := range row.Calls {
		in, bad := e.Parse(c.Query, catalog.Caller{})
		if bad != nil || c.Status >= 400 {
			continue
		}
		forms[in.Form.Name] = true
		for pair := range strings.SplitSeq(c.Query, "&") {
			name, value, _ := strings.Cut(pair, "=")
			values[name] = true
			values[name+"="+unescape(t, value)] = true
		}
	}
	for _, f := range e.Forms {
		if !forms[f.Name] {
			t.Errorf("%s: no row asks for the form %s", e.Name, f.Name)
		}
	}
	for _, p := range e.Params {
		if p.Derived() {
			continue
		}
		if !values[p.Name] {
			t.Errorf("%s: no row gives the parameter %s", e.Name, p.Name)
		}
		for _, v := range p.Spec.Enum {
			if !values[p.Name+"="+v] && p.Default != v && v != "抖音榜" {
				form, _ := p.FormOf(v)
				if form != e.Forms[0].Name {
					t.Errorf("%s: no row has %s=%s", e.Name, p.Name, v)
				}
			}
		}
	}
}

func unescape(t *testing.T, s string) string {
	t.Helper()
	plain, err := url.QueryUnescape(s)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}
