package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache"
	"sundry/cache/clients"
	"sundry/cache/web"
	"sundry/metrics/panics"
	"sundry/metrics/words"
	"sundry/proxy/express"
	"sundry/proxy/mcp"
	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
	"sundry/proxy/site/pages"
	"sundry/proxy/site/status"
	"sundry/proxy/uri"
	"sundry/upstreams/catalog"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/loop"
)

// Config of a Server.
type Config struct {
	Cache *cache.Cache
	// Store keeps what APIs answer that are served as they are; nil: the catalog has none. Dial connects to their origins, and
	// Calls is who is told of the requests to one (see through.Target).
	Store *web.Store
	Dial  func(ctx context.Context, network, address string) (net.Conn, error)
	Calls func(api, host string) func(err error, took time.Duration)
	// Transfers limits the requests at the origins of APIs (see through.Settings); nil means no limit.
	Transfers *clients.Limit
	// Unsent limits the memory of responses that clients let wait; nil means no limit.
	Unsent *express.Unsent
	// Ended is called when a connection is closed that a handler has taken over from net/http; nil means that nobody counts it.
	Ended func(net.Conn)
	// Replay: responses are recorded samples, which pages say.
	Replay bool
	// Languages chooses the language of pages, messages and labels.
	Languages i18n.Rule
	// BasePath mounts everything below a prefix such as /tools; "" for none.
	BasePath string
	// Settings are in force until the first Reload.
	Settings
	Log *slog.Logger
	// Panics catches those of requests, and of what runs beside them.
	Panics *panics.Catcher
	// Recorded returns the recorded exchanges that show what answers of a catalog look like;
	// nil for none. It is called when a page that shows them is first requested.
	Recorded   func(*catalog.Catalog) []*fixtures.Case
	Registerer prometheus.Registerer
	// Version of the program, for the OpenAPI document; "" where it is not known.
	Version string
	// Status is where the record of the status is kept; nil: in memory.
	Status status.Store
}

// Server is the handler of the public listener. It has no endpoints before the first
// Reload.
type Server struct {
	cfg       Config
	current   atomic.Pointer[generation]
	metrics   *serverMetrics
	unrouted  *endpointMetrics
	preset    *presetHeaders
	pictures  *errorPictures
	admission admission
	history   *status.History
	keeper    *status.Keeper // of the record of the status
	status    statusBoard
	ready     atomic.Bool
	draining  atomic.Bool // every answer is the last of its connection
	hitCount  atomic.Uint64
	marks     marks
	messages  *mcp.Places

	refusals [outcomes]sampler
	requests sync.Pool // of *request
}

// generation is what a catalog and the settings compile to. A reload replaces it as a
// whole.
type generation struct {
	catalog *catalog.Catalog
	routes  map[string]*route
	paths   map[string]*route // the same by the whole path of a request
	// The APIs that are served as they are, by name, and by the Host names that are theirs; everywhere is that whose
	// are all others, nil: none.
	apis       map[string]*apiRoute
	hosts      map[string]*apiRoute
	everywhere *apiRoute
	settings   *activeSettings
	pages      *pages.Set // nil before there is a catalog
	tools      *mcp.Set   // of agents; nil: they are not offered any
}

// route is one endpoint with its part of the cache.
type route struct {
	endpoint          *catalog.Endpoint
	space             *cache.Space
	pictures          *cache.Space // of forms that answer with the picture behind a link; else nil
	metrics           *endpointMetrics
	disconnectTimeout time.Duration
	load              *endpointLoad
	settings          *activeSettings
	parses            *endpointParses // nil: nothing is remembered
}

// New returns a server without endpoints.
func New(cfg Config) (*Server, error) {
	if err := CheckBasePath(cfg.BasePath); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, preset: newPresetHeaders(), pictures: newErrorPictures(), messages: mcp.NewPlaces(maxMessages)}
	s.MarkWith(RandomSecret())
	s.requests.New = func() any { return &request{} }
	s.keeper = status.NewKeeper(cfg.Status, cfg.Log)
	s.history, s.status.every = status.NewHistory(durationBuckets(), s.totals, s.keeper), statusEvery
	s.use(&generation{settings: newActiveSettings(cfg.Settings, nil)})
	s.metrics = newMetrics(cfg.Registerer, s)
	s.unrouted = s.metrics.endpoint(unrouted)
	if cfg.Cache != nil {
		cfg.Cache.OnFill(s.logFill)
	}
	return s, nil
}

// basePath matches paths that need no escaping in a URL.
var basePath = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$`)

// CheckBasePath accepts "" and paths such as /tools.
func CheckBasePath(path string) error {
	if path != "" && !basePath.MatchString(path) {
		return fmt.Errorf("base_path: %q: expected a path such as /tools, without a trailing slash", path)
	}
	return nil
}

// Reload replaces the catalog and the settings together.
func (s *Server) Reload(c *catalog.Catalog, settings Settings) error {
	next := &generation{catalog: c, routes: make(map[string]*route, len(c.Endpoints)), paths: map[string]*route{},
		apis: map[string]*apiRoute{}, hosts: map[string]*apiRoute{},
		settings: newActiveSettings(settings, s.current.Load().settings)}
	before, parses := s.current.Load().routes, newParseCache()
	for i, e := range c.Endpoints {
		rt := s.newRoute(e, next.settings)
		rt.parses = parses.of(e, i)
		if old := before[e.Name]; old != nil {
			rt.load = old.load // requests that wait there are still counted
		}
		next.routes[e.Name] = rt
		for _, end := range []string{"", "/", "/index.php"} {
			next.paths[s.cfg.BasePath+"/api/"+e.Name+end] = rt
		}
	}
	s.addAPIs(next, s.current.Load())
	tools := ""
	if settings.MCP != nil {
		tools = mcp.Path
	}
	api := apidoc.New(c, s.cfg.Recorded)
	var err error
	next.pages, err = pages.New(pages.Config{
		API: api, BasePath: s.cfg.BasePath, PublicURL: settings.PublicURL, Version: s.cfg.Version, Contact: settings.Contact, Tools: tools, Replay: s.cfg.Replay,
		Rate: settings.Limits.Rate, Burst: next.settings.limiter.mostAtOnce(),
		Errors: errorExamples, Status: s.Status,
	})
	if err != nil {
		return fmt.Errorf("home page: %w", err)
	}
	next.tools = s.newTools(api, settings)
	replaced := s.current.Load()
	s.use(next)
	closeAPIs(replaced, next)
	s.watchAPIs(replaced, next)
	s.forgetAPIs(replaced, next)
	s.history.Observe(time.Now()) // from now on new endpoints are counted
	return nil
}

// use puts a generation into force.
func (s *Server) use(next *generation) {
	s.admission.setLimits(next.settings.Limits)
	s.current.Store(next)
}

func (s *Server) newRoute(e *catalog.Endpoint, settings *activeSettings) *route {
	rt := &route{endpoint: e, space: s.cfg.Cache.Space(e.Name, e.Policy), metrics: s.metrics.endpoint(e.Name), disconnectTimeout: disconnectTimeout, load: &endpointLoad{}, settings: settings}
	for _, f := range e.Forms {
		if f.PictureProxy != nil {
			rt.pictures = s.cfg.Cache.Space(e.Pictures(), f.PictureProxy.Policy)
		}
	}
	return rt
}

// Catalog returns the catalog in use; nil before the first Reload.
func (s *Server) Catalog() *catalog.Catalog { return s.current.Load().catalog }

// ServeHTTP implements http.Handler. It is the routing table.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.draining.Load() || ambiguousFraming(r) {
		w.Header()["Connection"] = s.preset.close
	}
	if len(r.Header) > express.MaxFields {
		s.refuse(w, r, http.StatusRequestHeaderFieldsTooLarge, express.ErrFields.Words())
		return
	}
	if err := uri.CheckHost(r); err != nil {
		s.refuse(w, r, http.StatusBadRequest, words.Of(err, words.Text{}))
		return
	}
	if through := r.Header[loop.Header]; through != nil && s.refuseLoop(w, r, through) {
		return
	}
	s.warnOfProxy(r)
	r = uri.Clean(r)
	path, inside := strings.CutPrefix(r.URL.Path, s.cfg.BasePath)
	if rt := s.current.Load().apiAt(r.Host, path, inside); rt != nil {
		s.serveThrough(w, r, rt)
		return
	}
	if uri.MayLeadUp(r.URL.EscapedPath()) {
		s.refuse(w, r, http.StatusBadRequest, uri.ErrPath.Words())
		return
	}
	if name, ok := strings.CutPrefix(path, "/api/"); ok && inside {
		s.serveEndpoint(w, r, endpointOf(name))
		return
	}
	if tools := s.current.Load().tools; tools != nil && inside && path == mcp.Path {
		s.serveMessage(w, r, tools)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		s.serveEndpoint(w, r, "") // answers 405
		return
	}
	if path == "" && s.cfg.BasePath != "" {
		path = pages.HomePath
	}
	switch place := s.pageAt(path); {
	case inside && place.Kind != pages.Absent:
		s.servePage(w, r, place)
	case inside && targetOf(path) != "":
		s.serveTarget(w, r, targetOf(path))
	case inside && strings.TrimPrefix(path, ownPrefix) == healthPath:
		s.probe(w, r, true)
	case inside && strings.TrimPrefix(path, ownPrefix) == readyPath:
		s.probe(w, r, s.ready.Load())
	default:
		s.serveEndpoint(w, r, "")
	}
}

// refuse answers a malformed request.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, message words.Text) {
	req := &request{w: w, r: r, id: requestIDOf(r.Header["X-Request-Id"]), start: time.Now()}
	defer s.finish(req)
	f := &failure{status: status, errorType: typeInvalid, message: message}
	s.fail(req, f.outcome(), f)
}

// ambiguousFraming reports whether a proxy in front may see another end of this
// request than net/http does: a chunked body, because net/http does not tell
// whether there was a Content-Length too, or a body in HTTP/1.0. No caller needs
// either. The connection is closed after the answer (RFC 9112, 6.1), so that
// what the proxy took for the body is not read as another request.
func ambiguousFraming(r *http.Request) bool {
	return len(r.TransferEncoding) > 0 || r.ContentLength != 0 && r.ProtoMajor == 1 && r.ProtoMinor == 0
}

// endpointOf returns the name in <name>, <name>/ and <name>/index.php; "" for
// any other path.
func endpointOf(rest string) string {
	name, tail, _ := strings.Cut(rest, "/")
	if tail != "" && tail != "index.php" {
		return ""
	}
	return name
}
