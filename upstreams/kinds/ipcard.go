package kinds

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams"
	"sundry/upstreams/chinatime"
	"sundry/upstreams/geoip"
	"sundry/upstreams/host"
	"sundry/upstreams/ipcard"
	"sundry/upstreams/jq"
)

// IPCardSpec draws a card of the caller, who is in the parameters ip and agent
// (system and browser, on a line each). The place comes from the operator's
// database, else from the embedded table of countries.
type IPCardSpec struct {
	// As is png or svg.
	As string `yaml:"as"`
}

type cardDrawer struct {
	svg  bool
	file geoip.DB // nil for none
	work *host.Work
}

func compileIPCard(c *upstreams.Compiler, section *yaml.Node) upstreams.Compiled {
	var spec IPCardSpec
	c.Decode(section, &spec)
	if spec.As != "png" && spec.As != "svg" {
		c.Add("ipcard: as: %q: want png or svg", spec.As)
	}
	return upstreams.Compiled{Fetcher: &cardDrawer{svg: spec.As == "svg", file: c.Env.GeoFile, work: &c.Env.Work}}
}

var _ upstreams.Admitter = (*cardDrawer)(nil)

// Admit implements upstreams.Admitter.
func (d *cardDrawer) Admit(ctx context.Context, _ *upstreams.Input) (func(), error) {
	return d.work.EnterDrawing(ctx)
}

// Fetch implements Fetcher.
func (d *cardDrawer) Fetch(_ context.Context, in *upstreams.Input) (*upstreams.Reply, error) {
	card := d.card(in.Call)
	blob, err := draw(card, d.svg)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Internal, "draw a card: %w", err)
	}
	return &upstreams.Reply{Body: cardData(card), Blob: blob}, nil
}

func draw(c *ipcard.Card, svg bool) (*upstreams.Blob, error) {
	if svg {
		b, err := c.SVG()
		return &upstreams.Blob{Type: "image/svg+xml", Bytes: b}, err
	}
	b, err := c.PNG()
	return &upstreams.Blob{Type: "image/png", Bytes: b}, err
}

func (d *cardDrawer) card(call *upstreams.Call) *ipcard.Card {
	text, _ := call.Params["ip"].(string)
	agent, _ := call.Params["agent"].(string)
	c := &ipcard.Card{Now: call.Now}
	c.IP, _ = netip.ParseAddr(text) // the zero address is shown as unknown
	c.System, c.Browser, _ = strings.Cut(agent, "\n")
	if geoip.Scope(c.IP) != "" {
		c.Place = "内网或保留地址"
		return c
	}
	place := d.place(c.IP)
	c.Place, c.ISP = words(place.Country, place.Province, place.City), place.ISP
	return c
}

// place asks the databases. A place that cannot be found is no failure of the
// card.
func (d *cardDrawer) place(ip netip.Addr) geoip.Place {
	for _, db := range []geoip.DB{d.file, geoip.Country()} {
		if db == nil {
			continue
		}
		if p, found, err := db.Lookup(ip); err == nil && found {
			return p
		}
	}
	return geoip.Place{}
}

// words joins the names of a place from the large to the small, each once.
func words(names ...string) string {
	var out []string
	for _, n := range names {
		if n != "" && (len(out) == 0 || out[len(out)-1] != n) {
			out = append(out, n)
		}
	}
	return strings.Join(out, " ")
}

// cardData is the card in words.
func cardData(c *ipcard.Card) map[string]any {
	day := c.Now.In(chinatime.Zone())
	weekdays := [...]string{"星期日", "星期一", "星期二", "星期三", "星期四", "星期五", "星期六"}
	return map[string]any{
		"ip": c.IP.String(), "location": c.Place, "isp": jq.OrNil(c.ISP), "os": c.System, "browser": c.Browser,
		"date": day.Format(time.DateOnly), "weekday": weekdays[day.Weekday()],
	}
}
