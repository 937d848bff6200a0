package catalog

import (
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"sundry/cache/web"
	"sundry/upstreams/declare"
)

// apiSpec is a catalog file with `proxy`: a whole HTTP API, served as it is and cached as HTTP says (RFC 9111).
type apiSpec struct {
	// Version of the grammar: 1.
	Version int `yaml:"version" required:"true" enum:"1"`
	// Name is the path segment, as of an endpoint, and its name in metrics, console and status.
	Name declare.Text `yaml:"name" required:"true" example:"weather"`
	// Title is the name that people read; without one, how the summary begins, or else the name.
	Title declare.Words `yaml:"title" example:"{en: Weather, zh: 天气}"`
	// Summary says in a sentence what the API is for.
	Summary declare.Words `yaml:"summary" example:"{en: Weather by place., zh: 各地天气}"`
	// Proxy says where the API is, and what of it differs from the defaults.
	Proxy proxySpec `yaml:"proxy" required:"true" example:"{to: https://api.example.org}"`
}

// proxySpec says where an API is, and what is different from what HTTP says by itself.
type proxySpec struct {
	// To is the API's address, or several: the next one is asked if one cannot be connected to. h2c://127.0.0.1:50051 is HTTP/2 in cleartext, as for gRPC; unix:/run/app.sock is a Unix socket, and unix:/run/app.sock:/v1 a path of the API there.
	To addresses `yaml:"to" required:"true" example:"https://api.example.org"`
	// Hosts are names whose whole address space is the API's, in place of /api/name/; *.example.org means all names below example.org.
	Hosts []declare.Text `yaml:"hosts" example:"[weather.example.org]"`
	// Host is the host name in requests to the API: origin for the name in To, caller for the name in each client's request, or another name. By default, it is caller for an address on this machine or in a private network, a Unix socket, or a name without a dot, and origin for others.
	Host declare.Text `yaml:"host" example:"caller"`
	// Rate bounds the requests to each address, by all instances together.
	Rate declare.Rate `yaml:"rate" example:"1000/1d"`
	// Cache says what is kept, where responses do not say it themselves.
	Cache webSpec `yaml:"cache" example:"{default: {200: 1m}}"`
	// Secrets are environment variables by the names under which fields of Request have them.
	Secrets map[string]declare.Text `yaml:"secrets" example:"{key: SUNDRY_WEATHER_KEY}"`
	// Request changes the fields that the API is asked with.
	Request fieldChanges `yaml:"request" example:"{set: {X-Api-Key: $secrets.key}, remove: [Cookie]}"`
	// Response changes the fields of its answers, before they are kept.
	Response fieldChanges `yaml:"response" example:"{remove: [Server]}"`
	// Timeouts of its answers.
	Timeouts timeoutsSpec `yaml:"timeouts" example:"{head: 10s}"`
	// Balance is the order in which several addresses are asked: first, as in the file; round_robin, in turn; or least, first the one with the fewest requests that are not complete.
	Balance string `yaml:"balance" enum:"first,round_robin,least"`
	// Health checks each address: one that fails is asked only after the others.
	Health healthSpec `yaml:"health" example:"{path: /healthz}"`
	// TLS is for connections to https addresses.
	TLS tlsSpec `yaml:"tls" example:"{ca: ca.pem}"`
	// Keepalive false uses no connection twice, for an API that is not trusted to end its answers where it says.
	Keepalive *bool `yaml:"keepalive"`
	// Upload bounds the bodies of requests.
	Upload uploadSpec `yaml:"upload" example:"{most: 100MiB}"`
	// Compress compresses, with gzip, responses that the API sends without a content coding. Of Accept-Encoding, the API gets br, gzip and zstd alone.
	Compress bool `yaml:"compress"`
	// Retry are statuses after which a GET or HEAD is sent once more, to the next address if there is one.
	Retry []declare.Text `yaml:"retry" example:"[502, 503, 504]"`
	// Via false leaves this service out of Via, for an API that answers otherwise where there is a proxy, such as nginx without gzip.
	Via *bool `yaml:"via"`
}

// webSpec is what of an API's responses is kept, where they do not say it themselves.
type webSpec struct {
	// Default is for how long a response is fresh that says nothing, for requests without credentials: a duration, or one for each status. A single one is for 200, 203, 204, 300, 301, 308, 404 and 410.
	Default defaults `yaml:"default" example:"{200: 1m, 404: 10s}"`
	// Heuristic is the part of the time since its last change that a response is fresh for which says nothing; 0 for none.
	Heuristic *float64 `yaml:"heuristic" example:"0.1" least:"0" most:"1"`
	// HeuristicMost bounds that time.
	HeuristicMost declare.Duration `yaml:"heuristic_most" example:"1d"`
	// Most bounds for how long a response is fresh, whatever it says.
	Most declare.Duration `yaml:"most" example:"7d"`
	// WhileRevalidate is for how long a stale response is served while a new one is fetched.
	WhileRevalidate declare.Duration `yaml:"stale_while_revalidate" example:"30s"`
	// IfError is for how long a stale response is served while the API fails.
	IfError declare.Duration `yaml:"stale_if_error" example:"1d"`
	// Callers is honour for callers who may ask for a newer response than a fresh one, as HTTP has it, or ignore.
	Callers string `yaml:"callers" enum:"honour,ignore"`
	// Cookies is explicit where responses with Set-Cookie are kept that say for how long, or never.
	Cookies string `yaml:"cookies" enum:"explicit,never"`
	// Credentials is separate where a response that says nothing is not shared if its request has Cookie, X-Api-Key or X-Auth-Token, or shared for an API that answers everybody alike.
	Credentials string `yaml:"credentials" enum:"separate,shared"`
	// Drop names query parameters that the API is not asked with, such as utm_*.
	Drop []declare.Text `yaml:"drop" example:"[utm_*, gclid]"`
	// Sort puts query parameters in the order of their names.
	Sort bool `yaml:"sort"`
	// IgnoreVary names request fields that make no other response, whatever Vary says.
	IgnoreVary []declare.Text `yaml:"ignore_vary" example:"[User-Agent]"`
	// Languages false serves nothing that is stored in the caller's preferred language, but in the very words of its Accept-Language.
	Languages *bool `yaml:"languages"`
	// Body is the size in bytes of the largest body that is kept.
	Body *int64 `yaml:"body" example:"8388608" least:"0" most:"268435456"`
	// Tags names response fields with tags for purges, which callers do not get.
	Tags []declare.Text `yaml:"tags" example:"[Cache-Tag]"`
}

// fieldChanges are changes to the fields of a message.
type fieldChanges struct {
	// Set replaces fields, or adds them.
	Set map[string]declare.Text `yaml:"set" example:"{X-Api-Key: $secrets.key}"`
	// Remove names fields.
	Remove []declare.Text `yaml:"remove" example:"[Cookie]"`
}

// timeoutsSpec bounds the answers of an API.
type timeoutsSpec struct {
	// Connect is how long a connection may take to be made.
	Connect declare.Duration `yaml:"connect" example:"3s"`
	// Head is how long an answer may take to begin.
	Head declare.Duration `yaml:"head" example:"30s"`
	// Idle is how long a body may stand still.
	Idle declare.Duration `yaml:"idle" example:"1m"`
	// Tunnel is how long a WebSocket may be idle in both directions.
	Tunnel declare.Duration `yaml:"tunnel" example:"10m"`
}

// healthSpec says how each instance checks the addresses of an API. After two failed checks in a row, an address is asked only after the others; one successful check ends this.
type healthSpec struct {
	// Path is the path of the GET, below that of the address. It has none of the fields in request.
	Path declare.Text `yaml:"path" example:"/healthz"`
	// Every is the time between two checks, give or take a fifth; by default 10s. A check takes 5s at most.
	Every declare.Duration `yaml:"every" example:"10s"`
	// Expect are the statuses of a successful check; by default, those from 200 to 399.
	Expect []declare.Text `yaml:"expect" example:"[200, 204]"`
}

// tlsSpec says how connections to https addresses are made. Files are relative to the directory of this file, and are read again when they change.
type tlsSpec struct {
	// ServerName is the name in the API's certificate, in place of the host in to.
	ServerName declare.Text `yaml:"server_name" example:"weather.internal"`
	// CA is a file with the certificates of the authorities to trust, in place of the system's.
	CA declare.Text `yaml:"ca" example:"ca.pem"`
	// Cert is a file with the certificate that the API gets from this service, followed by its chain.
	Cert declare.Text `yaml:"cert" example:"client.pem"`
	// Key is a file with the private key of Cert.
	Key declare.Text `yaml:"key" example:"client-key.pem"`
	// Verify false accepts any certificate, so anybody between this service and the API can read and change everything.
	Verify *bool `yaml:"verify"`
}

// uploadSpec bounds the bodies of requests.
type uploadSpec struct {
	// Most is the size of the largest body of a request; without it, there is no limit.
	Most declare.Size `yaml:"most" example:"100MiB"`
}

// addresses are one or several.
type addresses []declare.Text

// UnmarshalYAML takes a text, or a list of them.
func (a *addresses) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.SequenceNode {
		return n.Load((*[]declare.Text)(a))
	}
	*a = make(addresses, 1)
	return n.Load(&(*a)[0])
}

// Shape implements declare.Shaped.
func (addresses) Shape(of func(any) *declare.Shape) *declare.Shape {
	return &declare.Shape{Kind: declare.Union, Of: []*declare.Shape{of(declare.Text{}), of([]declare.Text{})}}
}

// defaults are durations by status.
type defaults map[string]declare.Duration

// UnmarshalYAML takes a duration, or durations by status.
func (d *defaults) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return n.Load((*map[string]declare.Duration)(d))
	}
	var all declare.Duration
	if err := n.Load(&all); err != nil {
		return err
	}
	*d = defaults{}
	for _, status := range web.UsualStatuses() {
		(*d)[strconv.Itoa(status)] = all
	}
	return nil
}

// Shape implements declare.Shaped.
func (defaults) Shape(of func(any) *declare.Shape) *declare.Shape {
	return &declare.Shape{Kind: declare.Union, Of: []*declare.Shape{of(declare.Duration(0)), of(map[string]declare.Duration{})}}
}

var topKey = regexp.MustCompile(`(?m)^["']?(\w+)["']?[ \t]*:`)

// isAPI reports whether a file declares an API.
func (f *catalogFile) isAPI() bool {
	return f.parts == nil && slices.ContainsFunc(topKey.FindAllSubmatch(f.data, -1), func(key [][]byte) bool {
		return declare.Nearest(string(key[1]), []string{"proxy"}) != ""
	})
}
