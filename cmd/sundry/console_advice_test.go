package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sundry/cache"
	"sundry/cache/advisor"
	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
	"sundry/upstreams/waittest"
)

// TestConsoleTunesARule: the slider is dragged, what that would change is shown, applied,
// and seen by a caller and by the autopilot; for a while, too.
func TestConsoleTunesARule(t *testing.T) {
	chromium(t)
	piloted := "cache: {warm: false}\nlimits: {rate: 0, queue_delay: 0s}\nendpoints: {own: {autopilot: {min: 1m, max: 2h}}}\n"
	p := serve(t, "--catalog", catalogDir(t, newUpstream(t), "ttl: 1h, grace: 10m"), "--config", write(t, t.TempDir(), "piloted.yaml", piloted))
	asked := p.public + "/api/own"
	for range 20 {
		mustGet(t, asked)
	}
	b := newBrowser(t, p.admin)
	b.named()
	b.tab("endpoints")
	b.adviceOn("own")
	b.text("dialog", "too little known")
	b.text("dialog .curve", "The curve appears when there are more")
	b.text("dialog .pilot", "Autopilot, from 1m to 2h")
	b.text("dialog .pilot .badge", "observing")
	b.until(`document.activeElement.name === "ttl" && document.activeElement.getAttribute("aria-valuetext") === "1 hour"`)
	b.drag("ttl", 0.25)
	text, shorter := b.ttl()
	if shorter <= 0 || shorter >= time.Hour {
		t.Fatalf("dragged to %v", shorter)
	}
	b.then("Upstream calls", `/^[×+] /`)
	b.then("Old answers", `/^–$/`) // nobody knows

	b.run(chromedp.SetValue(chromedp.CSS("dialog input[name=note]"), hostile))
	b.press("dialog button[type=submit]")
	b.outcome("own: ttl " + text)
	if age := time.Duration(ageOf(t, asked)) * time.Second; age > shorter || age < shorter/2 {
		t.Errorf("max-age=%v after %v was applied", age, shorter)
	}
	b.until(`document.querySelector("li.live")?.textContent.includes("` + text + `")`)

	b.adviceOn("own")
	b.text("dialog .came", "too little to judge by")
	b.text("dialog .pilot .badge", "left to the operator")
	b.keys(kb.End) // the longest
	b.run(chromedp.SetValue(chromedp.CSS("dialog select[name=for]"), "other"),
		chromedp.Evaluate[chromedp.Void](`document.querySelector("dialog select[name=for]").onchange()`),
		chromedp.SetValue(chromedp.CSS(`dialog input[aria-label="Other duration"]`), "2s"))
	b.then("Upstream calls", `/^− /`)
	longest, _ := b.ttl()
	b.press("dialog button[type=submit]")
	b.outcome("own: ttl " + longest + " until ")
	b.tab("audit")
	b.text("tbody tr", "ttl "+text+" → ttl "+longest+" until")
	b.text("tbody tr:last-child", hostile)
	waittest.Until(t, "the rule of the file is in force again", func() bool {
		age := time.Duration(ageOf(t, asked)) * time.Second
		return age > 50*time.Minute && age <= time.Hour
	})
	b.sound()
	if status, doc := p.ask(http.MethodPut, "endpoints/own/cache", `{"set":{"ttl":"2h"},"note":"`+strings.Repeat("长", 201)+`"}`); status != http.StatusBadRequest {
		t.Errorf("a reason without end: %d %v", status, doc)
	}
}

// TestConsoleShowsTheCurve: of an endpoint that is known; what the sliders show at rest is what
// the server predicts, also off the curve; and afterwards what came of it beside that.
func TestConsoleShowsTheCurve(t *testing.T) {
	chromium(t)
	dir, file := catalogDir(t, newUpstream(t), "ttl: 6m, grace: 10m"), filepath.Join(t.TempDir(), "snapshot")
	own, _ := catalogOf(t, &flags{}, dir).Get("own")
	if err := experienced(own).WriteFile(file+".advisor", time.Now()); err != nil {
		t.Fatal(err)
	}
	p := serveWith(t, keptIn(file), "--catalog", dir)
	asked := p.public + "/api/own"
	mustGet(t, asked)
	advice := p.mustAsk(http.MethodGet, "endpoints/own/advice", "")
	reason := advice["reason"].(map[string]any)
	b := newBrowser(t, p.admin)
	b.named()
	b.tab("endpoints")
	b.text(`button[aria-label^="ttl "] .curve`, "")
	b.adviceOn("own")
	b.text("dialog .said", reason["en"].(string)[:40])
	b.until(`/now: TTL 6m, .* recommended: TTL .* measured: TTL 6m/.test(document.querySelector("dialog svg.large").getAttribute("aria-label"))`)
	b.until(`document.querySelectorAll("dialog svg.large .stop").length === ` + strconv.Itoa(len(advice["curve"].([]any))))

	b.press(`dialog button[title="Move the sliders to the recommended rule"]`)
	b.then("Upstream calls", `/^− .* %$/`)
	b.then("Old answers", `/^\+ .* points$/`)
	b.predicts(p)
	b.run(chromedp.Focus(chromedp.CSS("dialog input[name=grace]")))
	b.keys(kb.Home)
	b.until(`document.activeElement.getAttribute("aria-valuetext") === "0 seconds"`)
	b.predicts(p)

	waittest.Until(t, "a simulation of the rule and others", func() bool { // a busy machine may refuse one
		b.press(`dialog button[title^="Simulate"]`)
		b.until(`document.querySelector("dialog .result :is(table, .error)")`)
		return b.is(`document.querySelector("dialog .result table")`)
	})
	b.forgive("status of 503")
	b.until(`["now", "recommended", "then"].every((word) => [...document.querySelectorAll("dialog .result .badge")].some((badge) => badge.lastChild.textContent === word))`)

	text, recommended := b.ttl()
	b.press("dialog button[type=submit]")
	b.outcome("own: ttl " + text + ", grace 0s")
	header, _ := mustGet(t, asked)
	if age := time.Duration(ageOf(t, asked)) * time.Second; age > recommended || strings.Contains(header.Get("Cache-Control"), "stale-while-revalidate") {
		t.Errorf("%s after a TTL of %s without grace was applied", header.Get("Cache-Control"), text)
	}
	b.adviceOn("own")
	b.until(`[...document.querySelectorAll("dialog .came th[scope=col]")].map((th) => th.textContent).join() === "Before,Predicted,Measured"`)
	b.text("dialog .came", "too little to judge by")
	b.sound()
}

// experienced is an advisor that has seen the endpoint for two days under its rule: a request
// every ten seconds, and a content that changes at random, every two hours or so.
func experienced(e *catalog.Endpoint) *advisor.Advisor {
	a, chance, now := advisor.New(advisor.Config{}), rand.New(rand.NewPCG(1, 2)), time.Now()
	begin := now.Add(-48 * time.Hour)
	a.InForce([]advisor.Question{{Space: e.Name, Policy: &e.Policy, Version: e.Version(), Now: begin}})
	for at := begin; at.Before(now); at = at.Add(10 * time.Second) {
		a.Requested(e.Name, 1, 1, at)
	}
	for at := begin; at.Before(now.Add(-7 * time.Minute)); {
		next := at.Add(6*time.Minute + time.Duration(chance.Int64N(int64(time.Minute))))
		a.Called(e.Name)
		a.Filled(cache.Filled{
			Space: e.Name, Key: 1, Source: "up", BeforeSource: "up", Before: at, At: next,
			Changed: chance.ExpFloat64()*float64(2*time.Hour) < float64(next.Sub(at)),
		})
		at = next
	}
	return a
}

// predicts compares what the dialog shows with what the server predicts for its rule, once
// both are about the same.
func (b *browser) predicts(p *instance) {
	b.t.Helper()
	type shown struct {
		TTL, Grace string
		Calls      float64
		Old        string
	}
	waittest.Until(b.t, "what is shown is what the server predicts", func() bool {
		s, err := chromedp.Run(b.Context, chromedp.Evaluate[shown](`(() => {
			const [ttl, grace] = [...document.querySelectorAll("dialog .slider output")].map((o) => o.textContent);
			const then = Object.fromEntries([...document.querySelectorAll("dialog .numbers tbody tr")].map((tr) => [tr.cells[0].textContent, tr.cells[2].textContent]));
			return {TTL: ttl, Grace: grace, Calls: parseFloat(then["Upstream calls"]) || 0, Old: then["Old answers"]};
		})()`))
		if err != nil {
			b.t.Fatal(err)
		}
		asked := p.mustAsk(http.MethodGet, "endpoints/own/advice?ttl="+s.TTL+"&grace="+s.Grace, "")["asked"].(map[string]any)
		calls, old := asked["calls_per_hour"].(float64), asked["old_share"].(float64)
		b.t.Logf("%+v: the server predicts %.3g calls an hour, %.3g old", s, calls, old)
		var percent float64
		_, err = fmt.Sscanf(s.Old, "%g %%", &percent)
		return err == nil && math.Abs(s.Calls-calls) < 0.01*calls && math.Abs(percent/100-old) < 0.01*max(old, 0.5)
	})
}

// adviceOn opens what the advisor says of an endpoint.
func (b *browser) adviceOn(endpoint string) {
	b.t.Helper()
	b.press(`button[aria-label$="advice for ` + endpoint + `"]`)
	b.until(`document.getElementById("dialog").open`)
}

// named gives the console a name for the audit log.
func (b *browser) named() {
	b.t.Helper()
	b.press("#operator")
	b.keys("alice", kb.Enter)
	b.text("#operator", "alice")
}

// drag moves a slider with the mouse, from where it is to a part of its length.
func (b *browser) drag(name string, to float64) {
	b.t.Helper()
	slider := `document.querySelector("dialog input[name=` + name + `]")`
	at := func(part string) (x, y float64) {
		place, err := chromedp.Run(b.Context, chromedp.Evaluate[[]float64](`(() => {
			const s = `+slider+`, r = (s.scrollIntoView({block: "center"}), s.getBoundingClientRect());
			return [r.left + 8 + (r.width - 16) * (`+part+`), r.top + r.height / 2];
		})()`))
		if err != nil {
			b.t.Fatal(err)
		}
		return place[0], place[1]
	}
	x, y := at("s.value / s.max")
	end, _ := at(strconv.FormatFloat(to, 'f', -1, 64))
	b.run(chromedp.DragAndDropXY(x, y, end, y))
}

// ttl is where the slider is, as the console writes it.
func (b *browser) ttl() (text string, d time.Duration) {
	b.t.Helper()
	text, err := chromedp.Run(b.Context, chromedp.Evaluate[string](`document.querySelector("dialog .slider output").textContent`))
	if err != nil {
		b.t.Fatal(err)
	}
	if d, err = declare.ParseDuration(text); err != nil {
		b.t.Fatal(err)
	}
	return text, d
}

// then waits until the server has said how a figure would change, and that matches.
func (b *browser) then(figure, pattern string) {
	b.t.Helper()
	b.until(`!document.querySelector("dialog .numbers [aria-busy]") && ` + pattern + `.test([...document.querySelectorAll("dialog .numbers tbody tr")].find((tr) => tr.cells[0].textContent === "` + figure + `")?.cells[3].textContent)`)
}
