package upstreams

import (
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// Expr is a jq program in a catalog file.
type Expr struct {
	Source string
	Line   int // of its first character, in the file
}

// UnmarshalYAML takes a scalar and remembers where it stands.
func (e *Expr) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("want a jq program, as in map: .data")
	}
	e.Source, e.Line = n.Value, n.Line
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		e.Line++
	}
	return nil
}

// Text is a string in a catalog file.
type Text struct {
	Value string
	Line  int
}

// UnmarshalYAML takes a scalar and remembers where it stands.
func (t *Text) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("want a text")
	}
	t.Value, t.Line = n.Value, n.Line
	return nil
}

// Duration is a span of time as in 90s, 6h or 30d.
type Duration time.Duration

// UnmarshalYAML takes what time.ParseDuration takes, and whole days.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := ParseDuration(n.Value)
	if err != nil {
		return err
	}
	*d = Duration(v)
	return nil
}

// ParseDuration reads "90s", "6h", "30d". Negative spans are refused.
func ParseDuration(s string) (time.Duration, error) {
	text, unit := s, time.Duration(1)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		text, unit = days+"h", 24
	}
	v, err := time.ParseDuration(text)
	if err != nil || v < 0 || v > 1<<62/unit {
		return 0, fmt.Errorf("duration %q: want a span such as 90s, 6h or 30d", s)
	}
	return v * unit, nil
}

// SourceSpec is a source as the catalog declares it. Exactly one of its kinds
// is given.
type SourceSpec struct {
	Name    Text   `yaml:"name"`
	Summary string `yaml:"summary"`
	// Timeout bounds one attempt; 0 means 3 s.
	Timeout Duration `yaml:"timeout"`
	// Retry is how often an unavailable host is asked again, 0 to 2.
	Retry int `yaml:"retry"`
	// TTL shortens how long this source's answers are fresh; 0: does not.
	TTL Duration `yaml:"ttl"`
	// Negative is what a definite no does: "stop" (default) ends the chain,
	// "next" asks the next source.
	Negative string `yaml:"negative"`
	// Optional is a source whose failure does not outweigh what the others said:
	// where they all say no, that is the answer.
	Optional bool `yaml:"optional"`
	// LastResort is a source that is asked only where no copy may stand in. Its
	// answer is kept briefly. Such sources come last.
	LastResort bool `yaml:"last_resort"`
	// When is a jq condition on $params; nil: always.
	When *Expr `yaml:"when"`
	// Secrets are placeholders filled from the environment. A source that
	// lacks one is left out.
	Secrets map[string]Text `yaml:"secrets"`
	// Before are requests made before the source's own, in order.
	Before []StepSpec `yaml:"before"`
	// Vars are placeholders computed by jq from $params, $now, $secrets and
	// what the steps before kept.
	Vars map[string]Expr `yaml:"vars"`
	// Judge rules come before the default table; the first that fits rules.
	Judge []RuleSpec `yaml:"judge"`
	// Map makes data out of what the source brought; nil: as it is.
	Map *Expr `yaml:"map"`
	// Expires is a jq program on the data: unix seconds, or null.
	Expires *Expr `yaml:"expires"`
	// Picture is fetched after the data, from where the data says.
	Picture *PictureSpec `yaml:"picture"`

	HTTP      *HTTPSpec      `yaml:"http"`
	Minecraft *MinecraftSpec `yaml:"minecraft"`
	QRCode    *QRCodeSpec    `yaml:"qrcode"`
	GeoIP     *GeoIPSpec     `yaml:"geoip"`
	Embedded  *EmbeddedSpec  `yaml:"embedded"`
	Computed  *ComputedSpec  `yaml:"computed"`
	IDCard    *IDCardSpec    `yaml:"idcard"`
	IPCard    *IPCardSpec    `yaml:"ipcard"`
	Favicon   *FaviconSpec   `yaml:"favicon"`
	Shortlink *ShortlinkSpec `yaml:"shortlink"`
}

// Problem is a mistake in a catalog file.
type Problem struct {
	Line int
	Msg  string
}

// Problems collects mistakes, so that one check shows them all.
type Problems []Problem

// Add notes one.
func (p *Problems) Add(line int, format string, args ...any) {
	*p = append(*p, Problem{line, fmt.Sprintf(format, args...)})
}
