// Package ipcard draws a card that shows a visitor their address, its place and
// their client, for a forum signature. It promises for any input that the text
// is legible, stays inside its box, and contains no markup and no control
// characters. In the same look, it draws the notices that stand for pictures that
// cannot be had.
package ipcard

import (
	"cmp"
	"net/netip"
	"time"

	"sundry/upstreams/lib/chinatime"
)

// Card is what a card shows. The texts are untrusted: control and invisible
// characters are dropped, and a text that is too long is drawn smaller, then cut
// with "…".
type Card struct {
	// IP is shown without a zone, an IPv4-mapped IPv6 address as IPv4; the zero
	// Addr is shown as 未知地址.
	IP netip.Addr
	// Place is where the address is, such as "浙江省 杭州市", or its purpose, such
	// as "内网"; empty means 未知地区.
	Place string
	// ISP is shown after the place; it may be empty.
	ISP string
	// System and Browser are those that Describe returns; empty means unknown.
	System, Browser string
	// Now is shown as its date in China, the zero time too (in the year 1).
	Now time.Time
}

const (
	unknownAddress = "未知地址"
	unknownPlace   = "未知地区"
	unknownSystem  = "未知系统"
	unknownBrowser = "未知浏览器"
)

// texts are a card's texts, cleaned and complete.
type texts struct{ heading, address, place, system, browser, date string }

// texts cleans every text with the function, which may return an empty one.
func (c *Card) texts(clean func(string) string) texts {
	ip := c.IP.Unmap().WithZone("")
	f := texts{
		heading: "您的 IP 地址",
		address: unknownAddress,
		place:   cmp.Or(clean(c.Place), unknownPlace),
		system:  cmp.Or(clean(c.System), unknownSystem),
		browser: cmp.Or(clean(c.Browser), unknownBrowser),
		date:    date(c.Now),
	}
	if isp := clean(c.ISP); isp != "" {
		f.place += " · " + isp
	}
	switch {
	case ip.Is4():
		f.address, f.heading = ip.String(), "您的 IPv4 地址"
	case ip.Is6():
		f.address, f.heading = ip.String(), "您的 IPv6 地址"
	}
	return f
}

// date writes a day in China with its weekday.
func date(t time.Time) string {
	t = t.In(chinatime.Zone())
	weekdays := [...]string{"日", "一", "二", "三", "四", "五", "六"}
	return t.Format("2006年1月2日 星期") + weekdays[t.Weekday()]
}
