package httpsource

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
)

// StepSpec is a request made before the source's own. What it keeps is
// $vars.<name> to every program after it, and {name} where it is a text.
type StepSpec struct {
	Name declare.Text `yaml:"name"`
	// When is a jq condition on $params and $vars; nil: always. A step that is
	// left out keeps null.
	When *declare.Expr `yaml:"when"`
	// Vars are placeholders of this step, computed before it.
	Vars map[string]declare.Expr `yaml:"vars"`
	// HTTP is the request; or else Share is.
	HTTP *HTTPSpec `yaml:"http"`
	// Share is a jq program that gives a share link. A short one is followed to
	// where it leads; what is kept is {platform, id, kind, url, extra}.
	Share *declare.Expr `yaml:"share"`
	// Judge rules, as a source's; those of a share step are about what it found.
	Judge []upstreams.RuleSpec `yaml:"judge"`
	// Timeout bounds this step; 0: the source's alone does.
	Timeout declare.Duration `yaml:"timeout"`
	// Optional is a step that the answer can do without: when it fails, it
	// keeps null.
	Optional bool `yaml:"optional"`
	// Keep is a jq program on the reply; nil: the reply as it is.
	Keep *declare.Expr `yaml:"keep"`
	// For is how long what was kept serves further calls that would send the
	// same request; 0: for this call alone.
	For declare.Duration `yaml:"for"`
	// Shared says that what is kept is for everybody: its request holds nothing of
	// a caller's. Only with For.
	Shared bool `yaml:"shared"`
	// Renew is for what lets us in, as a guest's session does: it is forgotten
	// when the source is then refused (limited).
	Renew bool `yaml:"renew"`
}

// HTTPSpec is a GET request, or a POST where it has a form or json.
type HTTPSpec struct {
	// URL is a template; its host is literal.
	URL     declare.Text            `yaml:"url"`
	Query   map[string]declare.Text `yaml:"query"`
	Headers map[string]declare.Text `yaml:"headers"`
	// RawQuery takes the place of Query where the upstream wants a query
	// string that is no list of names and values. One placeholder alone is a
	// query that is encoded already, a signed one for instance.
	RawQuery declare.Text `yaml:"raw_query"`
	// Form makes it a POST of these fields.
	Form map[string]declare.Text `yaml:"form"`
	// JSON makes it a POST of what this jq program makes of $params, $vars and
	// $secrets.
	JSON *declare.Expr `yaml:"json"`
	// Trace passes on the request's id and its place in a trace (W3C Trace
	// Context): for services of one's own. Third parties learn neither.
	Trace bool `yaml:"trace"`
	// Redirects is follow (default) or none: then a redirect is the reply, and
	// $location says where it leads.
	Redirects string `yaml:"redirects"`
	// Parts repeats the request, with each of these in the placeholder {part}.
	// Judge rules are about each reply; what is mapped is the array of them, with
	// null for those that did not come.
	Parts PartsSpec `yaml:"parts"`
	// Decode is json (default), jsonp, text, image, or script: the object that
	// a page's script assigns at Marker.
	Decode string `yaml:"decode"`
	// Marker is what is assigned to, as in window.__INITIAL_STATE__.
	Marker string `yaml:"marker"`
	// Charset of the answer where it is not UTF-8: gbk, gb18030, big5.
	Charset string `yaml:"charset"`
	// Max caps the answer in KiB; 0 means 2048.
	Max int `yaml:"max_kib"`
	// Hosts may be redirected to, beside the URL's own.
	Hosts []declare.Text `yaml:"hosts"`
}

// PartsSpec is a list of texts, or a jq program on $params, $now and $vars that
// gives one.
type PartsSpec struct {
	List    []string
	Program *declare.Expr
}

func (p *PartsSpec) given() bool { return len(p.List) > 0 || p.Program != nil }

// UnmarshalYAML takes a sequence or a program.
func (p *PartsSpec) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.SequenceNode {
		return n.Load(&p.List)
	}
	p.Program = &declare.Expr{}
	return p.Program.UnmarshalYAML(n)
}

// PictureSpec fetches the picture that the data leads to.
type PictureSpec struct {
	// URL is a jq program on the data.
	URL declare.Expr `yaml:"url"`
	// Hosts are those the picture may come from; *.example.org covers
	// subdomains.
	Hosts []declare.Text `yaml:"hosts"`
	// Max caps it in KiB; 0 means 2048.
	Max int `yaml:"max_kib"`
	// Timeout; 0 means 5 s.
	Timeout declare.Duration `yaml:"timeout"`
}

// version changes with what the step makes of a reply, by its own programs and by the
// defs that they call. How it asks is no part of it: what one source was told
// counts for another that asks the same.
func (s *StepSpec) version(defs *jq.Defs) string {
	h := sha256.New()
	for i := range s.Judge {
		r := &s.Judge[i]
		_, _ = fmt.Fprintf(h, "%v %q %q\n", r.Status, defs.Text(r.If), r.Is.Value) // a hash takes everything
	}
	_, _ = fmt.Fprintf(h, "%q", defs.Text(s.Keep))
	if s.HTTP != nil {
		_, _ = fmt.Fprintf(h, "%q %q %q", s.HTTP.Decode, s.HTTP.Marker, s.HTTP.Charset)
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}
