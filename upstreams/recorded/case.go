package recorded

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams/catalog"
	"sundry/upstreams/httpsource"
	"sundry/upstreams/replay"
)

// caller stands for the caller of recorded exchanges (RFC 5737).
var caller = netip.AddrFrom4([4]byte{203, 0, 113, 1})

// exchangeSpec is testdata/<endpoint>/<source>/<case>/exchange.yaml. The
// bodies, and want.json with the mapped data, are files beside it.
type exchangeSpec struct {
	// Origin is composed (from documentation: right shape, invented values)
	// or recorded (from the live upstream).
	Origin string `yaml:"origin"`
	// Chain of the source, where a source is in several; "" means main.
	Chain string `yaml:"chain,omitempty"`
	// Params as in a query string.
	Params map[string]string `yaml:"params,omitempty"`
	// Link instead of params, for a source that fetches what a form leads to.
	Link string `yaml:"link,omitempty"`
	// Now is when the call is made; RFC 3339.
	Now   time.Time  `yaml:"now"`
	Steps []stepSpec `yaml:"steps,omitempty"`
	// Want is the verdict: success, negative, malformed, unavailable, limited or
	// skipped.
	Want string `yaml:"want"`
}

type stepSpec struct {
	// Step it belongs to, of those before the source's own request; "" for that
	// request.
	Step string `yaml:"step,omitempty"`
	// URL as sent; tcp://host for sources that do not use HTTP.
	URL string `yaml:"url"`
	// Sent is the body of a POST.
	Sent string `yaml:"sent,omitempty"`
	// Status of the reply; 0 means 200.
	Status  int               `yaml:"status,omitempty"`
	Headers map[string]string `yaml:"headers,omitempty"`
	// Body is the file with the reply's body; "" for none.
	Body string `yaml:"body,omitempty"`
	// Charset that the body, kept as UTF-8, is sent in.
	Charset string `yaml:"charset,omitempty"`
}

// Case is a recorded exchange with the directory it is in.
type Case struct {
	replay.Exchange
	Dir string
	// Chain of the source; "" means the first that has it.
	Chain string
	// Raw are the parameters as a query string.
	Raw string
	// Link instead of parameters; "" for none.
	Link string
	// WantJSON is the mapped data, for successes.
	WantJSON []byte
	params   map[string]string
}

//go:embed testdata
var builtin embed.FS

// Builtin are the recorded exchanges that come with the program, below
// testdata/.
func Builtin() fs.FS { return builtin }

// Cases reads every recorded exchange below root of fsys.
func Cases(fsys fs.FS, root string) ([]*Case, error) {
	files, err := fs.Glob(fsys, path.Join(root, "*/*/*/exchange.yaml"))
	if err != nil {
		return nil, err
	}
	var cases []*Case
	var failed []error
	for _, f := range files {
		c, err := readCase(fsys, path.Dir(f))
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", f, err))
			continue
		}
		cases = append(cases, c)
	}
	return cases, errors.Join(failed...)
}

func readCase(fsys fs.FS, dir string) (*Case, error) {
	b, err := fs.ReadFile(fsys, path.Join(dir, "exchange.yaml"))
	if err != nil {
		return nil, err
	}
	var s exchangeSpec
	if err := yaml.Load(b, &s, yaml.WithKnownFields()); err != nil {
		return nil, err
	}
	if s.Origin != "composed" && s.Origin != "recorded" {
		return nil, fmt.Errorf("origin: expected composed or recorded, got %q", s.Origin)
	}
	c := &Case{Dir: dir, Chain: s.Chain, Link: s.Link, params: s.Params, Exchange: replay.Exchange{
		Endpoint: path.Base(path.Dir(path.Dir(dir))), Source: path.Base(path.Dir(dir)), Name: path.Base(dir),
		Origin: s.Origin, Now: s.Now, Want: s.Want,
	}}
	query := url.Values{}
	for name, v := range s.Params {
		query.Set(name, v)
	}
	c.Raw = query.Encode()
	for _, st := range s.Steps {
		recorded, err := st.read(fsys, dir)
		if err != nil {
			return nil, err
		}
		c.RoundTrips = append(c.RoundTrips, recorded)
	}
	if c.Want == "success" {
		c.WantJSON, err = fs.ReadFile(fsys, path.Join(dir, "want.json"))
	}
	return c, err
}

func (s *stepSpec) read(fsys fs.FS, dir string) (replay.RoundTrip, error) {
	step := replay.RoundTrip{Step: s.Step, URL: s.URL, Sent: s.Sent, Status: s.Status, Header: http.Header{}}
	if step.Status == 0 {
		step.Status = http.StatusOK
	}
	for name, v := range s.Headers {
		step.Header.Set(name, v)
	}
	if s.Body == "" {
		return step, nil
	}
	b, err := fs.ReadFile(fsys, path.Join(dir, s.Body))
	if err != nil {
		return step, err
	}
	step.Body, err = httpsource.EncodeCharset(b, s.Charset)
	return step, err
}

// Exchanges makes the cases ready for replay: their parameters become
// canonical by the endpoints' own rules.
func Exchanges(c *catalog.Catalog, cases []*Case) ([]*replay.Exchange, error) {
	var out []*replay.Exchange
	for _, x := range cases {
		e, ok := c.Get(x.Endpoint)
		if !ok {
			continue // of an endpoint that this set does not have
		}
		params, err := canonical(e, x.Raw, x.Now)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x.Dir, err)
		}
		if x.Params = params; x.Link != "" {
			x.Params = map[string]any{"link": x.Link}
		}
		out = append(out, &x.Exchange)
	}
	return out, nil
}

// canonical parses a recorded query.
func canonical(e *catalog.Endpoint, raw string, now time.Time) (map[string]any, error) {
	in, perr := e.ParseAt(raw, catalog.Caller{Addr: caller}, func() time.Time { return now })
	if perr != nil {
		return nil, perr
	}
	return in.Call(time.Time{}).Params, nil
}

// CasesOf lists the cases of one source, by name: of two, the first counts.
func CasesOf(cases []*Case, endpoint, source string) []*Case {
	byName := map[string]*Case{}
	for _, c := range cases {
		if c.Endpoint == endpoint && c.Source == source && byName[c.Name] == nil {
			byName[c.Name] = c
		}
	}
	var out []*Case
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out = append(out, byName[name])
	}
	return out
}
