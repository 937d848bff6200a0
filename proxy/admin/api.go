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
	"sundry/upstreams/plainjson"
)

// System is what the API shows and changes.
type System struct {
	// Catalog returns the catalog in force.
	Catalog func() *catalog.Catalog
	// Spaces returns the cache spaces of an endpoint: that of its answers, then those
	// of its parts.
	Spaces     func(endpoint string) []*cache.Space
	Env        *upstreams.Environment
	Replicator *live.Replicator
	// Reload reads configuration and catalog again.
	Reload func() (Reloaded, error)
	// Metrics of this instance.
	Metrics prometheus.Gatherer
	// About this instance: version, listeners, and the like.
	About map[string]any
	// Persistent means that settings survive a restart.
	Persistent bool
	Log        *slog.Logger
}

// Reloaded is what a reload changed, a line for each difference.
type Reloaded struct {
	// Changed is in force now.
	Changed []string `json:"changed"`
	// NeedRestart was changed, and will be in force after a restart.
	NeedRestart []string `json:"needs_restart"`
}

// maxBody bounds the body of a request.
const maxBody = 64 << 10

// api serves /admin/api/.
type api struct {
	System
	started time.Time
}

// routes of the API.
func (a *api) routes(mux *http.ServeMux) {
	for pattern, h := range map[string]func(*http.Request) (any, error){
		"GET /admin/api/overview":                  a.overview,
		"GET /admin/api/upstreams":                 a.upstreams,
		"POST /admin/api/upstreams/{host}":         a.changeBreaker,
		"GET /admin/api/endpoints":                 a.endpoints,
		"PUT /admin/api/endpoints/{name}/cache":    a.changeCache,
		"DELETE /admin/api/endpoints/{name}/cache": a.resetCache,
		"GET /admin/api/endpoints/{name}/entries":  a.entries,
		"GET /admin/api/endpoints/{name}/entry":    a.entry,
		"POST /admin/api/purge":                    a.purge,
		"GET /admin/api/failures":                  a.failures,
		"POST /admin/api/failures/{id}/retry":      a.retry,
		"GET /admin/api/audit":                     a.audit,
		"POST /admin/api/audit/{seq}/undo":         a.undo,
		"POST /admin/api/reload":                   a.reload,
	} {
		mux.Handle(pattern, a.serveJSON(h))
	}
}

// requestError is a mistake in a request, with the status of its answer.
type requestError struct {
	status int
	err    error
}

func (r *requestError) Error() string { return r.err.Error() }
func (r *requestError) Unwrap() error { return r.err }

func badRequest(format string, args ...any) error {
	return &requestError{http.StatusBadRequest, fmt.Errorf(format, args...)}
}

func notFound(what, name string) error {
	return &requestError{http.StatusNotFound, fmt.Errorf("%s %q not found", what, name)}
}

// serveJSON answers with what h returns, or with its error.
func (a *api) serveJSON(h func(*http.Request) (any, error)) http.Handler {
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
		if err := plainjson.NewEncoder(w).Encode(v); err != nil {
			a.Log.Debug("admin answer", "error", err)
		}
	})
}

func statusOf(err error) int {
	if r, ok := errors.AsType[*requestError](err); ok {
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

// decodeBody reads a JSON body; unknown fields are errors.
func decodeBody(r *http.Request, into any) error {
	if typ := r.Header.Get("Content-Type"); !strings.HasPrefix(typ, "application/json") {
		return &requestError{http.StatusUnsupportedMediaType, errors.New("expected Content-Type: application/json")}
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return &requestError{http.StatusRequestEntityTooLarge, fmt.Errorf("body: larger than %d bytes", large.Limit)}
		}
		return badRequest("body: %w", err)
	}
	return nil
}

// caller returns who made a request, for the audit log: its address, and the user
// name if one was sent.
func caller(r *http.Request) string {
	if name, _, ok := r.BasicAuth(); ok && name != "" {
		return fmt.Sprintf("%.40q from %s", name, r.RemoteAddr)
	}
	return r.RemoteAddr
}

// parseFor reads how long a change lasts; 0 when it is not limited.
func parseFor(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := declare.ParseDuration(s)
	if err != nil || d < time.Second {
		return 0, badRequest("for: %q: expected a duration of at least 1s, such as 10m or 2h", s)
	}
	return d, nil
}

func (a *api) overview(*http.Request) (any, error) {
	v := map[string]any{"uptime_s": int(time.Since(a.started).Seconds()), "lasting": a.Persistent, "knobs": catalog.SettingNames()}
	maps.Copy(v, a.About)
	v["requests"] = a.totals()
	v["breakers_open"], v["pending"] = a.openBreakers(), a.Replicator.Pending()
	return v, nil
}

func (a *api) reload(r *http.Request) (any, error) {
	done, err := a.Reload()
	if err != nil {
		return nil, badRequest("nothing was changed: %w", err)
	}
	a.Log.Info("reloaded by an operator", "by", caller(r))
	return map[string]any{"reloaded": true, "changed": orEmpty(done.Changed), "needs_restart": orEmpty(done.NeedRestart)}, nil
}

// orEmpty makes nil an empty list, so that JSON has [] and not null.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
