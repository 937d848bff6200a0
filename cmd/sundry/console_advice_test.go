package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sundry/cache"
	"sundry/cache/advise"
	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
	"sundry/upstreams/lib/waittest"
)

// TestConsoleTunesATTL: what the slider shows is what the server predicts, on the curve and off
// it; the TTL is applied, and seen by a caller; so are the target and the autopilot.
func TestConsoleTunesATTL(t *testing.T) {
	t.Parallel()
	chromium(t)
	dir, data := catalogDir(t, newUpstream(t), "ttl: 40m, grace: 10m"), t.TempDir()
	keepExperience(t, dir, "own", data, &flags{})
	p := serveWith(t, keptIn(data), "--catalog", dir)
	asked := p.public + "/api/own"
	mustGet(t, asked)
	b := newBrowser(t, p.admin)
	b.named()
	b.tab("advice")
	b.text("tbody tr", "target 2 % old")
	b.text("tbody tr", "refreshes")
	b.text("tbody tr td:nth-child(2) .badge", "→")
	b.adviceOn("own")
	b.text("dialog .said", p.mustAsk(http.MethodGet, "endpoints/own/advice", "")["reason"].(string)[1:])
	b.until(`/now: TTL 40m, .* old; advised: TTL .*; seen: TTL 40m/.test(document.querySelector("dialog svg.large").getAttribute("aria-label"))`)
	b.until(`document.activeElement.name === "ttl" && document.activeElement.getAttribute("aria-valuetext") === "40 minutes"`)
	b.press(`dialog .buttons button`) // the advised one
	b.predicts(p)
	b.run(chromedp.Focus(chromedp.CSS("dialog input[name=ttl]")))
	b.keys(kb.PageDown, kb.ArrowLeft, kb.ArrowLeft)
	text, shorter := b.predicts(p)

	b.run(chromedp.SetValue(chromedp.CSS("dialog input[name=note]"), hostile))
	b.press("dialog button[type=submit]")
	b.outcome("own: ttl " + text)
	if age := time.Duration(ageOf(t, asked)) * time.Second; age > shorter || age < shorter/2 || shorter >= 40*time.Minute {
		t.Errorf("max-age=%v after %v was applied", age, shorter)
	}

	b.adviceOn("own")
	b.run(chromedp.SetValue(chromedp.CSS("dialog input[aria-label=Target]"), "0.5"), chromedp.Evaluate[chromedp.Void](`document.querySelector("dialog input[aria-label=Target]").onchange()`))
	b.until(`[...document.querySelectorAll("dialog text.target")].some((text) => text.textContent.includes("0.5 %"))`)
	b.run(chromedp.Focus(chromedp.CSS("dialog input[name=autopilot]")))
	b.keys(" ")
	b.press("dialog button[type=submit]")
	b.outcome("own: target old=0.5%, autopilot ")
	b.text("tbody tr", "target 0.5 % old")
	b.text("tbody tr .badge.live", "autopilot")
	b.tab("audit")
	b.text("tbody tr", "target old=0.5%")
	b.text("tbody tr:last-child", hostile)
	b.sound()
}

// TestConsoleSaysWhereTooLittleIsKnown: nothing was seen; a wrong target is refused beside its
// field; and a TTL is set for a while.
func TestConsoleSaysWhereTooLittleIsKnown(t *testing.T) {
	t.Parallel()
	chromium(t)
	p := serve(t, "--catalog", catalogDir(t, newUpstream(t), "ttl: 1h"))
	b := newBrowser(t, p.admin)
	b.named()
	b.tab("advice")
	b.text("tbody tr", "no refreshes yet")
	b.text("tbody tr td:nth-child(6)", "too few")
	b.adviceOn("own")
	b.text("dialog .empty", "No requests were seen")
	b.press("dialog button[type=submit]")
	b.text("dialog .error", "Nothing was changed")
	b.run(chromedp.SetValue(chromedp.CSS("dialog input[aria-label=Target]"), "200"))
	b.press("dialog button[type=submit]")
	b.text("dialog fieldset + .beside", "expected old=2%")
	b.forgive("status of 400")
	b.run(chromedp.SetValue(chromedp.CSS("dialog input[aria-label=Target]"), "3"),
		chromedp.SetValue(chromedp.CSS("dialog select[name=for]"), "other"),
		chromedp.Evaluate[chromedp.Void](`document.querySelector("dialog select[name=for]").onchange()`),
		chromedp.SetValue(chromedp.CSS(`dialog input[aria-label="Other duration"]`), "2s"))
	b.press("dialog button[type=submit]")
	b.outcome("own: target old=3% until ")
	waittest.Until(t, "the target of the file is in force again", func() bool {
		return p.mustAsk(http.MethodGet, "endpoints/own/advice", "")["target"] == "old=2%"
	})
	b.sound()
}

// keepExperience leaves beside a snapshot what was seen of an endpoint.
func keepExperience(t *testing.T, dir, endpoint, data string, f *flags) {
	t.Helper()
	e, ok := catalogOf(t, f, dir).Get(endpoint)
	if !ok {
		t.Fatalf("no endpoint %s", endpoint)
	}
	if err := experienced(e).WriteFile(filepath.Join(data, "advice")); err != nil {
		t.Fatal(err)
	}
}

// experienced is an observer that has seen the endpoint for four days under its rule: a request
// every ten seconds, and a content that changes at random, every twelve hours or so.
func experienced(e *catalog.Endpoint) *advise.Observer {
	o, chance, now := advise.NewObserver(), rand.New(rand.NewPCG(1, 2)), time.Now()
	begin, ttl := now.Add(-4*24*time.Hour), e.Policy.TTL
	o.Rules([]advise.InForce{{Space: e.Name, Policy: &e.Policy, Target: e.Target, Version: e.Version()}}, begin)
	born := begin
	for at := begin; at.Before(now); at = at.Add(10 * time.Second) {
		o.Requested(e.Name, 1, 1, at)
		if age := at.Sub(born); age >= ttl {
			changed := chance.ExpFloat64()*float64(12*time.Hour) < float64(age)
			o.Filled(cache.Filled{Space: e.Name, Key: 1, Source: "up", BeforeSource: "up", Before: born, At: at, Changed: changed})
			born = at
		}
	}
	return o
}

// predicts compares what the dialog shows with what the server predicts for its TTL, once
// both are about the same.
func (b *browser) predicts(p *instance) (text string, ttl time.Duration) {
	b.t.Helper()
	waittest.Until(b.t, "what is shown is what the server predicts", func() bool {
		shown, err := chromedp.Run(b.Context, chromedp.Evaluate[[]string](`[document.querySelector("dialog .slider output").textContent,
			...[...document.querySelectorAll("dialog .numbers tbody tr")].map((tr) => tr.cells[2].querySelector(".number").textContent)]`))
		if err != nil {
			b.t.Fatal(err)
		}
		text = shown[0]
		if ttl, err = declare.ParseDuration(text); err != nil {
			b.t.Fatal(err)
		}
		for _, r := range p.mustAsk(http.MethodGet, "endpoints/own/advice?ttl="+text, "")["rules"].([]any) {
			rule := r.(map[string]any)
			if rule["ttl_seconds"] != ttl.Seconds() {
				continue
			}
			b.t.Logf("%v: the server predicts %v", shown, rule)
			var percent, calls float64
			_, err1 := fmt.Sscanf(shown[1], "%g %%", &percent)
			_, err2 := fmt.Sscanf(shown[2], "%g/h", &calls)
			if strings.HasSuffix(shown[2], " a day") {
				calls /= 24
			}
			old, want := rule["older_ratio"].(float64), rule["calls_per_hour"].(float64)
			return err1 == nil && (err2 == nil || calls > 0) && math.Abs(calls-want) < 0.01*want && math.Abs(percent/100-old) < 0.02*old+1e-4
		}
		return false
	})
	return text, ttl
}

// adviceOn opens the advice on an endpoint.
func (b *browser) adviceOn(endpoint string) {
	b.t.Helper()
	b.press(`button[aria-label="Tune… ` + endpoint + `"]`)
	b.until(`document.getElementById("dialog").open`)
}

// named gives the console a name for the audit log.
func (b *browser) named() {
	b.t.Helper()
	b.press("#operator")
	b.keys("alice", kb.Enter)
	b.text("#operator", "alice")
}
