package proxy

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache"
	"sundry/proxy/pages"
	"sundry/upstreams/catalog"
	"sundry/upstreams/loop"
	"sundry/upstreams/recorded"
)

// Config of a Server.
type Config struct {
	Cache *cache.Cache
	// BasePath mounts everything below a prefix such as /tools; "" for none.
	BasePath string
	// Trusted are the proxies whose word on the caller's address counts.
	Trusted []netip.Prefix
	Limits  Limits
	Log     *slog.Logger
	// Recorded are the exchanges that show what answers look like; nil for
	// none. It is asked when somebody wants the description of the API.
	Recorded func() ([]*recorded.Case, error)
	// HitSample logs one of so many hits; 0 means 100, 1 all of them.
	HitSample uint64
	// RefusalSample logs one of so many requests that are refused (400, 403, 405,
	// 429, 503, and 404 of what there is not), beside the first of each second for
	// each outcome; 0 means 100, 1 all of them.
	RefusalSample uint64
	Registerer    prometheus.Registerer
}

// Server is the public front. Swap gives it its endpoints.
type Server struct {
	cfg       Config
	current   atomic.Pointer[snapshot]
	metrics   *metrics
	unrouted  *endpointMetrics
	preset    *presetHeaders
	admission admission
	ready     atomic.Bool
	draining  atomic.Bool // the answer on every connection is its last
	hitCount  atomic.Uint64

	refusals [outcomes]sampler
}

// snapshot is what a catalog compiles to: it is swapped whole.
type snapshot struct {
	catalog  *catalog.Catalog
	routes   map[string]*route
	settings *activeSettings
	pages    *pages.Set // nil before there is a catalog
}

// route is one endpoint with its part of the cache.
type route struct {
	endpoint          *catalog.Endpoint
	space             *cache.Space
	pictures          *cache.Space // of forms that bring what they lead to; else nil
	metrics           *endpointMetrics
	disconnectTimeout time.Duration // with callers who may have left
	load              *endpointLoad
	settings          *activeSettings
}

// New makes a front without endpoints.
func New(cfg Config) (*Server, error) {
	if err := CheckBasePath(cfg.BasePath); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, preset: newPresetHeaders()}
	s.use(&snapshot{settings: newActiveSettings(Settings{Trusted: cfg.Trusted, Limits: cfg.Limits, HitSample: cfg.HitSample, RefusalSample: cfg.RefusalSample}, nil)})
	var err error
	s.metrics, err = newMetrics(cfg.Registerer, s)
	if err != nil {
		return nil, fmt.Errorf("proxy: metrics: %w", err)
	}
	s.unrouted = s.metrics.endpoint(unrouted)
	return s, nil
}

// basePath are paths that stand in a URL as they are.
var basePath = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$`)

// CheckBasePath accepts "" and paths such as /tools.
func CheckBasePath(path string) error {
	if path != "" && !basePath.MatchString(path) {
		return fmt.Errorf("base_path: %q: want a path such as /tools, without a slash at its end", path)
	}
	return nil
}

// Swap puts a compiled catalog in the place of the one before. Requests under
// way keep the one they began with; what is cached stays.
func (s *Server) Swap(c *catalog.Catalog) error {
	return s.Reload(c, s.current.Load().settings.Settings)
}

// Reload is Swap with settings, which come into force with the catalog.
func (s *Server) Reload(c *catalog.Catalog, settings Settings) error {
	next := &snapshot{catalog: c, routes: make(map[string]*route, len(c.Endpoints)), settings: newActiveSettings(settings, s.current.Load().settings)}
	before := s.current.Load().routes
	for _, e := range c.Endpoints {
		rt := s.newRoute(e, next.settings)
		if old := before[e.Name]; old != nil {
			rt.load = old.load // who waits there goes on to
		}
		next.routes[e.Name] = rt
	}
	var err error
	next.pages, err = pages.New(pages.Config{Catalog: c, BasePath: s.cfg.BasePath, Recorded: s.cfg.Recorded, ErrorTypes: errorTypes()})
	if err != nil {
		return fmt.Errorf("home page: %w", err)
	}
	s.use(next)
	return nil
}

func (s *Server) use(next *snapshot) {
	s.admission.use(next.settings.Limits)
	s.current.Store(next)
}

func (s *Server) newRoute(e *catalog.Endpoint, r *activeSettings) *route {
	rt := &route{endpoint: e, space: s.cfg.Cache.Space(e.Name, e.Policy), metrics: s.metrics.endpoint(e.Name), disconnectTimeout: disconnectTimeout, load: &endpointLoad{}, settings: r}
	for _, f := range e.Forms {
		if f.Through != nil {
			rt.pictures = s.cfg.Cache.Space(e.Pictures(), f.Through.Policy)
		}
	}
	return rt
}

// Catalog in force; nil before the first Swap.
func (s *Server) Catalog() *catalog.Catalog { return s.current.Load().catalog }

// ServeHTTP implements http.Handler. Every path there is stands here.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.draining.Load() || ambiguousFraming(r) {
		w.Header()["Connection"] = s.preset.close
	}
	if through := r.Header[loop.Header]; through != nil && s.refuseLoop(w, r, through) {
		return
	}
	path, inside := strings.CutPrefix(r.URL.Path, s.cfg.BasePath)
	if name, ok := strings.CutPrefix(path, "/api/"); ok && inside {
		s.serveAPI(w, r, endpointOf(name))
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		s.serveAPI(w, r, "") // which refuses
		return
	}
	if path == "" && s.cfg.BasePath != "" {
		path = pages.HomePath
	}
	switch {
	case inside && pages.Has(path):
		s.page(w, r, path)
	case inside && path == "/healthz":
		s.probe(w, r, true)
	case inside && path == "/readyz":
		s.probe(w, r, s.ready.Load())
	default:
		s.serveAPI(w, r, "")
	}
}

// ambiguousFraming tells a request whose end another reader may have seen elsewhere: in
// chunks, because net/http keeps silent about a length beside them, or with a
// body in a version that knew no chunks. No caller needs either. Its connection
// ends with the answer (RFC 9112, 6.1), or what a proxy in front took for its
// body would be the next request.
func ambiguousFraming(r *http.Request) bool {
	return len(r.TransferEncoding) > 0 || r.ContentLength != 0 && r.ProtoMajor == 1 && r.ProtoMinor == 0
}

// endpointOf takes the name out of <name>, <name>/ and <name>/index.php; ""
// for any other path.
func endpointOf(rest string) string {
	name, tail, _ := strings.Cut(rest, "/")
	if tail != "" && tail != "index.php" {
		return ""
	}
	return name
}
