package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"mime"
	"net/http"
	"time"

	"sundry/cache"
	"sundry/cache/advise"
	"sundry/cache/web"
	"sundry/metrics/words"
	"sundry/proxy/autopilot"
	"sundry/proxy/live"
	"sundry/proxy/site/status"
	"sundry/proxy/through"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
	"sundry/upstreams/lib/plainjson"
	"sundry/upstreams/lib/redact"
)

// System is what the API shows and changes.
type System struct {
	// Catalog returns the catalog in force.
	Catalog func() *catalog.Catalog
	// Spaces returns the cache spaces of an endpoint: that of its answers, then those
	// of its parts.
	Spaces func(endpoint string) []*cache.Space
	// Store keeps what APIs answer that are served as they are, and Resolve finds the API of a request and its path there.
	Store   *web.Store
	Resolve func(r *http.Request) (api, path string, ok bool)
	// Foresee says what would become of a GET for an API; false: there is none of that name.
	Foresee func(api string, r *http.Request) (through.Foreseen, bool)
	// Unstored returns the line on an API none of whose first responses could be stored; zero means that there is nothing to say.
	Unstored func(api string) words.Text
	Env      *upstreams.Environment
	// Advise advises on the TTL of an endpoint, and on further ones; the zero target is that of
	// the endpoint.
	Advise func(e *catalog.Endpoint, ttls []time.Duration, target advise.Target) advise.Report
	// Autopilot says what the autopilot does about an endpoint.
	Autopilot  func(endpoint string) autopilot.Status
	Replicator *live.Replicator
	// History returns how the requests of the last day have ended.
	History func() status.View
	// Status is what the public is told.
	Status func() *status.Report
	// Reload reads configuration and catalog again.
	Reload func() (Reloaded, error)
	// ReloadFailure says why reloads fail; nil: the last one succeeded.
	ReloadFailure func() *ReloadFailure
	// About this instance: version, listeners, and the like.
	About map[string]any
	// Persistent reports whether settings outlive a restart, also of Redis.
	Persistent func(context.Context) bool
	// Declaration returns the YAML file that an endpoint was compiled from.
	Declaration func(endpoint string) (yaml []byte, ok bool)
	// Grafana returns the address of the Grafana that has the dashboards, without a slash at the
	// end; "" for none. nil is as "".
	Grafana func() string
	// Public is the handler of the public listener, and PublicPath what its paths begin
	// with: requests that operators try go through them.
	Public     http.Handler
	PublicPath string
	Log        *slog.Logger
}

// Reloaded is what a reload changed, a line for each difference.
type Reloaded struct {
	// Changed is in force now.
	Changed []string `json:"changed"`
	// NeedRestart was changed, and will be in force after a restart.
	NeedRestart []string `json:"needs_restart"`
}

// ReloadFailure is of reloads that failed, of which none has succeeded since.
type ReloadFailure struct {
	// Since is when the first of them failed.
	Since time.Time
	// Mistakes are those that the last of them found, each in a line.
	Mistakes words.Text
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
		"GET /admin/api/history":                   a.history,
		"GET /admin/api/upstreams":                 a.upstreams,
		"POST /admin/api/upstreams/{host}":         a.changeBreaker,
		"GET /admin/api/endpoints":                 a.endpoints,
		"PUT /admin/api/endpoints/{name}/cache":    a.changeCache,
		"DELETE /admin/api/endpoints/{name}/cache": a.resetCache,
		"GET /admin/api/endpoints/{name}/entries":  a.entries,
		"GET /admin/api/endpoints/{name}/entry":    a.entry,
		"GET /admin/api/endpoints/{name}/advice":   a.advice,
		"GET /admin/api/endpoints/{name}/form":     a.tryForm,
		"POST /admin/api/endpoints/{name}/try":     a.try,
		"POST /admin/api/purge":                    a.purge,
		"PURGE /":                                  a.purgeByMethod,
		"GET /":                                    nothing,
		"GET /admin/api/apis":                      a.apis,
		"GET /admin/api/apis/{name}/entries":       a.kept,
		"POST /admin/api/explain":                  a.explain,
		"GET /admin/api/failures":                  a.failures,
		"POST /admin/api/failures/{id}/retry":      a.retry,
		"GET /admin/api/audit":                     a.audit,
		"POST /admin/api/audit/{change}/undo":      a.undo,
		"POST /admin/api/reload":                   a.reload,
	} {
		mux.Handle(pattern, a.serveJSON(h))
	}
	mux.HandleFunc("GET /admin/api/endpoints/{name}/declaration", a.declaration)
}

// nothing answers what no other route does.
func nothing(r *http.Request) (any, error) {
	return nil, refuse(http.StatusNotFound, words.Sayf("there is nothing at %q; expected one of /admin/, /admin/api/, /metrics, /healthz, /readyz, /debug/pprof/",
		"%q处什么都没有；应为 /admin/、/admin/api/、/metrics、/healthz、/readyz 或 /debug/pprof/", r.URL.Path))
}

// serveJSON answers with what h returns, or with its error. The answer may depend on the
// language that its caller prefers, whether it is an error or names one.
func (a *api) serveJSON(h func(*http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := h(r)
		status, in := http.StatusOK, choose(w, r)
		if s, ok := v.(interface{ status() int }); ok {
			status = s.status()
		}
		if err != nil {
			status = statusOf(err)
			v = newErrorView(err, in)
			w.Header().Set("Content-Language", in.Tag())
		}
		if err := writeJSON(w, status, v, a.hidden()); err != nil {
			a.Log.Debug("admin answer", "error", err)
		}
	})
}

// hidden are the secrets that are not shown; nil for none.
func (a *api) hidden() *redact.Set {
	if a.Env == nil {
		return nil
	}
	return a.Env.Hidden
}

// writeJSON answers with a value, without secrets.
func writeJSON(w http.ResponseWriter, status int, v any, hidden *redact.Set) error {
	text, err := plainjson.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, err = w.Write(append(hidden.JSON(text), '\n'))
	return err
}

// decodeBody reads a JSON body; unknown fields are errors.
func decodeBody(r *http.Request, into any) error {
	if typ, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || typ != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, words.Say("expected Content-Type: application/json", "应为 Content-Type: application/json"))
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return refuse(http.StatusRequestEntityTooLarge, words.Sayf("body: larger than %d bytes", "请求正文超过 %d 字节", large.Limit))
		}
		return mistake("", words.Detailed(words.Say("body", "请求正文有误"), err))
	}
	return nil
}

// parseFor reads how long a change lasts; 0 when it is not limited.
func parseFor(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := declare.ParseDuration(s)
	if err != nil || d < time.Second {
		return 0, fieldError("for", "for: %q: expected a duration of at least 1s, such as 10m or 2h", "for：不能是%q，应为至少 1s 的时长，例如 10m 或 2h", s)
	}
	return d, nil
}

func (a *api) overview(r *http.Request) (any, error) {
	v := map[string]any{"uptime_s": int(time.Since(a.started).Seconds()), "lasting": a.Persistent(r.Context()), "cache_settings": catalog.LiveNames()}
	maps.Copy(v, a.About)
	if a.Grafana != nil {
		v["grafana"] = a.Grafana()
	}
	if f := a.ReloadFailure(); f != nil {
		v["reload_failed"] = map[string]any{"since": f.Since, "mistakes": titles(f.Mistakes)}
	}
	v["breakers_open"], v["breakers_half_open"] = a.breakers("open"), a.breakers("half-open")
	v["pending"], v["in_sync"] = a.Replicator.Pending(), a.Replicator.InSync()
	return v, nil
}

func (a *api) reload(r *http.Request) (any, error) {
	by, err := operator(r)
	if err != nil {
		return nil, err
	}
	done, err := a.Reload()
	if err != nil {
		return nil, mistake("", words.Explained(words.Say("nothing was changed", "什么都没有改变"), err))
	}
	a.Log.Info("reloaded by an operator", "by", by, "from", r.RemoteAddr)
	return map[string]any{"reloaded": true, "changed": orEmpty(done.Changed), "needs_restart": orEmpty(done.NeedRestart)}, nil
}

// orEmpty makes nil an empty list, so that JSON has [] and not null.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
