package catalog

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/net/http/httpguts"

	"sundry/cache/web"
	"sundry/metrics/words"
	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/host"
	"sundry/upstreams/lib/guard"
	"sundry/upstreams/lib/redact"
)

// API is a compiled catalog file with proxy: a whole HTTP API, served as it is. It is not changed after Load.
type API struct {
	Name string
	// Title is the name that people read.
	Title  words.Text
	EN, ZH string // "" where the file has no summary
	// Hosts are names, in lower case, whose whole address space is the API's; *.example.org means all names below example.org.
	Hosts []string
	// Everywhere: so is that of every other name.
	Everywhere bool
	Targets    []Target
	// Balance is first, round_robin or least; "" means first.
	Balance string
	Health  Health
	Rules   web.Rules
	Query   web.Query
	// Body is the size in bytes of the largest body that is kept.
	Body int64
	// Upload is the size in bytes of the largest body of a request; 0 means no limit.
	Upload            int64
	Request, Response FieldChanges
	// Connect, Head and Idle are how long a connection may take, an answer to begin, and a body may stand still; Tunnel is how
	// long a connection may be idle after a change of the protocol.
	Connect, Head, Idle, Tunnel time.Duration
	KeepAlive                   bool
	// Compress compresses responses without a content coding.
	Compress bool
	// TLS is for connections to https addresses; nil means the usual settings.
	TLS *tls.Config
	// Files are the files that the API's own file names. If one of them changes, the API has changed.
	Files []string
	// Retry are the statuses after which a GET or HEAD is sent once more.
	Retry []int
	// Via false leaves this service out of the field Via.
	Via bool
	// hidden is what only this service and the API know, also that of former files of the API.
	hidden *redact.Set
	// File it came from.
	File        string
	declaration string // to tell whether it has changed
	variables   []string
}

// Target is an address of an API.
type Target struct {
	URL *url.URL
	// Sent is the Host that the address gets; "" means the Host of each request.
	Sent string
	// Host has the breaker; nil: there is none.
	Host *host.Host
	// Quota bounds the requests to it; nil: nothing does.
	Quota *host.Quota
	// Check holds the results of its health checks; nil means that it is not checked.
	Check *host.Check
}

// Health says how the addresses of an API are checked; an empty Path means that they are not.
type Health struct {
	Path   string
	Every  time.Duration
	Expect []int // statuses; nil means 200 to 399
}

// FieldChanges are changes to the fields of a message. Names are canonical.
type FieldChanges struct {
	Set    http.Header
	Remove []string
}

// Apply makes the changes.
func (c *FieldChanges) Apply(h http.Header) {
	for _, name := range c.Remove {
		delete(h, name)
	}
	maps.Copy(h, c.Set)
}

// What an API has that says nothing else. They are those with which a cache passes the public conformance suite.
const (
	heuristicShare = 0.1
	heuristicMost  = 24 * time.Hour
	largestBody    = 8 << 20
	connectTime    = 3 * time.Second
	headTime       = 30 * time.Second
	idleTime       = time.Minute
	tunnelTime     = 10 * time.Minute
	// originCalls is how many requests to one host of an API wait for the head of their answers at the same time.
	originCalls = 1024
)

// compileAPI decodes and compiles the file of an API.
func (c *Catalog) compileAPI(name string, from *catalogFile, env *upstreams.Environment) (*API, []error) {
	var problems declare.Problems
	var spec apiSpec
	a := &API{Name: name, File: from.path, declaration: string(from.data), Everywhere: from.everywhere}
	if declare.Read(from.data, &spec, &problems) {
		a.compile(&spec, env, &problems, &c.Warnings)
	}
	return a, Mistakes(from.path, problems)
}

func (a *API) compile(s *apiSpec, env *upstreams.Environment, problems *declare.Problems, warnings *[]Mistake) {
	checkNamed(s.Version, s.Name, a.Name, problems)
	a.EN, a.ZH = s.Summary.EN(), s.Summary.ZH()
	a.Title = compileTitle(s.Title, a.Name, s.Summary.Text, s.Name.Line, problems)
	p := &s.Proxy
	a.Balance, a.Health = p.Balance, p.Health.compile(s.Name.Line, problems)
	a.compileTargets(p, s.Name.Line, env, problems)
	a.compileTLS(&p.TLS, s.Name.Line, problems, warnings)
	for _, h := range p.Hosts {
		below, all := strings.CutPrefix(h.Value, allBelow)
		name, err := guard.CheckHost(below)
		if err != nil {
			problems.Add(h.Line, "proxy: hosts: expected a name such as weather.example.org, or *.example.org for all names below example.org, got %q", h.Value)
		}
		if all {
			name = allBelow + name
		}
		a.Hosts = append(a.Hosts, name)
	}
	p.Cache.compile(a, s.Name.Line, problems)
	secrets := a.readSecrets(p.Secrets, env, func(line int, msg string) { *warnings = append(*warnings, Mistake{a.File, line, words.Name(msg)}) })
	a.Request = p.Request.compile("request", secrets, problems)
	a.hide(secrets, &p.Request, env)
	a.Response = p.Response.compile("response", nil, problems)
	a.Rules.Replaced = slices.Concat(a.Request.Remove, slices.Collect(maps.Keys(a.Request.Set)))
	if a.Rules.CredentialsShared {
		*warnings = append(*warnings, Mistake{a.File, s.Name.Line, sharedCredentials()})
	}
	a.Compress, a.Rules.ReduceCodings = p.Compress, p.Compress
	if i := slices.Index(a.Rules.Ignored, "Accept-Encoding"); i >= 0 && a.Compress {
		problems.Add(p.Cache.IgnoreVary[i].Line, "proxy: cache: ignore_vary: with compress: true, clients that do not accept gzip would get it; expected other fields than Accept-Encoding, such as User-Agent")
	}
	a.Rules.Origin = a.origin()
	a.Connect, a.Head = cmp.Or(time.Duration(p.Timeouts.Connect), connectTime), cmp.Or(time.Duration(p.Timeouts.Head), headTime)
	a.Idle, a.Tunnel = cmp.Or(time.Duration(p.Timeouts.Idle), idleTime), cmp.Or(time.Duration(p.Timeouts.Tunnel), tunnelTime)
	a.Retry, a.Upload = statuses(p.Retry, "retry", http.StatusInternalServerError, "[502, 503, 504]", problems), int64(p.Upload.Most)
	a.KeepAlive, a.Via = p.Keepalive == nil || *p.Keepalive, p.Via == nil || *p.Via
}

// statuses reads a list of statuses from least to 599. example is a list of such statuses.
func statuses(list []declare.Text, key string, least int, example string, problems *declare.Problems) (all []int) {
	for _, text := range list {
		status, err := strconv.Atoi(text.Value)
		if err != nil || status < least || status > 599 {
			problems.Add(text.Line, "proxy: %s: expected statuses from %d to 599, for example %s, got %q", key, least, example, text.Value)
		}
		all = append(all, status)
	}
	return all
}

// The default and the minimum of the time between two health checks of an address.
const (
	checkEvery  = 10 * time.Second
	fastestEach = time.Second
)

// compile reads how addresses are checked. line is the line of the API's name.
func (s *healthSpec) compile(line int, problems *declare.Problems) Health {
	if s.Path.Value == "" && s.Every == 0 && s.Expect == nil {
		return Health{}
	}
	h := Health{Path: s.Path.Value, Every: cmp.Or(time.Duration(s.Every), checkEvery), Expect: statuses(s.Expect, "health: expect", http.StatusOK, "[200, 204]", problems)}
	if _, err := url.ParseRequestURI(h.Path); err != nil || !strings.HasPrefix(h.Path, "/") {
		problems.Add(max(s.Path.Line, line), "proxy: health: path: expected a path of the API that answers quickly, for example /healthz, got %q", h.Path)
	}
	if h.Every < fastestEach {
		problems.Add(max(s.Path.Line, line), "proxy: health: every: expected at least 1s, got %s", h.Every)
	}
	return h
}

// sharedCredentials explains credentials: shared, which is right for few APIs.
func sharedCredentials() words.Text {
	return words.Say("proxy: cache: credentials: shared: responses that do not say how long they are fresh are stored and given to all clients, whatever their requests have in Cookie, X-Api-Key and X-Auth-Token; expected only for an API that answers everybody alike",
		"proxy: cache: credentials: shared：没有声明保鲜期的响应会存储下来提供给所有来访者，不论其请求的 Cookie、X-Api-Key、X-Auth-Token 为何；只适用于对所有人响应都相同的 API")
}

// origin says of whom, and for whom, responses are that are kept: those from another address, of which callers were told apart in
// another way, or with redirections to where it was, are none of this API.
func (a *API) origin() string {
	if len(a.Targets) == 0 {
		return "" // a mistake
	}
	first := a.Targets[0] // the others stand in for it
	text := fmt.Sprint(first.URL, first.Sent, len(a.Hosts) > 0, a.Rules.Ignored, a.Rules.NoCookies, a.Rules.CredentialsShared, a.Compress, a.Response) + a.identity()
	return strconv.FormatUint(xxhash.Sum64String(text), 36)
}

func (a *API) compileTargets(p *proxySpec, line int, env *upstreams.Environment, problems *declare.Problems) {
	if len(p.To) == 0 {
		problems.Add(line, "proxy: to: expected the address of an API, for example https://api.example.org")
	}
	if p.Host.Value != "" && !IsHostToSend(p.Host.Value) {
		problems.Add(p.Host.Line, "proxy: host: expected origin, caller or a name such as weather.internal, got %q", p.Host.Value)
	}
	for _, to := range p.To {
		u, err := ParseAddress(to.Value)
		if err != nil {
			problems.Add(to.Line, "proxy: to: %s, got %q", words.Failure(err), redact.Address(to.Value))
			continue
		}
		t := Target{URL: u}
		t.Sent = sentTo(&t, p.Host.Value)
		if env != nil {
			t.Host = env.Hosts.GetWith(u.Host, originCalls)
			if p.Rate.Calls > 0 {
				t.Quota = env.Quotas.Get(u.Host, p.Rate.Calls, p.Rate.Per)
			}
		}
		if env != nil && a.Health.Path != "" {
			t.Check = env.Hosts.Check(a.Name, u.Host)
		}
		a.Targets = append(a.Targets, t)
	}
}

func (s *webSpec) compile(a *API, line int, problems *declare.Problems) {
	a.Rules = web.Rules{
		Targets: []string{"Sundry-Cache-Control", "Cdn-Cache-Control"}, HeuristicShare: heuristicShare,
		HeuristicMost: cmp.Or(time.Duration(s.HeuristicMost), heuristicMost), Most: time.Duration(s.Most),
		StaleWhileRevalidate: time.Duration(s.WhileRevalidate), StaleIfError: time.Duration(s.IfError),
		IgnoreCallers: s.Callers == "ignore", NoCookies: s.Cookies == "never", CredentialsShared: s.Credentials == "shared", Languages: s.Languages == nil || *s.Languages,
		Ignored: fieldNames(s.IgnoreVary, "cache: ignore_vary", problems), Tags: fieldNames(s.Tags, "cache: tags", problems),
	}
	if s.Heuristic != nil {
		a.Rules.HeuristicShare = *s.Heuristic
	}
	if i := slices.Index(a.Rules.Tags, "Cache-Groups"); i >= 0 { // or it would not be stored with the response
		problems.Add(s.Tags[i].Line, "proxy: cache: tags: expected another field than Cache-Groups, such as Cache-Tag; cache groups can be purged without this, and clients get the field")
	}
	if s.Tags == nil {
		a.Rules.Tags = []string{"Cache-Tag", "Surrogate-Key"}
	}
	for _, text := range slices.Sorted(maps.Keys(s.Default)) {
		status, err := strconv.Atoi(text)
		if err != nil || status < 200 || status > 599 {
			problems.Add(line, "proxy: cache: default: expected a status from 200 to 599, for example {404: 10s}, got %q", text)
			continue
		}
		if a.Rules.Default == nil {
			a.Rules.Default = map[int]time.Duration{}
		}
		a.Rules.Default[status] = time.Duration(s.Default[text])
	}
	a.Query.Sorted = s.Sort
	for _, d := range s.Drop {
		if web.CheckDropped(d.Value) != nil || d.Value == "" {
			problems.Add(d.Line, "proxy: cache: drop: expected the name of a parameter such as gclid, or utm_* for all that begin so, got %q", d.Value)
		}
		a.Query.Dropped = append(a.Query.Dropped, d.Value)
	}
	if a.Body = largestBody; s.Body != nil {
		a.Body = *s.Body
	}
}

// fieldNames are the canonical names of fields.
func fieldNames(names []declare.Text, key string, problems *declare.Problems) []string {
	out := make([]string, 0, len(names))
	for _, n := range names {
		if !httpguts.ValidHeaderFieldName(n.Value) {
			problems.Add(n.Line, "proxy: %s: expected the name of a field such as User-Agent, got %q", key, n.Value)
		}
		out = append(out, http.CanonicalHeaderKey(n.Value))
	}
	return out
}

// readSecrets are the values of environment variables by their names in the file. warn is told of one that is not set.
func (a *API) readSecrets(names map[string]declare.Text, env *upstreams.Environment, warn func(line int, msg string)) map[string]string {
	values := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		v := names[name]
		a.variables = append(a.variables, v.Value)
		values[name] = ""
		if env == nil || env.Secret == nil {
			continue
		}
		if value, ok := env.Secret(v.Value); ok {
			values[name] = value
		} else {
			warn(v.Line, "proxy: secrets: "+name+": the environment variable "+v.Value+" is not set; fields with $secrets."+name+" are not sent")
		}
	}
	return values
}

var secretInField = regexp.MustCompile(`\$secrets\.([A-Za-z0-9_]+)`)

// compile checks changes to the fields of requests, or of responses. Those with a secret that is not set are left out.
func (c *fieldChanges) compile(key string, secrets map[string]string, problems *declare.Problems) FieldChanges {
	out := FieldChanges{Set: http.Header{}, Remove: fieldNames(c.Remove, key+": remove", problems)}
	for _, name := range slices.Sorted(maps.Keys(c.Set)) {
		v := c.Set[name]
		missing := false
		value := secretInField.ReplaceAllStringFunc(v.Value, func(use string) string {
			secret, known := secrets[strings.TrimPrefix(use, "$secrets.")]
			if !known {
				problems.Add(v.Line, "proxy: %s: set: %s: there is no %s; expected it below secrets, for example secrets: {key: SUNDRY_WEATHER_KEY}", key, name, use)
			}
			missing = missing || secret == ""
			return secret
		})
		switch {
		case !httpguts.ValidHeaderFieldName(name) || isFraming(name):
			problems.Add(v.Line, "proxy: %s: set: expected the name of a field such as X-Api-Key, which is not about the connection, the length of a body or the host, got %q", key, name)
		case !httpguts.ValidHeaderFieldValue(value):
			problems.Add(v.Line, "proxy: %s: set: %s: expected a value without line breaks and other control characters", key, name)
		case !missing:
			out.Set[http.CanonicalHeaderKey(name)] = []string{value}
		}
	}
	return out
}

// hide has the secrets hidden, and what the file itself has for fields of credentials.
func (a *API) hide(secrets map[string]string, sent *fieldChanges, env *upstreams.Environment) {
	hidden := slices.Collect(maps.Values(secrets))
	for name, v := range sent.Set {
		if redact.IsCredential(name) && !secretInField.MatchString(v.Value) {
			hidden = append(hidden, v.Value)
		}
	}
	if env == nil {
		return // nothing is served
	}
	a.hidden = env.HiddenOf.Of(a.Name)
	a.hidden.Add(hidden...)
	env.Hidden.Add(hidden...)
}

// Received makes the changes to the fields of a response of the API, which may echo the secrets that it was sent: no client gets them.
func (a *API) Received(h http.Header) {
	a.hidden.Redactor().Header(h)
	a.Response.Apply(h)
}

// isFraming reports whether a field says where a message ends or goes, or is of one connection.
func isFraming(name string) bool {
	h := http.Header{http.CanonicalHeaderKey(name): {""}, "Content-Length": nil}
	web.RemoveConnectionFields(h)
	return len(h) == 1 || strings.EqualFold(name, "Host")
}

// API finds an API.
func (c *Catalog) API(name string) (*API, bool) {
	i := slices.IndexFunc(c.APIs, func(a *API) bool { return a.Name == name })
	if i < 0 {
		return nil, false
	}
	return c.APIs[i], true
}

// checkHosts reports names that several APIs have.
func (c *Catalog) checkHosts() (failed []error) {
	owners := map[string]string{}
	for _, a := range c.APIs {
		for _, h := range a.Hosts {
			if other := owners[h]; other != "" {
				failed = append(failed, Mistake{a.File, 0, declare.Say("proxy: hosts: %s belongs to %s already", h, other)})
			}
			owners[h] = a.Name
		}
	}
	return failed
}
