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

// StepSpec is a request made before the source's own. Its result is $vars.<name>
// in every program after it, and {name} in templates if it is a text or number.
type StepSpec struct {
	// Name of the result: lower-case letters, digits and underscores.
	Name declare.Text `yaml:"name" required:"true" example:"token"`
	// When is a jq condition on $params and $vars. The result of a step that is left out is
	// null.
	When *declare.Expr `yaml:"when" example:"$params.url != null"`
	// Vars are placeholders of this step, computed before it.
	Vars map[string]declare.Expr `yaml:"vars" example:"{sign: $params.id | md5}"`
	// HTTP is the request. A step has either HTTP or Share.
	HTTP *Spec `yaml:"http" example:"{url: https://api.example.org/token}" one:"request"`
	// Share is a jq program that emits a share link. A short link is resolved. The
	// result is {platform, id, kind, url, extra}.
	Share *declare.Expr `yaml:"share" example:"$params.url" one:"request"`
	// Judge rules, as of a source. Those of a share step judge its result.
	Judge declare.Named[upstreams.RuleSpec] `yaml:"judge" example:"[{if: .token == null, is: limited}]"`
	// Timeout of this step; 0: only that of the source applies.
	Timeout declare.Duration `yaml:"timeout" example:"2s"`
	// Optional is a step that the answer can do without: if it fails, its result
	// is null.
	Optional bool `yaml:"optional"`
	// Keep is a jq program that makes the result of the reply. Without one, the decoded
	// reply is the result.
	Keep *declare.Expr `yaml:"keep" example:".data.token"`
	// For is how long the result is cached for calls that would send the same
	// request; 0: not at all. The drop of an answer takes the results that it was made
	// of, but for sessions (renew).
	For declare.Duration `yaml:"for" example:"1h"`
	// Shared marks a result that does not depend on callers' input, so that there
	// are few of them. Only with For.
	Shared bool `yaml:"shared"`
	// Renew marks a session, such as that of a guest: when the upstream then refuses
	// what the source sends (limited), the cached result is dropped, and the source asks
	// once more with a new one; but not where the result is younger than a minute and was
	// never accepted, because the upstream then refuses everybody. Only with For. Each
	// instance has sessions of its own: where a log-in ends the session before, give each
	// instance an account.
	Renew bool `yaml:"renew"`
}

// Spec declares an HTTP request: a GET, or a POST if it has a form or json.
type Spec struct {
	// URL is a template. Its host is literal, or it begins with the placeholder of a
	// secret: the address of a service that the operator hosts.
	URL declare.Text `yaml:"url" required:"true" example:"\"https://api.example.org/v1/{id}\""`
	// Query has the parameters of the query string: templates by name.
	Query map[string]declare.Text `yaml:"query" example:"{q: \"{id}\"}"`
	// Headers of the request: templates by name.
	Headers map[string]declare.Text `yaml:"headers" example:"{Referer: https://www.example.org/}"`
	// Agent is the User-Agent: browser for that of a desktop browser, which the operator may
	// set, phone for that of a phone's; without it, this service's own.
	Agent string `yaml:"agent" enum:"browser,phone"`
	// RawQuery replaces Query for an upstream whose query string is not a list of
	// names and values. A single placeholder, such as that of a signed query, is
	// encoded already.
	RawQuery declare.Text `yaml:"raw_query" example:"\"{signed}\""`
	// Form makes it a POST of these fields.
	Form map[string]declare.Text `yaml:"form" example:"{id: \"{id}\"}"`
	// JSON makes it a POST of the value that this jq program makes of $params,
	// $vars and $secrets.
	JSON *declare.Expr `yaml:"json" example:"'{id: $params.id}'"`
	// Trace passes on the request's ID and trace context (W3C Trace Context). It is
	// for an operator's own services; third parties must not learn either.
	Trace bool `yaml:"trace"`
	// Redirects is follow (default) or none: then a redirect is the reply, and
	// $location is its target.
	Redirects string `yaml:"redirects" enum:"follow,none"`
	// Parts repeats the request with each of them as the placeholder {part}. The
	// judge rules apply to each reply. What is mapped is the array of the replies,
	// with null for those that failed.
	Parts PartsSpec `yaml:"parts" example:"[a, b]"`
	// Decode is json (default), jsonp, text, image (a picture, which has to be whole),
	// script (the object that a script of the page assigns to Marker, or contains),
	// html or xml (what Select says), or feed: what RSS, Atom or RDF says, with the names of
	// https://jsonfeed.org, such as title and items, each with id, url, title, summary,
	// content_html, image, date_published, date_modified, authors, tags and attachments.
	// What it lacks is left out, dates are RFC 3339, and links absolute. Dates without a
	// time zone are in Zone.
	Decode string `yaml:"decode" enum:"json,jsonp,html,xml,feed,script,text,image"`
	// Select is what decode: html or xml takes from the page or document, by name. In
	// XML, names match in upper and lower case; a prefix is a part of the name, as the document
	// writes it, and its colon is \: in a selector (media\:content).
	Select map[string]Selection `yaml:"select" example:"{title: h1, items: {each: ul li a, fields: {name: {}, url: {attr: href, link: true}}}}"`
	// Marker is the variable of decode: script, such as window.__INITIAL_STATE__, or
	// # and the id of the script element, such as #__NEXT_DATA__.
	Marker string `yaml:"marker" example:"window.__INITIAL_STATE__"`
	// Charset of the reply: utf-8 (default), gb18030 or big5. gbk and gb2312 mean gb18030.
	// XML declares its own.
	Charset string `yaml:"charset" enum:"utf-8,gbk,gb2312,gb18030,big5"`
	// Zone is the time zone of dates of a feed that have none; that of China (+08:00) by
	// default.
	Zone declare.Text `yaml:"zone" example:"\"+09:00\""`
	// Max bounds the reply's body in KiB, after decompression; 0 means 2048.
	Max int `yaml:"max_kib" example:"64" least:"0"`
	// Hosts are those that redirects may lead to, beside the URL's own.
	Hosts []declare.Text `yaml:"hosts" example:"[cdn.example.org]"`
}

// PartsSpec is a list of texts, or a jq program on $params, $now and $vars that
// emits an array. Without either, the request is made once.
type PartsSpec struct {
	List    []string
	Program *declare.Expr
}

func (p *PartsSpec) declared() bool { return len(p.List) > 0 || p.Program != nil }

// Shape implements declare.Shaped.
func (PartsSpec) Shape(of func(any) *declare.Shape) *declare.Shape {
	return &declare.Shape{Kind: declare.Union, Of: []*declare.Shape{of([]string{}), of(declare.Expr{})}}
}

// UnmarshalYAML reads a sequence of texts, or a program.
func (p *PartsSpec) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.SequenceNode {
		return n.Load(&p.List)
	}
	p.Program = &declare.Expr{}
	return p.Program.UnmarshalYAML(n)
}

// PictureSpec declares a picture that is fetched from an address in the data.
type PictureSpec struct {
	// URL is a jq program on the data that emits the address.
	URL declare.Expr `yaml:"url" required:"true" example:".cover"`
	// Hosts that the picture may come from; *.example.org means all subdomains.
	Hosts []declare.Text `yaml:"hosts" required:"true" example:"[img.example.org, \"*.example.net\"]"`
	// Max bounds the picture in KiB; 0 means 2048.
	Max int `yaml:"max_kib" example:"4096" least:"0"`
	// Timeout of fetching it; 0 means 5 s.
	Timeout declare.Duration `yaml:"timeout" example:"5s"`
	// Agent is the User-Agent, as of a request: browser, phone, or this service's own.
	Agent string `yaml:"agent" enum:"browser,phone" example:"browser"`
}

// version changes whenever a step would make another result of the same reply, by
// its own programs or by the defs that they call. The request is not part of it:
// sources with the same request share results.
func (s *StepSpec) version(defs *jq.Defs) string {
	h := sha256.New()
	for i := range s.Judge {
		r := &s.Judge[i]
		_, _ = fmt.Fprintf(h, "%v %q %q\n", r.Status, defs.Text(r.If), r.Is.Value) // a hash never fails
	}
	_, _ = fmt.Fprintf(h, "%q", defs.Text(s.Keep))
	if s.HTTP != nil {
		_, _ = fmt.Fprintf(h, "%q %q %q %s", s.HTTP.Decode, s.HTTP.Marker, s.HTTP.Charset, s.HTTP.Zone.Value)
		if len(s.HTTP.Select) > 0 {
			_, _ = fmt.Fprintf(h, "%x", hashOf(s.HTTP.Select))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}
