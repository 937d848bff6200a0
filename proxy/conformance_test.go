package proxy

import (
	"encoding/json"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/itchyny/gojq"

	"sundry/upstreams/catalog"
)

func conformance(t *testing.T) []catalog.Conformance {
	t.Helper()
	table, err := catalog.ConformanceTable()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestConformance makes every call of the table, over HTTP, in replay.
func TestConformance(t *testing.T) {
	f := newFront(t, nil, replayed)
	for _, row := range conformance(t) {
		for _, c := range row.Calls {
			t.Run(row.Endpoint+"?"+c.Query, func(t *testing.T) {
				a := f.get("/api/" + row.Endpoint + "/index.php?" + strings.ReplaceAll(c.Query, " ", "%20"))
				conforms(t, a, c)
				if a.StatusCode >= http.StatusBadRequest {
					return
				}
				head := f.do(t.Context(), http.MethodHead, "/api/"+row.Endpoint+"/index.php?"+c.Query)
				if head.StatusCode != a.StatusCode || head.body != "" {
					t.Errorf("HEAD: %d with %d bytes", head.StatusCode, len(head.body))
				}
			})
		}
	}
}

func conforms(t *testing.T, a answer, c catalog.ConformanceCall) {
	t.Helper()
	want := c.Status
	if want == 0 {
		want = http.StatusOK
	}
	if a.StatusCode != want {
		t.Fatalf("status %d, want %d: %.300s", a.StatusCode, want, a.body)
	}
	if got := a.Header.Get("Content-Type"); !strings.HasPrefix(got, c.Type) {
		t.Errorf("content type %s, want %s", got, c.Type)
	}
	if strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") && (!strings.HasSuffix(a.body, "\n") || strings.HasSuffix(a.body, "\n\n")) {
		t.Errorf("want a text that ends with one newline: %q", a.body)
	}
	if c.To != "" && !regexp.MustCompile(c.To).MatchString(a.Header.Get("Location")) {
		t.Errorf("Location %s, want %s", a.Header.Get("Location"), c.To)
	}
	if c.Is != "" && !holds(t, c.Is, subject(t, a)) {
		t.Errorf("does not hold: %s\nof %.600s", c.Is, a.body)
	}
}

// subject is what a condition is about.
func subject(t *testing.T, a answer) any {
	t.Helper()
	switch typ := a.Header.Get("Content-Type"); {
	case strings.HasPrefix(typ, "application/json"):
		var doc struct {
			Code    int
			Message string
			Data    any
		}
		if err := json.Unmarshal([]byte(a.body), &doc); err != nil || doc.Code != 200 || doc.Message != "ok" {
			t.Fatalf("envelope: %v: %.300s", err, a.body)
		}
		return doc.Data
	case typ == "image/x-icon":
		return map[string]any{"size": len(a.body)}
	case strings.HasPrefix(typ, "image/"):
		cfg, kind, err := image.DecodeConfig(strings.NewReader(a.body))
		if err != nil || typ != "image/"+kind {
			t.Fatalf("%s that is %s: %v", typ, kind, err)
		}
		return map[string]any{"type": typ, "width": cfg.Width, "height": cfg.Height, "size": len(a.body)}
	}
	return strings.TrimSuffix(a.body, "\n")
}

func holds(t *testing.T, condition string, v any) bool {
	t.Helper()
	q, err := gojq.Parse(condition)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := q.RunWithContext(t.Context(), v).Next()
	if err, failed := got.(error); failed {
		t.Errorf("%s: %v", condition, err)
		return false
	}
	return ok && got != nil && got != false
}

// TestTheTableIsWhole holds table and catalog to each other: every endpoint,
// parameter, value and form has a row that succeeds.
func TestTheTableIsWhole(t *testing.T) {
	f := newFront(t, nil, replayed)
	set := f.server.set.Load().catalog
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
			i := slices.IndexFunc(e.Params, func(p *catalog.Param) bool { return p.Name == name && !p.Hidden() })
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

func rowsCover(t *testing.T, row catalog.Conformance, e *catalog.Endpoint) {
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
		if p.Hidden() {
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
