package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache"
	"sundry/proxy/live"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
)

// System is what the API shows and changes.
type System struct {
	// Catalog in force.
	Catalog func() *catalog.Catalog
	// Spaces of an endpoint: its answers', then those of its parts.
	Spaces     func(endpoint string) []*cache.Space
	Env        *upstreams.Environment
	Replicator *live.Replicator
	// Reload loads configuration and catalog anew.
	Reload func() (Reloaded, error)
	// Metrics of this instance.
	Metrics prometheus.Gatherer
	// About this instance: version, listeners, and the like.
	About map[string]any
	// Lasting tells whether settings survive a restart.
	Lasting bool
	Log     *slog.Logger
}

// Reloaded is what a reload came to, a line for each thing that is different.
type Reloaded struct {
	// Changed is in force now.
	Changed []string `json:"changed"`
	// NeedRestart was changed, and will be in force after a restart only.
	NeedRestart []string `json:"needs_restart"`
}

// maxBody bounds what is sent here with a request.
const maxBody = 64 << 10

// api serves /admin/api/.
type api struct {
	System
	started time.Time
}

// routes lists every call there is.
func (a *api) routes(mux *http.ServeMux) {
	for pattern, h := range map[string]func(*http.Request) (any, error){
		"GET /admin/api/overview":                  a.overview,
		"GET /admin/api/upstreams":                 a.upstreams,
		"POST /admin/api/upstreams/{host}":         a.changeBreaker,
		"GET /admin/api/endpoints":                 a.endpoints,
		"PUT /admin/api/endpoints/{name}/cache":    a.changeKnobs,
		"DELETE /admin/api/endpoints/{name}/cache": a.resetKnobs,
		"GET /admin/api/endpoints/{name}/entries":  a.entries,
		"GET /admin/api/endpoints/{name}/entry":    a.entry,
		"POST /admin/api/purge":                    a.purge,
		"GET /admin/api/failures":                  a.failures,
		"POST /admin/api/failures/{id}/retry":      a.retry,
		"GET /admin/api/audit":                     a.audit,
		"POST /admin/api/audit/{seq}/undo":         a.undo,
		"POST /admin/api/reload":                   a.reload,
	} {
		mux.Handle(pattern, a.answer(h))
	}
}

// refusal is a mistake of the operator's, with its status.
type refusal struct {
	status int
	err    error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

func bad(format string, args ...any) error {
	return &refusal{http.StatusBadRequest, fmt.Errorf(format, args...)}
}

func absent(what, name string) error {
	return &refusal{http.StatusNotFound, fmt.Errorf("there is no %s %q", what, name)}
}

// answer turns what a call returns into JSON.
func (a *api) answer(h func(*http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := h(r)
		status := http.StatusOK
		if s, ok := v.(interface{ status() int }); ok {
			status = s.status()
		}
		if err != nil {
			status = statusOf(err)
			v = map[string]any{"error": err.Error()}
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			a.Log.Debug("admin answer", "error", err)
		}
	})
}

func statusOf(err error) int {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.status
	}
	switch {
	case errors.Is(err, live.ErrNotStored), errors.Is(err, live.ErrUnconfirmed):
		return http.StatusServiceUnavailable
	case errors.Is(err, live.ErrInvalid):
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

// read decodes a call's body strictly.
func read(r *http.Request, into any) error {
	if typ := r.Header.Get("Content-Type"); !strings.HasPrefix(typ, "application/json") {
		return &refusal{http.StatusUnsupportedMediaType, errors.New("want Content-Type: application/json")}
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return &refusal{http.StatusRequestEntityTooLarge, fmt.Errorf("body: more than %d bytes", large.Limit)}
		}
		return bad("body: %w", err)
	}
	return nil
}

// who made a call, as far as it can be told.
func who(r *http.Request) string {
	if name, _, ok := r.BasicAuth(); ok && name != "" {
		return fmt.Sprintf("%.40q from %s", name, r.RemoteAddr)
	}
	return r.RemoteAddr
}

// span reads an optional duration.
func span(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := declare.ParseDuration(s)
	if err != nil || d < time.Second {
		return 0, bad("for: %q: want a span such as 10m or 2h", s)
	}
	return d, nil
}

func (a *api) overview(*http.Request) (any, error) {
	v := map[string]any{"uptime_s": int(time.Since(a.started).Seconds()), "lasting": a.Lasting, "knobs": catalog.Knobs()}
	maps.Copy(v, a.About)
	v["requests"] = a.totals()
	v["breakers_open"], v["pending"] = a.open(), a.Replicator.Pending()
	return v, nil
}

func (a *api) reload(r *http.Request) (any, error) {
	done, err := a.Reload()
	if err != nil {
		return nil, bad("the set before it stays: %w", err)
	}
	a.Log.Info("reloaded by an operator", "by", who(r))
	return map[string]any{"reloaded": true, "changed": orNone(done.Changed), "needs_restart": orNone(done.NeedRestart)}, nil
}

// orNone makes an empty list of none.
func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
