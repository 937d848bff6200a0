package signing

import (
	"errors"
	"fmt"
	"html"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const webID = "7687000000000000146"

// share is a share page with a config, if it is not empty.
func share(config string) string {
	tcc := ""
	if config != "" {
		tcc = `<div id="douyin_reflow_tcc" tccconfig="` + html.EscapeString(config) + `"></div>`
	}
	return `<!DOCTYPE html><html><head><title>抖音</title><script>var t = '<div id="douyin_reflow_token" xsstoken="script">';</script>
<!-- <div id="douyin_reflow_token" xsstoken="comment"></div> --></head><body>
<div id='douyin_reflow_webId' webId=` + webID + ` usercip=192.0.2.1></div>
<div id="douyin_reflow_token" xsstoken="ed17286642009416be9e1edd3344be9c"></div>
<div id="newer" xsstoken="00000000000000000000000000000002"></div><p>text</p>` + tcc + `</body></html>`
}

func rule(ratio string) string {
	return `{"other":1,"token_encry_cooperation":{"fe_key":"douyin_reflow_token","new_fe_key":"newer","new_fe_key_ratio":` + ratio + `}}`
}

func TestReflowPage(t *testing.T) {
	const old, newer = "ed17286642009416be9e1edd3344be9c", "00000000000000000000000000000002"
	for config, token := range map[string]string{
		"": old, `{}`: old, `not JSON`: old, `{"token_encry_cooperation":null}`: old, `{"token_encry_cooperation":[]}`: old, `{"token_encry_cooperation":{}}`: old,
		rule("0"): old, rule("146"): old, rule("147"): newer, rule("1000"): newer, rule(`"147"`): newer, rule("146.5"): newer, rule("null"): old, rule(`"all"`): old, rule("-1"): old,
		`{"token_encry_cooperation":{"fe_key":"newer"}}`:                                                   newer,
		`{"token_encry_cooperation":{"fe_key":"newer","new_fe_key":"","new_fe_key_ratio":1000}}`:           newer,
		`{"token_encry_cooperation":{"fe_key":"","new_fe_key":"newer","new_fe_key_ratio":0}}`:              old,
		`{"token_encry_cooperation":{"new_fe_key":"douyin_reflow_token","new_fe_key_ratio":1000}} `:        old,
		`{"token_encry_cooperation":{"fe_key":"newer","new_fe_key":"x","new_fe_key_ratio":1},"a":"\"<>&"}`: newer,
	} {
		got, err := ReadDouyinPage([]byte(share(config)))
		if diff := cmp.Diff(DouyinPage{WebID: webID, UserIP: "192.0.2.1", Token: token}, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", config, err, diff)
		}
	}
}

func TestAttributesAreReadLikeABrowserDoes(t *testing.T) {
	want := DouyinPage{WebID: webID, UserIP: "2001:db8::1", Token: "a&b"}
	for _, page := range []string{
		`<DIV ID=douyin_reflow_webId WEBID=` + webID + ` UserCIP="2001:DB8:0::1"></DIV><div XssToken='a&amp;b' id=douyin_reflow_token>`,
		`<div usercip=2001:db8::1 webid = "` + webID + `" id = 'douyin_reflow_webId'/><meta id="douyin_reflow_token" xsstoken=a&amp;b />`,
		`<div id=douyin_reflow_webId webId=` + webID + ` webid=1 usercip=2001:db8::1><div id=douyin_reflow_token xsstoken=a&amp;b><div id=douyin_reflow_token xsstoken=second>`,
	} {
		got, err := ReadDouyinPage([]byte(page))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", page, err, diff)
		}
	}
}

func TestReflowPageErrors(t *testing.T) {
	with := func(old, put string) string { return strings.Replace(share(""), old, put, 1) }
	for name, tt := range map[string]struct {
		page string
		want error
	}{
		"empty":              {"", ErrNoWebID},
		"another page":       {"<html><body>hello</body></html>", ErrNoWebID},
		"undefined":          {with(webID, "undefined"), ErrNoWebID},
		"no web id":          {with("webId="+webID, ""), ErrNoWebID},
		"15 digits":          {with(webID, webID[:15]), ErrNoWebID},
		"21 digits":          {with(webID, webID+"00"), ErrNoWebID},
		"not digits":         {with(webID, "768700000000000014x"), ErrNoWebID},
		"no token":           {with(`xsstoken="ed17286642009416be9e1edd3344be9c"`, ""), ErrNoToken},
		"empty token":        {with("ed17286642009416be9e1edd3344be9c", ""), ErrNoToken},
		"token of two lines": {with("ed17", "ed\n17"), ErrNoToken},
		"element is missing": {share(strings.ReplaceAll(rule("1000"), "newer", "newest")), ErrNoToken},
		"many tokens before": {strings.Repeat(`<i id=x0 xsstoken=1>`, 9) + many(maxElements) + share(""), ErrNoWebID},
	} {
		if got, err := ReadDouyinPage([]byte(tt.page)); !errors.Is(err, tt.want) || got != (DouyinPage{}) {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
	if _, err := ReadDouyinPage(append([]byte(share("")), make([]byte, maxPage)...)); err == nil || errors.Is(err, ErrNoToken) || errors.Is(err, ErrNoWebID) {
		t.Errorf("too large: %v", err)
	}
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<i id=x%d xsstoken=1>", i)
	}
	return b.String()
}

func TestUserIPIsAnAddressOrEmpty(t *testing.T) {
	for in, want := range map[string]string{"192.0.2.1": "192.0.2.1", "undefined": "", "": "", "1.2.3.4&aid=1": "", "fe80::1%eth0": "", "2001:DB8::1": "2001:db8::1"} {
		page := strings.Replace(share(""), "usercip=192.0.2.1", `usercip="`+html.EscapeString(in)+`"`, 1)
		if got, err := ReadDouyinPage([]byte(page)); err != nil || got.UserIP != want {
			t.Errorf("%q: %q %v", in, got.UserIP, err)
		}
	}
}

func TestReflowID(t *testing.T) {
	for _, tt := range []struct{ token, webID, want string }{
		{"deployment-owned-token", "7687279813539268146", "X8NCQVYkntJfw5URyA+fE4FLWq2AWWzLErM+YZEWRWM="},
		{"0123456789abcdef0123456789abcdef", "7400000000000000123", "aQanRqUPlYVas7SrShozHFdlJBNnQJvkM5vKq82KQMC4eYPNHUVAIMhTzDZ6FEm7"},
		{"deployment-owned-token", "7687279813539268", "X8NCQVYkntJfw5URyA+fE4FLWq2AWWzLErM+YZEWRWM="}, // the rest of the id is not used
	} {
		if got, err := DouyinReflow(tt.token, tt.webID); err != nil || got != tt.want {
			t.Errorf("%s %s: %q %v", tt.token, tt.webID, got, err)
		}
	}
	for in, want := range map[[2]string]error{
		{"token", ""}: ErrNoWebID, {"token", "undefined"}: ErrNoWebID, {"token", "768727981353926"}: ErrNoWebID, {"token", "７６８７２７９８１３５３９２６８"}: ErrNoWebID,
		{"", webID}: ErrNoToken, {"a b", webID}: ErrNoToken, {strings.Repeat("x", 513), webID}: ErrNoToken, {"token\n", webID}: ErrNoToken,
	} {
		if got, err := DouyinReflow(in[0], in[1]); !errors.Is(err, want) || got != "" {
			t.Errorf("%q: %q %v", in, got, err)
		}
	}
}

func FuzzDouyinPage(f *testing.F) {
	f.Add([]byte(share("")))
	f.Add([]byte(share(rule("147"))))
	f.Add([]byte(`<div id=douyin_reflow_webId webId=undefined><div id= xsstoken=1><script>`))
	f.Fuzz(func(t *testing.T, page []byte) {
		p, err := ReadDouyinPage(page)
		if err != nil {
			if p != (DouyinPage{}) {
				t.Errorf("%v with %v", p, err)
			}
			return
		}
		if _, err := DouyinReflow(p.Token, p.WebID); err != nil {
			t.Errorf("%v does not make a reflow id: %v", p, err)
		}
	})
}
