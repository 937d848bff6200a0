package kinds

import (
	"cmp"
	"context"
	"net/netip"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams"
	"sundry/upstreams/jq"
	"sundry/upstreams/lib/chinatime"
	"sundry/upstreams/lib/geoip"
	"sundry/upstreams/lib/ipcard"
)

// IPCardSpec declares a source that draws a card about the caller, from the
// parameters ip and agent (system and browser, on a line each). The place is looked
// up in the operator's database, then in the embedded table of countries.
type IPCardSpec struct {
	// As is png or svg.
	As string `yaml:"as" required:"true" enum:"png,svg"`
}

type cardDrawer struct {
	as   string
	file geoip.DB // nil: none
}

func compileIPCard(c *upstreams.Compiler, section *yaml.Node) upstreams.Compiled {
	var spec IPCardSpec
	c.Decode(section, &spec)
	d := &cardDrawer{spec.As, c.Env.GeoFile}
	return compileDrawing(c, "ipcard", spec.As, d.draw)
}

func (d *cardDrawer) draw(_ context.Context, a *upstreams.Attempt) (*upstreams.Reply, error) {
	card, place := d.card(a.Call)
	blob, err := draw(d.as, card.SVG, card.PNG)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Internal, "draw a card: %w", err)
	}
	return &upstreams.Reply{Body: cardData(card, place), Blob: blob}, nil
}

func (d *cardDrawer) card(call *upstreams.Call) (*ipcard.Card, geoip.Place) {
	ip, _ := call.Params["ip"].(string)
	agent, _ := call.Params["agent"].(string)
	c := &ipcard.Card{Now: call.Now}
	c.IP, _ = netip.ParseAddr(ip) // the zero address is shown as unknown
	c.System, c.Browser, _ = strings.Cut(agent, "\n")
	if geoip.Scope(c.IP) != "" {
		c.Place = "内网或保留地址"
		return c, geoip.Place{}
	}
	place := d.place(c.IP)
	c.Place, c.ISP = joinNames(place.Country, place.Province, place.City), cmp.Or(place.ISP, place.ASName)
	return c, place
}

// place looks an address up in both databases. Fields of the zero place mean that
// neither has them: the card is drawn all the same.
func (d *cardDrawer) place(ip netip.Addr) geoip.Place {
	var merged geoip.Place
	for _, db := range []geoip.DB{d.file, geoip.Country()} {
		if db == nil {
			continue
		}
		if p, found, err := db.Lookup(ip); err == nil && found {
			merged.Add(&p)
		}
	}
	return merged
}

// joinNames joins the names of a place from the largest area to the smallest,
// without repetitions such as 北京 北京.
func joinNames(names ...string) string {
	var out []string
	for _, n := range names {
		if n != "" && (len(out) == 0 || out[len(out)-1] != n) {
			out = append(out, n)
		}
	}
	return strings.Join(out, " ")
}

// cardData is what the card shows, as data.
func cardData(c *ipcard.Card, place geoip.Place) map[string]any {
	day := c.Now.In(chinatime.Zone())
	weekdays := [...]string{"星期日", "星期一", "星期二", "星期三", "星期四", "星期五", "星期六"}
	return map[string]any{
		"ip": c.IP.String(), "location": jq.NilIfEmpty(c.Place),
		"country": jq.NilIfEmpty(place.Country), "country_code": jq.NilIfEmpty(place.CountryCode),
		"province": jq.NilIfEmpty(place.Province), "city": jq.NilIfEmpty(place.City), "isp": jq.NilIfEmpty(c.ISP),
		"os": jq.NilIfEmpty(c.System), "browser": jq.NilIfEmpty(c.Browser),
		"date": day.Format(time.DateOnly), "weekday": weekdays[day.Weekday()],
	}
}
