package proxy

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/lib/longtest"
)

// withExchanges gives the pages the recorded exchanges.
func withExchanges(c *Config, _ *upstreams.Environment) {
	c.Recorded = func(*catalog.Catalog) []*fixtures.Case { return cases() }
}

func describe(t *testing.T, f *front) *openapi3.T {
	t.Helper()
	a := f.get("/openapi.json")
	a.want(t, http.StatusOK)
	a.header(t, "Content-Type", "application/json")
	a.header(t, "Access-Control-Allow-Origin", "*")
	doc, err := openapi3.NewLoader().LoadFromData([]byte(a.body))
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestOpenAPIHoldsForEveryCall validates each answer of the conformance table
// against the OpenAPI document.
func TestOpenAPIHoldsForEveryCall(t *testing.T) {
	t.Parallel()
	longtest.NotShort(t, "it takes a second")
	f := newFront(t, nil, replayed, withExchanges)
	doc := describe(t, f)
	doc.Servers = openapi3.Servers{{URL: f.URL}}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	errors := 0
	for _, row := range conformance(t) {
		for i, c := range row.Calls {
			target := "/api/" + row.Endpoint + "?" + c.Query
			a := f.get(target, [][]string{{}, {"Accept-Language", "zh-CN"}, {"Accept", "image/png"}, {"Accept-Encoding", "gzip"}}[i%4]...)
			if a.StatusCode >= http.StatusBadRequest {
				errors++
			}
			route, params, err := router.FindRoute(a.Request)
			if err != nil {
				t.Errorf("%s: %v", target, err)
				continue
			}
			in := &openapi3filter.RequestValidationInput{Request: a.Request, PathParams: params, Route: route}
			lowerListed(a.Request, route.Operation)
			asked := openapi3filter.ValidateRequest(t.Context(), in)
			if a.StatusCode < 400 && asked != nil && !strings.Contains(c.Query, "=&") && !strings.HasSuffix(c.Query, "=") && !nested(c.Query) {
				t.Errorf("%s is answered, but not described: %v", target, asked)
			}
			out := &openapi3filter.ResponseValidationInput{
				RequestValidationInput: in, Status: a.StatusCode, Header: a.Header,
				Options: &openapi3filter.Options{IncludeResponseStatus: true, ExcludeResponseBody: !strings.HasPrefix(a.Header.Get("Content-Type"), "application/json")},
			}
			out.SetBodyBytes([]byte(a.body))
			if err := openapi3filter.ValidateResponse(t.Context(), out); err != nil {
				t.Errorf("%s: %v", target, err)
			}
			hasDescribedHeaders(t, route.Operation, a)
		}
	}
	if errors < 20 {
		t.Errorf("only %d of the answers are errors", errors)
	}
}

// hasDescribedHeaders compares the fields of an answer with those that are described.
func hasDescribedHeaders(t *testing.T, op *openapi3.Operation, a answer) {
	t.Helper()
	described := op.Responses.Status(a.StatusCode)
	if described == nil {
		described = op.Responses.Default()
	}
	for name, h := range described.Value.Headers {
		got := a.Header.Get(name)
		if got == "" && h.Value.Required {
			t.Errorf("%s: %d has no %s", a.Request.URL, a.StatusCode, name)
		}
		if s := h.Value.Schema.Value; got != "" && s.VisitJSON(valueOf(s, got)) != nil {
			t.Errorf("%s: %d: %s: %q is not as described", a.Request.URL, a.StatusCode, name, got)
		}
	}
	for name := range a.Header {
		if !slices.Contains(undescribed(), name) && !slices.ContainsFunc(slices.Collect(maps.Keys(described.Value.Headers)), func(d string) bool { return strings.EqualFold(d, name) }) {
			t.Errorf("%s: %d: %s is not described", a.Request.URL, a.StatusCode, name)
		}
	}
}

// undescribed are the fields that say nothing about the API: those of HTTP, and what browsers obey.
func undescribed() []string {
	return []string{
		"Access-Control-Allow-Origin", "Content-Encoding", "Content-Length", "Content-Security-Policy", "Content-Type", "Date", "Referrer-Policy", "X-Content-Type-Options",
	}
}

// TestOpenAPIDescribesErrors: the fields of each kind of error, told in each way.
func TestOpenAPIDescribesErrors(t *testing.T) {
	source := newFake(t, `{"v":"x"}`)
	source.status.Store(http.StatusInternalServerError)
	f := newFront(t, map[string]string{"simple": saysNo("ttl: 1h", source)}, withExchanges, trusting("127.0.0.0/8"), func(c *Config, _ *upstreams.Environment) {
		c.Limits = Limits{Rate: 0.01, Burst: 12}
	}).withBuiltins("favicon", "ip", "kd", "qrcode")
	doc := describe(t, f)
	asked := 0
	ask := func(endpoint, query string, status int, headers ...string) {
		t.Helper()
		asked++
		a := f.get("/api/"+endpoint+"?"+query, append([]string{"X-Forwarded-For", fmt.Sprintf("192.0.2.%d", asked%200)}, headers...)...)
		a.want(t, status)
		hasDescribedHeaders(t, doc.Paths.Find("/api/"+endpoint).Get, a)
	}
	ways := [][]string{{}, {"Accept-Language", "zh"}, {"Accept", "image/png"}, {"Accept", "image/svg+xml", "Accept-Language", "zh"}}
	for _, way := range ways {
		for _, lang := range []string{"", "&lang=zh", "&lang=en&type=text", "&type=text"} {
			ask("ip", "ip=nope"+lang, http.StatusBadRequest, way...)
			ask("kd", "a=b"+lang, http.StatusBadRequest, way...)
			ask("favicon", "url=http://127.0.0.1/"+lang, http.StatusForbidden, way...)
			ask("simple", "id=7"+lang, http.StatusBadGateway, way...)
		}
		ask("ip", "ip=nope&callback=f", http.StatusOK, way...)
		ask("ip", "ip=nope&callback=f&lang=zh", http.StatusOK, way...)
	}
	source.status.Store(http.StatusNotFound)
	for _, way := range ways {
		ask("simple", "id=8", http.StatusNotFound, way...)
		ask("simple", "id=8&lang=zh", http.StatusNotFound, way...)
	}
	for range 12 {
		f.get("/api/qrcode?text=a", "X-Forwarded-For", "192.0.2.250").want(t, http.StatusOK)
	}
	for _, way := range ways {
		ask("qrcode", "text=a", http.StatusTooManyRequests, append([]string{"X-Forwarded-For", "192.0.2.250"}, way...)...)
	}
}

// TestOpenAPISaysInWhichLanguage errors are, and on what that depends.
func TestOpenAPISaysInWhichLanguage(t *testing.T) {
	t.Parallel()
	doc := describe(t, newFront(t, nil, replayed, withExchanges))
	for name, r := range doc.Components.Responses {
		language, vary := r.Value.Headers["Content-Language"], r.Value.Headers["Vary"]
		if isError := r.Value.Headers["Sundry-Error"] != nil; isError != (language != nil && language.Value.Required) || isError && vary == nil {
			t.Errorf("%s: an error is %v, Content-Language %+v, Vary %+v", name, isError, language, vary)
		}
	}
}

// lowerListed writes the listed values of a query as the document has them: that any
// case will do is described in words, since JSON Schema has none for it.
func lowerListed(r *http.Request, op *openapi3.Operation) {
	query := r.URL.Query()
	for _, p := range op.Parameters {
		for _, listed := range p.Value.Schema.Value.Enum {
			if v, _ := listed.(string); strings.EqualFold(v, query.Get(p.Value.Name)) {
				query.Set(p.Value.Name, v)
			}
		}
	}
	r.URL.RawQuery = query.Encode()
}

// nested reports whether a query holds a link with an unescaped query of its own,
// which no document can describe.
func nested(query string) bool { return strings.Contains(query, "://") && strings.Contains(query, "?") }

// TestOpenAPIDescribesLimits: the headers of answers with few or no requests
// remaining are described.
func TestOpenAPIDescribesLimits(t *testing.T) {
	f := newFront(t, nil, replayed, withExchanges, func(c *Config, _ *upstreams.Environment) { c.Limits = Limits{Rate: 0.01, Burst: 2} })
	doc := describe(t, f) // pages are not limited
	get := doc.Paths.Find("/api/qrcode").Get
	for status, must := range map[int]bool{http.StatusOK: false, http.StatusBadRequest: false, http.StatusTooManyRequests: true} {
		headers := get.Responses.Status(status).Value.Headers
		for _, name := range []string{"RateLimit", "RateLimit-Policy"} {
			if h := headers[name]; h == nil || h.Value.Required != must {
				t.Errorf("%d: %s: %+v, want it to be described, required: %v", status, name, h, must)
			}
		}
	}
	for status, must := range map[int]bool{http.StatusTooManyRequests: true, http.StatusServiceUnavailable: true, http.StatusBadGateway: false} {
		if h := doc.Paths.Find("/api/ip").Get.Responses.Status(status).Value.Headers["Retry-After"]; h == nil || h.Value.Required != must {
			t.Errorf("%d: Retry-After: %+v, want it to be described, required: %v", status, h, must)
		}
	}
	for _, status := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		a := f.get("/api/qrcode/index.php?text=hello")
		a.want(t, status)
		var names []string
		for name, h := range get.Responses.Status(status).Value.Headers {
			names = append(names, http.CanonicalHeaderKey(name))
			got := a.Header.Get(name)
			if got == "" && h.Value.Required {
				t.Errorf("%d has no %s", status, name)
			}
			if s := h.Value.Schema.Value; got != "" && s.VisitJSON(valueOf(s, got)) != nil {
				t.Errorf("%d: %s: %q is not as described", status, name, got)
			}
		}
		for _, name := range []string{"Ratelimit", "Ratelimit-Policy", "Retry-After"} {
			if a.Header.Get(name) != "" && !slices.Contains(names, name) {
				t.Errorf("%d: %s is not described", status, name)
			}
		}
	}
}

// valueOf converts a header's value to the type in its schema.
func valueOf(s *openapi3.Schema, text string) any {
	if n, err := strconv.ParseFloat(text, 64); err == nil && s.Type.Is("integer") {
		return n
	}
	return text
}

// TestOpenAPIWithoutRecordings: every endpoint is still described.
func TestOpenAPIWithoutRecordings(t *testing.T) {
	f := newFront(t, nil, replayed)
	a := f.get("/openapi.json")
	a.want(t, http.StatusOK, `"openapi":"3.1.0"`, "/api/60s")
	if !json.Valid([]byte(a.body)) {
		t.Error("not JSON")
	}
	head := f.do(t.Context(), http.MethodHead, "/openapi.json")
	if head.body != "" || head.ContentLength != int64(len(a.body)) {
		t.Errorf("HEAD: %d bytes, want %d", head.ContentLength, len(a.body))
	}
}
