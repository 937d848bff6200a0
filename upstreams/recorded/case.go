package recorded

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
	"sundry/upstreams/httpsource"
	"sundry/upstreams/replay"
)

// caller stands for the caller of recorded exchanges (RFC 5737).
var caller = netip.AddrFrom4([4]byte{203, 0, 113, 1})

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
	// Witnesses of an attested one.
	Witnesses []Witness
	// Unattested says why no witness is to be had; "" where one may be.
	Unattested string
	file       string         // its exchange.yaml, for mistakes
	lines      map[string]int // of params and want in that file
	caller     catalog.Caller
	own        bool // it is an operator's
	refused    bool // by the catalog: it answers and shows nothing
}

//go:embed testdata
var builtin embed.FS

// Builtin are the recorded exchanges that come with the program, below
// testdata/.
func Builtin() fs.FS { return builtin }

// OwnCases reads the recorded exchanges in an operator's directory, below testdata;
// "" for no directory. The error is as that of Cases.
func OwnCases(dir string) ([]*Case, error) {
	if dir == "" {
		return nil, nil
	}
	cases, err := readCases(os.DirFS(dir), "testdata", dir)
	for _, c := range cases {
		c.own = true
	}
	return cases, err
}

// Cases reads every recorded exchange below root of fsys. One that cannot be read is
// left out; the error then joins a catalog.Mistake for each thing wrong.
func Cases(fsys fs.FS, root string) ([]*Case, error) { return readCases(fsys, root, "") }

// readCases reads the exchanges of a file system that is shown as dir.
func readCases(fsys fs.FS, root, dir string) ([]*Case, error) {
	files, err := fs.Glob(fsys, path.Join(root, "*/*/*/exchange.yaml"))
	if err != nil {
		return nil, err
	}
	var cases []*Case
	var failed []error
	for _, file := range files {
		c, mistakes := readCase(fsys, path.Dir(file), dir)
		if failed = append(failed, mistakes...); len(mistakes) == 0 {
			cases = append(cases, c)
		}
	}
	return cases, errors.Join(failed...)
}

// readCase reads the exchange in a directory of a file system that is shown as above.
func readCase(fsys fs.FS, dir, above string) (*Case, []error) {
	file := path.Join(dir, "exchange.yaml")
	s, problems := readSpec(fsys, file)
	var c *Case
	if len(problems) == 0 {
		c = s.newCase(dir)
		c.file, c.lines = path.Join(above, file), s.lines
		c.read(fsys, s, &problems)
	}
	var mistakes []error
	for _, p := range problems {
		mistakes = append(mistakes, catalog.Mistake{File: path.Join(above, file), Line: p.Line, Msg: p.Msg})
	}
	return c, mistakes
}

// newCase is the case without its bodies and data.
func (s *exchangeSpec) newCase(dir string) *Case {
	query := url.Values{}
	for name, v := range s.Params {
		query.Set(name, v)
	}
	from, err := netip.ParseAddr(s.Caller)
	if err != nil {
		from = caller
	}
	return &Case{
		caller: catalog.Caller{Addr: from, Header: http.Header{"User-Agent": {s.Agent}}}, Dir: dir, Chain: s.Chain, Raw: query.Encode(), Link: s.Link,
		Witnesses: s.Witnesses, Unattested: s.Unattested,
		Exchange: replay.Exchange{
			Endpoint: path.Base(path.Dir(path.Dir(dir))), Source: path.Base(path.Dir(dir)), Name: path.Base(dir),
			Origin: s.Origin, Now: s.Now, Want: s.Want,
		},
	}
}

// read reads the files beside exchange.yaml.
func (c *Case) read(fsys fs.FS, s *exchangeSpec, problems *declare.Problems) {
	for _, st := range s.Steps {
		recorded, err := st.read(fsys, c.Dir)
		if err != nil {
			problems.Add(0, "steps: the reply to %s: %v", st.URL, err)
		}
		c.RoundTrips = append(c.RoundTrips, recorded)
	}
	if c.Want != "success" {
		return
	}
	var err error
	if c.WantJSON, err = fs.ReadFile(fsys, path.Join(c.Dir, "want.json")); err != nil {
		problems.Add(0, "the data of a success: %v", err)
	} else if !json.Valid(c.WantJSON) {
		problems.Add(0, "the data of a success: want.json is not JSON")
	}
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

// Exchanges makes the cases ready for replay: their parameters become canonical by
// the endpoints' own rules. Cases that the catalog has no use for are left out, here
// and of what CasesOf lists; the error joins a catalog.Mistake for each of them that
// is the operator's.
func Exchanges(c *catalog.Catalog, cases []*Case) ([]*replay.Exchange, error) {
	var out []*replay.Exchange
	var failed []error
	off := c.Off()
	for _, x := range cases {
		if x.refused = slices.Contains(off, x.Endpoint); x.refused {
			continue
		}
		line, err := x.fit(c)
		if x.refused = err != nil; !x.refused {
			out = append(out, &x.Exchange)
		} else if x.own {
			failed = append(failed, catalog.Mistake{File: x.file, Line: line, Msg: err.Error()})
		}
	}
	return out, errors.Join(failed...)
}

// fit sets the canonical parameters. The error says why the catalog has no use for
// the case, with the line that is at fault.
func (c *Case) fit(set *catalog.Catalog) (line int, err error) {
	e, ok := set.Get(c.Endpoint)
	if !ok {
		return 0, fmt.Errorf("there is no endpoint %q%s", c.Endpoint, orElse(declare.Suggestion(c.Endpoint, names(set)), "testdata/"+c.Endpoint, "an endpoint"))
	}
	if sources := sourceNames(e); !slices.Contains(sources, c.Source) {
		to := fmt.Sprintf("one of its sources (%s)", strings.Join(sources, ", "))
		return 0, fmt.Errorf("%s has no source %q%s", c.Endpoint, c.Source, orElse(declare.Suggestion(c.Source, sources), "testdata/"+c.Endpoint+"/"+c.Source, to))
	}
	if c.Params, err = canonical(e, c.Raw, c.caller, c.Now); err != nil {
		return c.lines["params"], fmt.Errorf("params: %w", err)
	}
	if c.Link != "" {
		c.Params = map[string]any{"link": c.Link}
	}
	return 0, nil
}

// orElse is what to do about a folder of nobody, after a suggestion of what is meant.
func orElse(suggestion, folder, to string) string {
	if suggestion == "" {
		return fmt.Sprintf("; rename the folder %s to %s, or delete it", folder, to)
	}
	return fmt.Sprintf("%s Rename the folder %s to %s, or delete it", suggestion, folder, to)
}

// names are those of the endpoints.
func names(set *catalog.Catalog) []string {
	out := make([]string, len(set.Endpoints))
	for i, e := range set.Endpoints {
		out[i] = e.Name
	}
	return out
}

// sourceNames are the sources of an endpoint, each once.
func sourceNames(e *catalog.Endpoint) []string {
	var out []string
	for _, c := range e.Chains {
		for _, s := range c.Declared() {
			if !slices.Contains(out, s.Declared) {
				out = append(out, s.Declared)
			}
		}
	}
	return out
}

// canonical parses the recorded query of a caller.
func canonical(e *catalog.Endpoint, raw string, from catalog.Caller, now time.Time) (map[string]any, error) {
	in, perr := e.ParseAt(raw, from, func() time.Time { return now })
	if perr != nil {
		return nil, perr
	}
	return in.Call(time.Time{}).Params, nil
}

// CasesOf lists the cases of one source, by name: of two, the first counts.
func CasesOf(cases []*Case, endpoint, source string) []*Case {
	byName := map[string]*Case{}
	for _, c := range cases {
		if !c.refused && c.Endpoint == endpoint && c.Source == source && byName[c.Name] == nil {
			byName[c.Name] = c
		}
	}
	var out []*Case
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out = append(out, byName[name])
	}
	return out
}
