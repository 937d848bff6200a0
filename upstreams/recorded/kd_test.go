package recorded

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sundry/cache"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/replay"
	"sundry/upstreams/words"
)

// parcels answers questions about parcels out of some recorded exchanges.
type parcels struct {
	t      *testing.T
	cases  []*replay.Exchange
	replay *replay.Network
	e      *catalog.Endpoint
	// asked are the sources of the last question with their results.
	asked map[string]string
}

func newParcels(t *testing.T) *parcels {
	t.Helper()
	network := replay.New(nil)
	env := testEnvironment(t, network)
	memory, err := cache.New(cache.Config{Memory: cache.MinMemory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = memory.Close() })
	env.StepCache = catalog.StepCache{Cache: memory}
	c, err := catalog.Load(catalog.Options{}, env)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := Exchanges(c, mustCases(t))
	if err != nil {
		t.Fatal(err)
	}
	e, ok := c.Get("kd")
	if !ok {
		t.Fatal("no endpoint kd")
	}
	return &parcels{t: t, cases: cases, replay: network, e: e}
}

// only leaves these exchanges, as in kuaidi100/good.
func (p *parcels) only(names ...string) {
	var chosen []*replay.Exchange
	for _, x := range p.cases {
		for _, name := range names {
			if x.Endpoint == "kd" && x.Source+"/"+x.Name == name {
				chosen = append(chosen, x)
			}
		}
	}
	if len(chosen) != len(names) {
		p.t.Fatalf("%d of the exchanges %v", len(chosen), names)
	}
	p.replay.Set(chosen)
}

func (p *parcels) ask(query string) (cache.Content, error) {
	p.t.Helper()
	in, bad := p.e.Parse(query, catalog.Caller{Addr: caller})
	if bad != nil {
		p.t.Fatal(bad)
	}
	p.asked = map[string]string{}
	return (&catalog.Fill{Input: in, Watch: func(a upstreams.Attempt) {
		p.asked[strings.TrimPrefix(a.Source, "replay:")] = a.Result
	}}).Load(p.t.Context(), false)
}

func TestParcelAsText(t *testing.T) {
	p := newParcels(t)
	p.only("kuaidi100/in-transit")
	c, err := p.ask("id=YT0000000000002&type=text")
	if err != nil {
		t.Fatal(err)
	}
	want := "圆通速递 YT0000000000002 运输中\n\n" +
		"2026-11-20 03:17:09  已到达 【杭州转运中心】\n" +
		"2026-11-19 19:02:41  【广州转运中心】已发出 下一站 【杭州转运中心】\n" +
		"2026-11-19 16:30:05  【广州示例公司】 取件人: 某快递员, 电话: 1**********，已揽收\n"
	if diff := cmp.Diff(want, string(c.Forms[1][0].Data)); diff != "" {
		t.Error(diff)
	}
}

// A parcel that has arrived is news for a day, one on its way for half an hour;
// neither is asked for again before.
func TestParcelIsFreshByItsState(t *testing.T) {
	for name, want := range map[string]time.Duration{"good": 24 * time.Hour, "sent-back": 24 * time.Hour, "in-transit": 30 * time.Minute, "locker": 30 * time.Minute} {
		p := newParcels(t)
		p.only("kuaidi100/" + name)
		c, err := p.ask("id=YT0000000000002")
		if err != nil {
			t.Fatal(err)
		}
		m := cache.Meta{Source: c.Source, Fresh: c.Fresh, Created: time.Now(), Spread: 255}
		if state, left := p.e.Policy.State(&m, m.Created.Add(want-time.Nanosecond)); state != cache.Fresh || left != time.Nanosecond {
			t.Errorf("%s: %v with %v left at the end of %v", name, state, left, want)
		}
		if state, _ := p.e.Policy.State(&m, m.Created.Add(want)); state != cache.Grace {
			t.Errorf("%s: %v after %v", name, state, want)
		}
	}
	if got := newParcels(t).e.Policy.Negative; got != 30*time.Minute {
		t.Errorf("no trail: kept for %v", got)
	}
}

// A service that said no is not asked again because another one failed, nor for
// digits of a phone that it has no use for.
func TestParcelIsNotAskedForTwice(t *testing.T) {
	p := newParcels(t)
	p.only("kuaidi100/no-trail", "uapis-key/no-trail")
	_, err := p.ask("id=YT0000000000001")
	if upstreams.KindOf(err) != upstreams.Unavailable || p.asked["kuaidi100"] != "negative" || p.asked["alimarket"] != "unavailable" || p.asked["uapis"] != "negative" {
		t.Fatalf("%v: %v", err, p.asked)
	}
	p.only("alimarket/no-trail-205", "kdniao/no-trail")
	c, err := p.ask("id=YT0000000000001")
	if err != nil || c.Negative == "" || p.asked["kuaidi100"] != "negative" || p.asked["uapis"] != "negative" {
		t.Errorf("%+v, %v: %v", c, err, p.asked)
	}
	p.only()
	c, err = p.ask("id=YT0000000000001&phone=1234")
	if err != nil || c.Negative == "" || p.asked["kuaidi100"] != "negative" {
		t.Errorf("with a phone number: %+v, %v: %v", c, err, p.asked)
	}
}

func TestNoSuchParcel(t *testing.T) {
	p := newParcels(t)
	unknown := words.Say("no tracking events were found for this number, which does not match the format of any known carrier",
		"没有查到这个单号的物流信息，单号不符合任何已知快递公司的格式")
	for query, want := range map[string]words.Text{
		"id=YT0000000000001": words.Say("no tracking events were found for this number; possible carriers: yuantong",
			"没有查到这个单号的物流信息；可能的快递公司：圆通速递"),
		"id=SF1234567890123": words.Say("no tracking events were found for this number; possible carriers: shunfeng; for shunfeng, add the last four digits of the sender's or the recipient's phone number, for example phone=1234",
			"没有查到这个单号的物流信息；可能的快递公司：顺丰速运；顺丰速运需加上寄件人或收件人手机号的后四位，例如 phone=1234"),
		"id=SF1234567890123&phone=9999": words.Say("no tracking events were found for this number; possible carriers: shunfeng",
			"没有查到这个单号的物流信息；可能的快递公司：顺丰速运"),
		"id=200000000001": words.Say("no tracking events were found for this number; possible carriers: shentong, zhongtong, shunfeng; for zhongtong, shunfeng, add the last four digits of the sender's or the recipient's phone number, for example phone=1234",
			"没有查到这个单号的物流信息；可能的快递公司：申通快递、中通快递、顺丰速运；中通快递、顺丰速运需加上寄件人或收件人手机号的后四位，例如 phone=1234"),
		"id=ABX12345678901":               unknown,
		"id=ABX12345678901ABX12345678901": unknown,
	} {
		in, bad := p.e.Parse(query, catalog.Caller{Addr: caller})
		if bad != nil {
			t.Fatal(bad)
		}
		got := p.e.NotFound(t.Context(), in.Call(time.Now()))
		if got != want {
			t.Errorf("%s: %q and %q, want %q and %q", query, got.EN(), got.ZH(), want.EN(), want.ZH())
		}
	}
}

// Nobody is asked for what only a phone's digits open.
func TestParcelThatWantsAPhone(t *testing.T) {
	p := newParcels(t)
	p.only()
	c, err := p.ask("id=SF1234567890123")
	if err != nil || !strings.Contains(c.Negative, "phone=1234") {
		t.Errorf("%+v, %v", c, err)
	}
	for source, result := range p.asked {
		if result != "skipped" {
			t.Errorf("%s: %s", source, result)
		}
	}
}

// Which sources are asked for which numbers.
func TestWhoIsAskedForAParcel(t *testing.T) {
	p := newParcels(t)
	p.only()
	for query, want := range map[string]string{
		"id=YT0000000000001":                       "kuaidi100 alimarket kdniao uapis-key uapis",
		"id=200000000001":                          "kuaidi100 alimarket kdniao uapis-key uapis",
		"id=LP00123456789012":                      "alimarket uapis-key uapis cainiao",
		"id=RX001122337DE":                         "kuaidi100 alimarket uapis-key uapis cainiao",
		"id=AB123456785ZW":                         "kuaidi100 alimarket uapis-key uapis cainiao",
		"id=ABX12345678901":                        "kuaidi100 alimarket uapis-key uapis cainiao",
		"id=1234567":                               "kuaidi100 alimarket uapis-key uapis",
		"id=ABX" + strings.Repeat("1234567890", 3): "alimarket uapis-key uapis cainiao",
		"id=SF1234567890123":                       "",
		"id=SF1234567890123&phone=0000":            "kuaidi100 alimarket kdniao uapis-key uapis",
		"id=73000000000001&phone=":                 "", // likely 中通's, which requires the digits
		"id=73000000000001&phone=1234":             "kuaidi100 alimarket kdniao uapis-key uapis",
		"id=83000000000001":                        "kuaidi100 alimarket uapis-key uapis",
	} {
		_, _ = p.ask(query) // none has an answer
		var asked []string
		for _, s := range p.e.Sources() {
			name := strings.TrimPrefix(s.Name, "replay:")
			if p.asked[name] != "skipped" {
				asked = append(asked, name)
			}
		}
		if got := strings.Join(asked, " "); got != want {
			t.Errorf("%s: asked %q, want %q", query, got, want)
		}
	}
}

// A wrong phone number is the caller's mistake, and is named; nobody else is asked
// with it.
func TestParcelWithAWrongPhone(t *testing.T) {
	for _, source := range []string{"kuaidi100", "kdniao"} {
		p := newParcels(t)
		p.only(source + "/another-phone")
		_, err := p.ask("id=SF1234567890123&phone=9999")
		var typed *upstreams.Error
		if !errors.As(err, &typed) || typed.Kind != upstreams.Invalid || typed.Parameter != "phone" || !strings.Contains(typed.Message.EN(), "for example 1234") || !strings.Contains(typed.Message.ZH(), "例如 1234") {
			t.Errorf("%s: %v, parameter and message of %+v", source, err, typed)
		}
		if _, asked := p.asked["uapis"]; asked {
			t.Errorf("%s: asked %v", source, p.asked)
		}
	}
}

// What was asked with the digits of a phone number is not for shared caches.
func TestParcelAskedForWithAPhoneIsPrivate(t *testing.T) {
	p := newParcels(t)
	for query, want := range map[string]bool{"id=SF1234567890123&phone=0123": true, "id=SF1234567890123": false, "id=YT0000000000001&phone=": false} {
		in, bad := p.e.Parse(query, catalog.Caller{Addr: caller})
		if bad != nil || in.Private != want {
			t.Errorf("%s: private %v, want %v: %v", query, in.Private, want, bad)
		}
	}
}
