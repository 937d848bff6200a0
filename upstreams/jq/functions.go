package jq

import (
	"crypto/md5" //nolint:gosec // what those services ask for
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/itchyny/gojq"
	"golang.org/x/net/html"

	"sundry/upstreams/fields"
	"sundry/upstreams/lib/chinatime"
	"sundry/upstreams/lib/geoip"
	"sundry/upstreams/lib/sharelink"
	"sundry/upstreams/lib/signing"
	"sundry/upstreams/lib/tracking"
)

// functions are what programs may call beside the built-in functions of jq. Each is a
// small Go function for something that jq cannot do: signing, decoding, recognizing.
// A value of the wrong type is an error that says so.
func functions() []gojq.CompilerOption {
	options := make([]gojq.CompilerOption, 0, 32)
	for name, f := range plainFunctions() {
		options = append(options, gojq.WithFunction(name, 0, 0, func(v any, _ []any) any { return f(v) }))
	}
	for name, f := range textFunctions() {
		options = append(options, gojq.WithFunction(name, 0, 0, func(v any, _ []any) any { return callWithText(name, v, f) }))
	}
	for name, f := range functionsOfArguments() {
		options = append(options, gojq.WithFunction(name, f.arguments, f.arguments, f.call))
	}
	return options
}

// withArguments is a function that takes arguments beside a value.
type withArguments struct {
	arguments int
	call      func(v any, args []any) any
}

// functionsOfArguments are those that take arguments.
func functionsOfArguments() map[string]withArguments {
	return map[string]withArguments{
		"wbi_key": {2, wbiKey}, "wbi_sign": {2, wbiSign}, "bilibili_player": {1, bilibiliPlayer}, "douyin_reflow": {1, douyinReflow},
		"kdniao_state": {1, func(v any, args []any) any { return tracking.FromKdniaoState(AsText(v), AsText(args[0])) }},
	}
}

// plainFunctions take a value of any type.
func plainFunctions() map[string]func(any) any {
	return map[string]func(any) any{
		"filled": filled, "https": toHTTPS, "web_link": webLink, "html_text": plainText, "trail": trail, "link_expiry": linkExpiry,
		"china_time": chinaTime, "china_date": chinaDate,
		"kuaidi100_state": func(v any) any { return tracking.FromKuaidi100(AsText(v)) },
		"ali_state":       func(v any) any { return tracking.FromAliStatus(AsText(v)) },
		"cainiao_state":   func(v any) any { return tracking.FromCainiao(AsText(v)) },
	}
}

// textFunctions take a string.
func textFunctions() map[string]func(string) any {
	return map[string]func(string) any{
		"md5": md5Hex, "share": shareLink, "douyin_page": douyinPage,
		"twitter_token": func(id string) any { return orError(signing.TwitterToken(id)) },
		"country":       country,
		"carriers":      carriers, "carrier_name": carrierName, "to_kdniao": toKdniao,
		"needs_phone": func(code string) any { return tracking.NeedsPhone(code) },
		"from_kdniao": func(code string) any { return NilIfEmpty(tracking.FromKdniao(code)) },
		"from_ali":    func(code string) any { return NilIfEmpty(tracking.FromAli(code)) },
		"lunar_date":  lunarDate,
		"trail_state": func(text string) any { return tracking.State(text) },
		"state_name":  func(state string) any { return tracking.StateName(state) },
	}
}

// callWithText calls a function that takes a string.
func callWithText(name string, v any, f func(string) any) any {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("%s: expected a string, got %s", name, gojq.TypeOf(v))
	}
	return f(s)
}

// wbiKey is the function wbi_key(img; sub): the key that signs queries to Bilibili.
func wbiKey(_ any, args []any) any {
	return orError(signing.WBIKey(AsText(args[0]), AsText(args[1])))
}

// wbiSign is the function wbi_sign(key; now): it signs a query. now is in Unix
// seconds.
func wbiSign(v any, args []any) any {
	now, err := unixTime("wbi_sign", args[1])
	if err != nil {
		return err
	}
	return orError(signing.WBISign(AsText(v), AsText(args[0]), now))
}

// bilibiliPlayer is the function bilibili_player(now): it adds to a query what the
// site's player sends about the browser. now is in Unix seconds.
func bilibiliPlayer(v any, args []any) any {
	now, err := unixTime("bilibili_player", args[0])
	if err != nil {
		return err
	}
	return orError(signing.BilibiliPlayer(AsText(v), now))
}

// unixTime is the time that a function was called with.
func unixTime(function string, v any) (time.Time, error) {
	seconds, ok := v.(int)
	if !ok {
		return time.Time{}, fmt.Errorf("%s: expected Unix seconds, for example $now, got %s", function, gojq.TypeOf(v))
	}
	return time.Unix(int64(seconds), 0), nil
}

// douyinReflow is the function douyin_reflow(web_id): it encrypts the token of a share
// page.
func douyinReflow(v any, args []any) any {
	return orError(signing.DouyinReflow(AsText(v), AsText(args[0])))
}

// douyinPage is the function douyin_page: what the next request takes from a share
// page.
func douyinPage(page string) any {
	p, err := signing.ReadDouyinPage([]byte(page))
	if err != nil {
		return err
	}
	return map[string]any{"web_id": p.WebID, "user_ip": p.UserIP, "token": p.Token}
}

// lunarDate is the function lunar_date: a day, 2006-01-02, in the traditional Chinese
// calendar; null for a day beyond its table.
func lunarDate(date string) any {
	day, err := time.ParseInLocation(time.DateOnly, date, chinatime.Zone())
	if err != nil {
		return fmt.Errorf("lunar_date: expected a date, for example 2026-11-21, got %q", date)
	}
	name, _ := chinatime.Lunar(day)
	return NilIfEmpty(name)
}

// chinaTime is the function china_time: a time as services write it, in RFC 3339; null for what
// is none.
func chinaTime(v any) any {
	if at, ok := chinatime.Parse(AsText(v)); ok {
		return at.In(chinatime.Zone()).Format(time.RFC3339)
	}
	return nil
}

// chinaDate is the function china_date: its day, or that of a date; null for what is neither.
func chinaDate(v any) any {
	if day, ok := chinatime.ParseDay(AsText(v)); ok {
		return day.Format(time.DateOnly)
	}
	return nil
}

// orError returns the error of a function as its value, which is how gojq expects it.
func orError(s string, err error) any {
	if err != nil {
		return err
	}
	return s
}

// md5Hex is the function md5, which some services sign requests with.
func md5Hex(s string) any {
	sum := md5.Sum([]byte(s)) //nolint:gosec // the services demand it
	return hex.EncodeToString(sum[:])
}

// filled is the function filled: null for what says nothing. Services write that in many
// ways.
func filled(v any) any {
	switch s := v.(type) {
	case string:
		if s == "null" || strings.TrimSpace(s) == "" {
			return nil
		}
	case []any:
		if len(s) == 0 {
			return nil
		}
	case map[string]any:
		if len(s) == 0 {
			return nil
		}
	}
	return v
}

// toHTTPS is the function https: it makes http and protocol-relative links https.
func toHTTPS(v any) any {
	s, ok := v.(string)
	if !ok {
		return v
	}
	if rest, cut := strings.CutPrefix(s, "http://"); cut {
		return "https://" + rest
	}
	if strings.HasPrefix(s, "//") {
		return "https:" + s
	}
	return s
}

// webLink is the function web_link: an address as https makes it, or null for one that leads
// nowhere.
func webLink(v any) any {
	if s, ok := toHTTPS(v).(string); ok && fields.IsLink(s) {
		return s
	}
	return nil
}

// linkExpiry is the function link_expiry: when a signed link ends, in Unix seconds;
// null for a link that does not say, and for what is no link.
func linkExpiry(v any) any {
	link, _ := v.(string)
	if at, ok := signing.LinkExpiry(link); ok {
		return int(at.Unix())
	}
	return nil
}

// shareLink is the function share: what a share link says without a request.
func shareLink(text string) any {
	l, err := sharelink.Parse(text)
	if err != nil {
		return fmt.Errorf("share: %w", err)
	}
	return l.Data()
}

// plainText is the function html_text: HTML without tags, with entities decoded and
// white space collapsed. A tag that is cut off at the end is removed as well.
func plainText(v any) any {
	s, ok := v.(string)
	if !ok {
		return v
	}
	if at := strings.LastIndexByte(s, '<'); at >= 0 && !strings.Contains(s[at:], ">") {
		s = s[:at]
	}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(b.String()), " ")
		case html.TextToken:
			b.Write(z.Text())
		}
	}
}

// country is the function country: what a country's code says, in Chinese; an empty
// object for an unknown code.
func country(code string) any {
	name := geoip.CountryName(code)
	if name == "" {
		return map[string]any{}
	}
	continentCode, continent := geoip.Continent(code)
	return map[string]any{"country": name, "country_code": code, "continent": continent, "continent_code": continentCode}
}

// carriers is the function carriers: the carriers that a parcel with this number may
// belong to.
func carriers(id string) any {
	var out = []any{}
	for _, c := range tracking.Recognize(id) {
		out = append(out, map[string]any{"code": c.Code, "name": c.Name, "confidence": c.Confidence, "why": c.Why})
	}
	return out
}

// carrierName is the function carrier_name; null for an unknown code.
func carrierName(code string) any {
	if name, ok := tracking.Carrier(code); ok {
		return name
	}
	return nil
}

// trail is the function trail: it sorts events of {time, text, place, status}, newest
// first, and masks phone numbers in their texts. An unknown status is null.
func trail(v any) any {
	list, ok := v.([]any)
	if !ok {
		return fmt.Errorf("trail: expected an array of events, for example [{time, text, place, status}], got %s", gojq.TypeOf(v))
	}
	events := make([]tracking.Event, 0, len(list))
	for _, item := range list {
		m, _ := item.(map[string]any)
		at, err := tracking.ParseTime(AsText(m["time"]))
		if err != nil {
			return fmt.Errorf("trail: %w", err)
		}
		text, place, state := AsText(m["text"]), AsText(m["place"]), AsText(m["status"])
		if state == tracking.Unknown {
			state = ""
		}
		events = append(events, tracking.Event{Time: at, Text: tracking.MaskPhones(text), Place: place, State: state})
	}
	out := make([]any, 0, len(events))
	for _, e := range tracking.Sort(events) {
		out = append(out, map[string]any{
			"happened_at": e.Time.Format(time.RFC3339), "text": e.Text, "place": NilIfEmpty(e.Place), "status": NilIfEmpty(e.State),
		})
	}
	return out
}

// NilIfEmpty is the string, or nil for an empty one: null in JSON.
func NilIfEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// toKdniao is the function to_kdniao; null for a carrier that the service does not
// know.
func toKdniao(code string) any {
	if c, ok := tracking.ToKdniao(code); ok {
		return c
	}
	return nil
}
