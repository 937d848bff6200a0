package jq

import (
	"crypto/md5" //nolint:gosec // what those services ask for
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/itchyny/gojq"
	"golang.org/x/net/html"

	"sundry/upstreams/bilibili"
	"sundry/upstreams/douyin"
	"sundry/upstreams/sharelink"
	"sundry/upstreams/waybill"
)

// functions are what programs may call beside jq's own. Each is a small
// function of Go's, because jq cannot say it: signing, decoding, recognising.
// One that gets something of the wrong type says so.
func functions() []gojq.CompilerOption {
	options := make([]gojq.CompilerOption, 0, 32)
	for name, f := range plainFunctions() {
		options = append(options, gojq.WithFunction(name, 0, 0, func(v any, _ []any) any { return f(v) }))
	}
	for name, f := range textFunctions() {
		options = append(options, gojq.WithFunction(name, 0, 0, func(v any, _ []any) any { return ofText(name, v, f) }))
	}
	return append(options,
		gojq.WithFunction("wbi_key", 2, 2, wbiKey),
		gojq.WithFunction("wbi_sign", 2, 2, wbiSign),
		gojq.WithFunction("douyin_reflow", 1, 1, douyinReflow),
		gojq.WithFunction("kdniao_state", 1, 1, func(v any, args []any) any { return waybill.FromKdniaoState(AsText(v), AsText(args[0])) }),
	)
}

// plainFunctions take a value of any type.
func plainFunctions() map[string]func(any) any {
	return map[string]func(any) any{
		"https": upgrade, "html_text": plainText, "trail": trail,
		"kuaidi100_state": func(v any) any { return waybill.FromKuaidi100(AsText(v)) },
		"ali_state":       func(v any) any { return waybill.FromAliStatus(AsText(v)) },
		"cainiao_state":   func(v any) any { return waybill.FromCainiao(AsText(v)) },
	}
}

// textFunctions take a text.
func textFunctions() map[string]func(string) any {
	return map[string]func(string) any{
		"md5": Md5Hex, "share": shareLink, "douyin_page": douyinPage,
		"carriers": carriers, "carrier_name": carrierName, "to_kdniao": toKdniao,
		"needs_phone": func(code string) any { return waybill.NeedsPhone(code) },
		"from_kdniao": func(code string) any { return OrNil(waybill.FromKdniao(code)) },
		"from_ali":    func(code string) any { return OrNil(waybill.FromAli(code)) },
		"trail_state": func(text string) any { return waybill.State(text) },
		"state_name":  func(state string) any { return waybill.StateName(state) },
	}
}

// ofText calls a function of texts.
func ofText(name string, v any, f func(string) any) any {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("%s: want a text, got %s", name, gojq.TypeOf(v))
	}
	return f(s)
}

// wbiKey makes the key that signs queries to Bilibili: wbi_key(img; sub).
func wbiKey(_ any, args []any) any {
	return orError(bilibili.MixinKey(AsText(args[0]), AsText(args[1])))
}

// wbiSign signs a query: wbi_sign(key; now).
func wbiSign(v any, args []any) any {
	now, ok := args[1].(int)
	if !ok {
		return fmt.Errorf("wbi_sign: want unix seconds, got %s", gojq.TypeOf(args[1]))
	}
	return orError(bilibili.Sign(AsText(v), AsText(args[0]), time.Unix(int64(now), 0)))
}

// douyinReflow seals a token of a share page: douyin_reflow(web_id).
func douyinReflow(v any, args []any) any { return orError(douyin.ReflowID(AsText(v), AsText(args[0]))) }

// douyinPage reads what a share page holds for the request that follows it.
func douyinPage(page string) any {
	p, err := douyin.ReflowPage([]byte(page))
	if err != nil {
		return err
	}
	return map[string]any{"web_id": p.WebID, "user_ip": p.UserIP, "token": p.Token}
}

// orError is how functions of programs fail.
func orError(s string, err error) any {
	if err != nil {
		return err
	}
	return s
}

// Md5Hex is what some services sign requests with.
func Md5Hex(s string) any {
	sum := md5.Sum([]byte(s)) //nolint:gosec // it protects nothing of ours
	return hex.EncodeToString(sum[:])
}

// upgrade makes http and protocol-relative links https.
func upgrade(v any) any {
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

// shareLink is the function share: what a share link says by itself.
func shareLink(text string) any {
	l, err := sharelink.Parse(text)
	if err != nil {
		return fmt.Errorf("share: %w", err)
	}
	return l.Data()
}

// plainText makes text of HTML: no tags, entities decoded, white space
// collapsed. A tag that was cut off at the end is dropped as well.
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

// carriers is the function carriers: who may have a parcel of this number.
func carriers(id string) any {
	var out = []any{}
	for _, c := range waybill.Recognize(id) {
		out = append(out, map[string]any{"code": c.Code, "name": c.Name, "confidence": c.Confidence, "why": c.Why})
	}
	return out
}

// carrierName is the function carrier_name; null for a code that is not known.
func carrierName(code string) any {
	if name, ok := waybill.Carrier(code); ok {
		return name
	}
	return nil
}

// trail is the function trail: events of {time, text, place} as they came, made
// one trail, newest first. Phone numbers in it are masked.
func trail(v any) any {
	list, ok := v.([]any)
	if !ok {
		return fmt.Errorf("trail: want an array of events, got %T", v)
	}
	events := make([]waybill.Event, 0, len(list))
	for _, item := range list {
		m, _ := item.(map[string]any)
		at, err := waybill.ParseTime(AsText(m["time"]))
		if err != nil {
			return fmt.Errorf("trail: %w", err)
		}
		text, place := AsText(m["text"]), AsText(m["place"])
		events = append(events, waybill.Event{Time: at, Text: waybill.MaskPhones(text), Place: place})
	}
	out := make([]any, 0, len(events))
	for _, e := range waybill.Sort(events) {
		out = append(out, map[string]any{"time": e.Time.Format(time.RFC3339), "text": e.Text, "place": OrNil(e.Place)})
	}
	return out
}

// OrNil is the string, or nil for an empty one: null in JSON.
func OrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// toKdniao is the function to_kdniao; null where the service has no code.
func toKdniao(code string) any {
	if c, ok := waybill.ToKdniao(code); ok {
		return c
	}
	return nil
}
