package kinds

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/replay"
)

func TestOptionalSteps(t *testing.T) {
	url := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			<-r.Context().Done()
		case "/gone":
			http.NotFound(w, r)
		case "/text":
			fmt.Fprint(w, "no JSON")
		default:
			fmt.Fprint(w, `{"a":1}`)
		}
	})
	env := environment(t)
	for step, want := range map[string]string{
		"optional: true, http: {url: " + url + "/good}":                   "map[a:1]",
		"optional: true, http: {url: " + url + "/gone}":                   "<nil>",
		"optional: true, http: {url: " + url + "/text}":                   "<nil>",
		"optional: true, timeout: 20ms, http: {url: " + url + "/slow}":    "<nil>",
		"optional: true, http: {url: " + url + "/good}, keep: .a.b":       "<nil>",
		"http: {url: " + url + "/gone}":                                   upstreams.Unavailable.String(),
		"timeout: 20ms, http: {url: " + url + "/slow}":                    upstreams.Timeout.String(),
		"optional: true, timeout: 20s, http: {url: " + url + "/slow}":     upstreams.Timeout.String(), // it used up the source's time
		`optional: true, vars: {x: error}, http: {url: ` + url + `/good}`: upstreams.Malformed.String(),
	} {
		s := compile(t, env, "name: one\ntimeout: 300ms\nbefore: [{name: first, "+step+"}]\ncomputed: {}\nmap: '{first: $vars.first}'")
		a, err := s.Probe(t.Context(), &upstreams.Call{Now: time.Now()}, nil)
		got := upstreams.KindOf(err).String()
		if err == nil {
			got = fmt.Sprint(a.Data.(map[string]any)["first"])
		}
		if got != want {
			t.Errorf("%s: %s (%v), want %s", step, got, err, want)
		}
	}
}

func TestHeadersAreSeenByPrograms(t *testing.T) {
	url := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Verify", r.URL.Query().Get("v"))
		fmt.Fprint(w, `{}`)
	})
	env := environment(t)
	text := `
name: one
http: {url: ` + url + `/, query: {v: "{n}"}}
judge: [{if: '$headers["x-verify"] == "yes"', is: limited}]
map: '{said: $headers["x-verify"], nothing: $headers["x-other"]}'
`
	s := compile(t, env, text, "n")
	if _, err := s.Probe(t.Context(), &upstreams.Call{Params: map[string]any{"n": "yes"}}, nil); upstreams.KindOf(err) != upstreams.Limited {
		t.Errorf("%v, want limited", err)
	}
	a, err := ask(t, env, s, map[string]any{"n": "no"})
	if err != nil || fmt.Sprint(a.Data) != "map[nothing:<nil> said:no]" {
		t.Errorf("%v %v", a.Data, err)
	}
}

// TestRedirectsThatAreNotFollowed have no body that must be of a form.
func TestRedirectsThatAreNotFollowed(t *testing.T) {
	url := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.WriteHeader(http.StatusFound)
	})
	env := environment(t)
	s := compile(t, env, `
name: one
http: {url: `+url+`/, query: {to: "{n}"}, redirects: none, decode: script, marker: window.STATE}
judge:
  - {status: [302], if: '$location | test("^/404")', is: negative}
  - {status: [302], if: '. == null and ($location | test("captcha"))', is: limited}
`, "n")
	for to, want := range map[string]upstreams.Kind{"/404?x=1": upstreams.Negative, "/login/captcha": upstreams.Limited, "/": upstreams.Malformed} {
		if _, err := s.Probe(t.Context(), &upstreams.Call{Params: map[string]any{"n": to}}, nil); upstreams.KindOf(err) != want {
			t.Errorf("%s: %v, want %s", to, err, want)
		}
	}
}

func TestWhatAShareLinkIsIsJudged(t *testing.T) {
	env := environment(t)
	s := compile(t, env, `
name: one
before:
  - name: link
    share: $params.url
    judge:
      - {if: .kind == "opus", is: negative}
      - {if: .platform != "bilibili", is: skipped}
computed: {}
map: '{id: $vars.link.id}'
`, "url")
	for link, want := range map[string]string{
		"https://www.bilibili.com/video/BV1xx411c7mD":        "BV1xx411c7mD",
		"https://www.bilibili.com/opus/1123456789012345678":  upstreams.Negative.String(),
		"https://www.douyin.com/video/7412345678901234567":   upstreams.Skipped.String(),
		"https://example.org/a link of no platform whatever": upstreams.Malformed.String(),
	} {
		a, err := s.Probe(t.Context(), &upstreams.Call{Params: map[string]any{"url": link}}, nil)
		got := upstreams.KindOf(err).String()
		if err == nil {
			got = a.Data.(map[string]any)["id"].(string)
		}
		if got != want {
			t.Errorf("%s: %s (%v), want %s", link, got, err, want)
		}
	}
}

// TestShortLinksAreJudgedByWhereTheyLead asks a replay, since short links' hosts
// are on the internet.
func TestShortLinksAreJudgedByWhereTheyLead(t *testing.T) {
	env, keeper := environment(t), &memory{kept: map[string]any{}}
	network := replay.New(nil)
	env.Replay, env.Keeper = network, keeper
	s := compile(t, env, `
name: one
before:
  - {name: link, share: $params.url, for: 1h, judge: [{if: .kind == "opus", is: negative}]}
computed: {}
map: '{id: $vars.link.id}'
`, "url")
	lead := func(to string) {
		keeper.forget()
		network.Set([]*replay.Exchange{{Endpoint: "test", Source: "one", Name: "good", Want: "success",
			Steps: []replay.Step{{Of: "link", Status: http.StatusFound, Header: http.Header{"Location": {to}}}}}})
	}
	lead("https://www.bilibili.com/opus/1123456789012345678")
	for range 2 { // the second time from memory
		if _, err := ask(t, env, s, map[string]any{"url": "https://b23.tv/abc"}); upstreams.KindOf(err) != upstreams.Negative || !strings.Contains(err.Error(), "replay:one: negative") {
			t.Errorf("%v, want negative", err)
		}
	}
	lead("https://www.bilibili.com/video/BV1xx411c7mD")
	a, err := ask(t, env, s, map[string]any{"url": "https://b23.tv/abc"})
	if err != nil || a.Data.(map[string]any)["id"] != "BV1xx411c7mD" {
		t.Errorf("%v %v", a.Data, err)
	}
}
