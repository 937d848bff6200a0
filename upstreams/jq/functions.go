package jq

import (
	"crypto/md5" //nolint:gosec // what those services ask for
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
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

// Function describes a function that programs may call beside those of jq.
type Function struct {
	// Call is how it is called, with its parameters.
	Call string
	// About says what it makes of its input.
	About string
	// Example is a program that calls it, and Result what that emits, in JSON; "" where
	// it depends on the time or on a long input.
	Example, Result string
	// call gets its input and its arguments. An error is a value.
	call func(v any, args []any) any
}

// name is that of its Call.
func (f *Function) name() string {
	name, _, _ := strings.Cut(f.Call, "(")
	return name
}

// option makes the function known to gojq.
func (f *Function) option() gojq.CompilerOption {
	return gojq.WithFunction(f.name(), f.arguments(), f.arguments(), f.call)
}

// arguments is how many its Call has.
func (f *Function) arguments() int {
	if !strings.Contains(f.Call, "(") {
		return 0
	}
	return 1 + strings.Count(f.Call, ";")
}

// Functions are what programs may call beside the built-in functions of jq. Each is a
// small Go function for something that jq cannot do: signing, decoding, recognizing.
// A value of the wrong type is an error that says so.
func Functions() []Function {
	return []Function{
		{"filled", "The value, or null for one that says nothing: a blank text, the text null, an empty list or object.", `[" ", "null", [], "a"] | map(filled)`, `[null,null,null,"a"]`,
			plain(filled)},
		{"https", "Makes http and protocol-relative links https; leaves any other value as it is.", `"//img.example.org/a.png" | https`, `"https://img.example.org/a.png"`,
			plain(toHTTPS)},
		{"web_link", "An address as `https` makes it, or null for what is none: a path, a text without a host, an address with a null in it.", `["http://img.example.org/a.png", "/a.png", "https://example.org/null.png"] | map(web_link)`, `["https://img.example.org/a.png",null,null]`,
			plain(webLink)},
		{"html_text", "HTML without tags, with entities decoded and white space collapsed.", `"<p>Fish &amp;\n chips</p>" | html_text`, `"Fish & chips"`,
			plain(plainText)},
		{"china_time", "A time in China, in RFC 3339, of what services write: `2026-11-21 08:00:00`, also with / or 年月日 for - or with a zone, the times of RFC 3339 and RFC 1123, Unix seconds and milliseconds; null for what is none of these.", `["2026/11/21 8:00", 1795219200000, "Sat, 21 Nov 2026 00:00:00 GMT", "soon"] | map(china_time)`, `["2026-11-21T08:00:00+08:00","2026-11-21T08:00:00+08:00","2026-11-21T08:00:00+08:00",null]`,
			plain(chinaTime)},
		{"china_date", "The day of such a time in China, or a date: `2026/11/21`, `2026年11月21日`, `20261121`; null for what is neither.", `["2026年1月2日", "20260102", "2026-01-01T20:00:00Z"] | map(china_date)`, `["2026-01-02","2026-01-02","2026-01-02"]`,
			plain(chinaDate)},
		{"md5", "The MD5 sum of a text in hexadecimal, which some services sign requests with.", `"a" | md5`, `"0cc175b9c0f1b6a831c399e269772661"`,
			ofText("md5", func(s string) any { sum := md5.Sum([]byte(s)); return hex.EncodeToString(sum[:]) })}, //nolint:gosec // the services demand it
		{"share", "What a share link of a video platform says without a request: {platform, id, kind, url, extra}. An error for other texts.", `"https://www.bilibili.com/video/BV1GJ411x7h7" | share | .platform`, `"bilibili"`,
			ofText("share", shareLink)},
		{"wbi_key(img; sub)", "The key that signs queries to Bilibili, of the names of two pictures.", `wbi_key("7cd084941338484aae1ad9425b84077c"; "4932caff0ff746eab6f01bf08b70ac45")`, `"ea1db124af3c7062474693fa704f4ff8"`,
			func(_ any, args []any) any { return orError(signing.WBIKey(AsText(args[0]), AsText(args[1]))) }},
		{"wbi_sign(key; now)", "A query string, signed for Bilibili.", `"bvid=BV1GJ411x7h7" | wbi_sign($vars.key; $now)`, "",
			wbiSign},
		{"bilibili_player(now)", "A query string with what Bilibili's player says about the browser.", `"bvid=BV1GJ411x7h7" | bilibili_player($now)`, "",
			bilibiliPlayer},
		{"twitter_token", "The token with which X is asked for an embedded post, of the post's number.", `"1790000000000000000" | twitter_token`, "",
			ofText("twitter_token", func(id string) any { return orError(signing.TwitterToken(id)) })},
		{"country", "What a country's code of two letters says, in Chinese: {country, country_code, continent, continent_code}; an empty object for an unknown one.", `"US" | country | .country_code`, `"US"`,
			ofText("country", country)},
		{"lunar_date", "A day, 2006-01-02, in the traditional Chinese calendar; null for a day beyond its table.", `"2026-02-17" | lunar_date`, `"丙午年正月初一"`,
			ofText("lunar_date", lunarDate)},
		{"link_expiry", "When a signed link to a file ends, in Unix seconds; null for a link that does not say.", `"https://v.example.org/a.mp4?deadline=1795219200" | link_expiry`, "1795219200",
			plain(linkExpiry)},
		{"douyin_page", "What the next request takes from a share page of Douyin: {web_id, user_ip, token}.", `.page | douyin_page`, "",
			ofText("douyin_page", douyinPage)},
		{"douyin_reflow(web_id)", "The token of such a page, encrypted.", `.token | douyin_reflow(.web_id)`, "",
			func(v any, args []any) any { return orError(signing.DouyinReflow(AsText(v), AsText(args[0]))) }},
		{"carriers", "The carriers that a parcel with this number may belong to: [{code, name, confidence, why}].", `"SF1234567890123" | carriers | .[0].code`, `"shunfeng"`,
			ofText("carriers", carriers)},
		{"carrier_name", "The name of a carrier's code; null for an unknown one.", `"shunfeng" | carrier_name`, `"顺丰速运"`,
			ofText("carrier_name", func(code string) any { return ifKnown(tracking.Carrier(code)) })},
		{"needs_phone", "Whether a carrier asks for the last digits of a phone number.", `"shunfeng" | needs_phone`, "true",
			ofText("needs_phone", func(code string) any { return tracking.NeedsPhone(code) })},
		{"to_kdniao", "A carrier's code in the words of kdniao; null for one it does not know.", `"shunfeng" | to_kdniao`, `"SF"`,
			ofText("to_kdniao", func(code string) any { return ifKnown(tracking.ToKdniao(code)) })},
		{"from_kdniao", "The code of a carrier that kdniao names; null for an unknown one.", `"SF" | from_kdniao`, `"shunfeng"`,
			ofText("from_kdniao", func(code string) any { return NilIfEmpty(tracking.FromKdniao(code)) })},
		{"from_ali", "The code of a carrier that Alibaba's services name; null for an unknown one.", `"SFEXPRESS" | from_ali`, `"shunfeng"`,
			ofText("from_ali", func(code string) any { return NilIfEmpty(tracking.FromAli(code)) })},
		{"kuaidi100_state", "A parcel's state, of kuaidi100's.", `"3" | kuaidi100_state`, `"delivered"`,
			plain(func(v any) any { return tracking.FromKuaidi100(AsText(v)) })},
		{"kdniao_state(detail)", "A parcel's state, of kdniao's two.", `"3" | kdniao_state("")`, `"delivered"`,
			func(v any, args []any) any { return tracking.FromKdniaoState(AsText(v), AsText(args[0])) }},
		{"ali_state", "A parcel's state, of Alibaba's.", `"3" | ali_state`, `"delivered"`,
			plain(func(v any) any { return tracking.FromAliStatus(AsText(v)) })},
		{"cainiao_state", "A parcel's state, of Cainiao's.", `"DELIVERED" | cainiao_state`, `"delivered"`,
			plain(func(v any) any { return tracking.FromCainiao(AsText(v)) })},
		{"trail_state", "A parcel's state, of the text of its last event.", `"快件已签收" | trail_state`, `"delivered"`,
			ofText("trail_state", func(text string) any { return tracking.State(text) })},
		{"state_name", "The Chinese name of a parcel's state.", `"delivered" | state_name`, `"已签收"`,
			ofText("state_name", func(state string) any { return tracking.StateName(state) })},
		{"trail", "Sorts events {time, text, place}, newest first, and masks phone numbers.", `[{time: "2026-01-02 03:04:05", text: "已揽收"}] | trail | .[0].text`, `"已揽收"`,
			plain(trail)},
	}
}

// functions make them known to gojq, by their signatures.
var functions = sync.OnceValue(func() map[string]gojq.CompilerOption {
	options := map[string]gojq.CompilerOption{}
	for _, f := range Functions() {
		options[signature(f.name(), f.arguments())] = f.option()
	}
	return options
})

// functionsOf make those known that a program and its defs call: all of them would take
// longer than most programs do.
func functionsOf(own *facts, defs []*def) (options []gojq.CompilerOption) {
	for name, option := range functions() {
		if own.calls[name] || slices.ContainsFunc(defs, func(f *def) bool { return f.facts.calls[name] }) {
			options = append(options, option)
		}
	}
	return options
}

// plain is a function of a value of any type.
func plain(f func(any) any) func(any, []any) any {
	return func(v any, _ []any) any { return f(v) }
}

// ofText is a function of a string.
func ofText(name string, f func(string) any) func(any, []any) any {
	return func(v any, _ []any) any {
		s, ok := v.(string)
		if !ok {
			return fmt.Errorf("%s: expected a string, got %s", name, gojq.TypeOf(v))
		}
		return f(s)
	}
}

func wbiSign(v any, args []any) any {
	now, err := unixTime("wbi_sign", args[1])
	if err != nil {
		return err
	}
	return orError(signing.WBISign(AsText(v), AsText(args[0]), now))
}

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

func douyinPage(page string) any {
	p, err := signing.ReadDouyinPage([]byte(page))
	if err != nil {
		return err
	}
	return map[string]any{"web_id": p.WebID, "user_ip": p.UserIP, "token": p.Token}
}

func lunarDate(date string) any {
	day, err := time.ParseInLocation(time.DateOnly, date, chinatime.Zone())
	if err != nil {
		return fmt.Errorf("lunar_date: expected a date, for example 2026-11-21, got %q", date)
	}
	name, _ := chinatime.Lunar(day)
	return NilIfEmpty(name)
}

func chinaTime(v any) any {
	if at, ok := chinatime.Parse(AsText(v)); ok {
		return at.In(chinatime.Zone()).Format(time.RFC3339)
	}
	return nil
}

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

func webLink(v any) any {
	if s, ok := toHTTPS(v).(string); ok && fields.IsLink(s) {
		return s
	}
	return nil
}

func linkExpiry(v any) any {
	link, _ := v.(string)
	if at, ok := signing.LinkExpiry(link); ok {
		return int(at.Unix())
	}
	return nil
}

func shareLink(text string) any {
	l, err := sharelink.Parse(text)
	if err != nil {
		return fmt.Errorf("share: %w", err)
	}
	return l.Data()
}

func plainText(v any) any {
	s, ok := v.(string)
	if !ok {
		return v
	}
	if at := strings.LastIndexByte(s, '<'); at >= 0 && !strings.Contains(s[at:], ">") { // a tag that is cut off
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

func country(code string) any {
	name := geoip.CountryName(code)
	if name == "" {
		return map[string]any{}
	}
	continentCode, continent := geoip.Continent(code)
	return map[string]any{"country": name, "country_code": code, "continent": continent, "continent_code": continentCode}
}

func carriers(id string) any {
	var out = []any{}
	for _, c := range tracking.Recognize(id) {
		out = append(out, map[string]any{"code": c.Code, "name": c.Name, "confidence": c.Confidence, "why": c.Why})
	}
	return out
}

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

// ifKnown is the string, or nil where it is not known.
func ifKnown(s string, known bool) any {
	if !known {
		return nil
	}
	return s
}
