package pages

import (
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	cdp "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"sundry/proxy/browsertest"
	"sundry/proxy/site/i18n"
	"sundry/proxy/site/status"
	"sundry/upstreams/catalog"
)

// statusAt is when the reports of these tests are made.
var statusAt = time.Date(2026, 3, 2, 10, 20, 30, 0, time.UTC)

// reportOf makes a report of the endpoints of a catalog. days says how the days of the endpoint went, the oldest
// first: w worked, s got older responses, f failed, m a tenth failed, t too few to be drawn, and - nobody asked. What the
// last day says began an hour ago.
func reportOf(c *catalog.Catalog, days func(name string) string) *status.Report {
	r := &status.Record{Seed: "seed", Since: statusAt.AddDate(0, 0, -80)}
	var subjects []status.Subject
	for _, name := range namesIn(c) {
		subjects = append(subjects, status.Subject{Name: name})
	}
	for ago := status.Days; ago >= 0; ago-- {
		for n := range 13 {
			at := statusAt.AddDate(0, 0, -ago).Add(time.Duration(n-12) * 5 * time.Minute)
			for _, s := range subjects {
				if all := days(s.Name); ago < len(all) {
					r.Add(s.Name, at, map[byte]status.Tally{'w': {2000, 0, 0}, 's': {400, 1600, 0}, 'm': {1800, 0, 200}, 't': {1999, 0, 1}, 'f': {0, 0, 2000}}[all[len(all)-1-ago]])
				}
			}
			r.Judge(at)
		}
	}
	report := status.Of(&status.View{}, r, statusAt, subjects)
	return &report
}

// namesIn are those of endpoints and APIs.
func namesIn(c *catalog.Catalog) (names []string) {
	for _, e := range c.Endpoints {
		names = append(names, e.Name)
	}
	for _, a := range c.APIs {
		names = append(names, a.Name)
	}
	return names
}

// goes is a time like many: some endpoints have trouble, two are not asked for.
func goes(name string) string {
	switch name {
	case "ip":
		return strings.Repeat("w", 60) + "mwwwwwwwwtwsswwwwwwwwf"
	case "60s":
		return strings.Repeat("w", 70) + "ss"
	case "kd":
		return strings.Repeat("w", 10) + "fffm" + strings.Repeat("w", 54)
	case "lishi":
		return strings.Repeat("w", 21) + "ssff" + strings.Repeat("w", 54)
	case "sfz":
		return ""
	case "music":
		return "w--w---w-w--------w-ww---w--------"
	}
	return strings.Repeat("w", 79)
}

func statusPage(t testing.TB, s *Set, l i18n.Language, r *status.Report) string {
	t.Helper()
	d, err := s.statusPage(l, r)
	if err != nil {
		t.Fatal(err)
	}
	if !d.Passing || d.CSP == "" {
		t.Errorf("passing %v, policy %q", d.Passing, d.CSP)
	}
	return textOf(d)
}

func TestStatusPage(t *testing.T) {
	c := builtin(t)
	s := setOf(t, c)
	good, bad := reportOf(c, func(string) string { return "w" }), reportOf(c, goes)
	quiet, some := reportOf(c, func(string) string { return "" }), reportOf(c, func(name string) string { return map[string]string{"ip": "ww"}[name] })
	last := reportOf(c, func(string) string { return "w" })
	last.Endpoints[0].State = status.Fallback
	resting := reportOf(c, func(string) string { return "" })
	resting.Endpoints[0].State, resting.Endpoints[0].Blocked = status.Failing, true
	one := reportOf(c, func(name string) string { return map[string]string{"ip": "f"}[name] })
	all := map[string]string{}
	for _, row := range []struct {
		name   string
		report *status.Report
		en, zh []string
	}{
		{"good", good, []string{"All endpoints work", "Uptime 100%", "None was counted in the last 90 days"}, []string{"所有接口工作正常", "可用率 100%", "过去 90 天未记录到故障"}},
		{"quiet", quiet, []string{"Nobody has asked yet", "No calls in the last 90 days"}, []string{"尚无调用记录", "过去 90 天无调用"}},
		{"some", some, []string{"No endpoint has trouble", "19 endpoints were not called. As of"}, []string{"未发现接口异常", "19 个接口尚无调用。统计截至"}},
		{
			"resting", resting,
			[]string{"</svg> Failing <small>calls to all its sources are paused</small></p>", "None was counted in the last 90 days", "of at least ten requests within an hour, one in five"},
			[]string{"</svg> 暂不可用 <small>数据源均已暂停调用</small></p>", "一小时内至少有 10 次请求、其中五分之一"},
		},
		{"one", one, []string{"0 of 1 endpoints work", "19 endpoints were not called"}, []string{"1 个接口中 0 个正常"}},
		{"last", last, []string{"19 of 20 endpoints work", `<h1 class="fallback">`, "</svg> Answers from a fallback</p>"}, []string{"</svg> 备用响应</p>"}},
		{
			"bad", bad,
			[]string{
				"16 of 18 endpoints work", ">10:20</time> UTC", "Uptime 98.65%", "Days with trouble (UTC): 4", "<li>Feb 21: 20% worked, 80% got older responses, 0% failed</li>", "<title>Mar 2: 0% worked, 0% got older responses, 100% failed</title>",
				"</svg> IP address lookup: Failing</h3>", "</svg> Failing <small>since 09:20 UTC</small></p>", "</svg> Older responses <small>since Mar 1 09:20 UTC</small></p>", "</svg> The news in 60 seconds: Older responses</h3>", "<li>Mar 2 09:20 UTC until now</li>", "Parcel tracking, On this day: Failing (over)</h3>", "<li>On this day: Failing, Jan 4 09:20 – Jan 7 10:25 UTC</li>", `type="application/atom+xml" title="Incidents" href="/tools/status.atom?lang=en">`,
			},
			[]string{"18 个接口中 16 个正常", ">18:20</time>（北京时间）", "有异常的日期（UTC）：4", "<li>2 月 21 日：正常 20%，响应较旧 80%，失败 0%</li>", "</svg> IP 归属地查询：暂不可用</h3>", "</svg> 暂不可用 <small>自 17:20 起</small></p>", "</svg> 60 秒读世界：响应较旧</h3>", "<li>3 月 2 日 17:20（北京时间）至今</li>", "（已恢复）", `/tools/status.atom?lang=zh">`},
		},
	} {
		for l, parts := range map[i18n.Language][]string{i18n.English: row.en, i18n.Chinese: row.zh} {
			text := statusPage(t, s, l, row.report)
			all[row.name+"."+l.String()] = text
			for _, part := range parts {
				if !strings.Contains(text, part) {
					t.Errorf("%s in %v: no %s", row.name, l, part)
				}
			}
		}
	}
	browsertest.ValidHTML(t, all)
}

// TestTroubleComesFirst: what has trouble is before the groups, the worst first, below the incidents that are not over.
func TestTroubleComesFirst(t *testing.T) {
	c := builtin(t)
	text := statusPage(t, setOf(t, c), i18n.English, reportOf(c, goes))
	at := 0
	for _, part := range []string{
		">Incidents now<", "IP address lookup: Failing</h3>", `id="title-trouble">In trouble<`, `id="at-ip"`, `id="at-60s"`,
		`<h2 id="title-`, `id="at-kd"`, `id="incidents"`, "Parcel tracking, On this day: Failing (over)</h3>",
	} {
		next := strings.Index(text[at:], part)
		if next < 0 {
			t.Fatalf("no %s after what comes before it", part)
		}
		at += next + 1
	}
	if n := strings.Count(text, `id="at-ip"`); n != 1 {
		t.Errorf("%d rows of an endpoint that has trouble", n)
	}
}

// TestBars: what failed hangs from the line on which the rest stands.
func TestBars(t *testing.T) {
	got := barsOf([]status.Bar{{}, {Works: 10}, {Works: 7, Stale: 1, Failing: 2}})
	want := statusBars{
		Width: 19, Height: 33, Nobody: "M0 20h5v1h-5z", Works: "M7 1h5v20h-5zM14 7h5v14h-5z", Stale: "M15 5h3v2h-3z", Failing: "M14 21h5v4h-5z",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestStatusInABrowser: in every look, by keyboard, without scripts, and as it changes.
func TestStatusInABrowser(t *testing.T) {
	c := builtin(t)
	s := setOf(t, c)
	var now atomic.Pointer[status.Report]
	now.Store(reportOf(c, goes))
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := strings.TrimPrefix(r.URL.Path, "/tools")
		var d *Document
		var err error
		if at == StatusPath {
			d, err = s.statusPage((i18n.Rule{}).OfPage(r).Language, now.Load())
		} else {
			d, err = s.At(at).Make(0)
		}
		if err != nil {
			t.Error(err)
			return
		}
		body, _ := d.Body(0)
		w.Header().Set("Content-Type", d.Type)
		w.Header().Set("Content-Security-Policy", d.CSP)
		_, _ = w.Write(body)
	}))
	defer site.Close()
	b := browsertest.Open(t, site.URL)
	// The clock of the page is the test's.
	if _, err := chromedp.Call(b.Context, cdp.AddScriptToEvaluateOnNewDocument, cdp.AddScriptToEvaluateOnNewDocumentParams{Source: "window.setInterval = (tick) => { window.tick = tick; return 1; };"}); err != nil {
		t.Fatal(err)
	}
	for _, lang := range []string{"zh", "en"} {
		b.Goto(t, site.URL+"/tools/status?lang="+lang)
		b.Text(t, "#headline h1", map[string]string{"zh": "16 个正常", "en": "16 of 18"}[lang])
		b.AxeInEveryLook(t)
		pictures(t, b, "status-"+lang)
	}
	b.Press(t, "#at-ip summary")
	b.Until(t, `document.querySelector("#at-ip details").open`)
	browsertest.Value[any](t, b, "document.activeElement.blur()")
	late := reportOf(c, func(string) string { return strings.Repeat("w", 79) + "s" })
	late.Endpoints[0].State = status.Fallback
	now.Store(late)
	browsertest.Value[any](t, b, "tick()")
	b.Text(t, "#headline h1", "0 of 20")
	b.Until(t, `document.querySelector("#at-ip details").open && document.querySelector("#at-ip .stale")`)
	for _, look := range browsertest.Looks() {
		b.As(t, look)
		b.Until(t, `document.querySelector(".state.fallback small") && [...document.querySelectorAll(".state")].every((p) => p.scrollWidth <= p.clientWidth)`)
	}
	b.Sound(t)
	b.Script(t, false)
	b.Goto(t, site.URL+"/tools/status?lang=zh")
	b.Text(t, "#headline h1", "0 个正常")
	b.Sound(t)
}

// pictures writes how the page looks to the folder that SUNDRY_TEST_PICTURES names, for
// people to look at.
func pictures(t *testing.T, b *browsertest.Browser, name string) {
	folder := os.Getenv("SUNDRY_TEST_PICTURES")
	if folder == "" {
		return
	}
	for _, look := range browsertest.Looks() {
		b.As(t, look)
		b.Picture(t, folder+"/"+name+"-"+look.Scheme+"-"+strconv.FormatInt(look.Width, 10)+".png")
	}
}
