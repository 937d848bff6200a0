package shortlink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sundry/upstreams/lib/guard"
	"sundry/upstreams/lib/webpage/webtest"
)

// chain redirects from /0 to /n on a host in n steps.
func chain(origin string, n int) pages {
	all := pages{origin + "/" + strconv.Itoa(n): page("the end")}
	for i := range n {
		all[origin+"/"+strconv.Itoa(i)] = webtest.RedirectTo("/" + strconv.Itoa(i+1))
	}
	return all
}

func TestResolve(t *testing.T) {
	end := page("the end")
	rows := map[string]struct {
		url      string
		pages    pages
		closed   []string
		want     Result // URL, Clean and Hops are filled in if empty
		requests int
	}{
		"known shortener's target is not requested": {
			url: "https://t.cn/x", pages: pages{"https://t.cn/x": webtest.RedirectTo("https://weibo.com/1?utm_source=a&b=c#d")},
			want:     Result{Long: "https://weibo.com/1?utm_source=a&b=c#d", Clean: "https://weibo.com/1?b=c#d", Status: 302, Via: "http", Final: true},
			requests: 1,
		},
		"several shorteners": {
			url: "https://t.co/x", pages: pages{"https://t.co/x": webtest.RedirectTo("http://bit.ly/y"), "http://bit.ly/y": webtest.RedirectTo("https://bit.ly/y"), "https://bit.ly/y": webtest.RedirectTo("https://maps.app.goo.gl/z"), "https://maps.app.goo.gl/z": webtest.RedirectTo("https://a.example/")},
			want: Result{
				Long: "https://a.example/", Hops: []string{"http://bit.ly/y", "https://bit.ly/y", "https://maps.app.goo.gl/z", "https://a.example/"},
				Status: 302, Via: "http", Final: true,
			},
			requests: 4,
		},
		"unknown host": {
			url: "https://a.example/x", pages: pages{"https://a.example/x": webtest.RedirectTo("https://b.example/y"), "https://b.example/y": end},
			want: Result{Long: "https://b.example/y", Status: 200, Via: "http", Final: true}, requests: 2,
		},
		"unknown to known": {
			url: "https://a.example/x", pages: pages{"https://a.example/x": webtest.RedirectTo("https://is.gd/y"), "https://is.gd/y": webtest.RedirectTo("https://b.example/")},
			want:     Result{Long: "https://b.example/", Hops: []string{"https://is.gd/y", "https://b.example/"}, Status: 302, Via: "http", Final: true},
			requests: 2,
		},
		"name that only ends like a shortener": {
			url: "https://not.cn/", pages: pages{"https://not.cn/": webtest.RedirectTo("https://a.example/"), "https://a.example/": end},
			want: Result{Long: "https://a.example/", Status: 200, Via: "http", Final: true}, requests: 2,
		},
		"no redirect": {
			url: "https://a.example/?fbclid=1", pages: pages{"https://a.example/": end},
			want: Result{Long: "https://a.example/?fbclid=1", Clean: "https://a.example/", Status: 200, Via: "none", Final: true}, requests: 1,
		},
		"rejected robot": {
			url: "https://a.example/", pages: pages{"https://a.example/": webtest.Status(403)},
			want: Result{Long: "https://a.example/", Status: 403, Via: "none", Final: true}, requests: 1,
		},
		"not modified is not a redirect": {
			url: "https://a.example/", pages: pages{"https://a.example/": webtest.Status(304)},
			want: Result{Long: "https://a.example/", Status: 304, Via: "none", Final: true}, requests: 1,
		},
		"target is missing": {
			url: "https://a.example/", pages: pages{"https://a.example/": webtest.RedirectTo("/gone")},
			want: Result{Long: "https://a.example/gone", Status: 404, Via: "http", Final: true}, requests: 2,
		},
		"target does not answer": {
			url: "https://a.example/", pages: pages{"https://a.example/": webtest.RedirectTo("https://b.example/")}, closed: []string{"b.example"},
			want: Result{Long: "https://b.example/", Via: "http"}, requests: 1,
		},
		"five redirects": {
			url: "https://a.example/0", pages: chain("https://a.example", 5),
			want: Result{
				Long: "https://a.example/5", Hops: []string{"https://a.example/1", "https://a.example/2", "https://a.example/3", "https://a.example/4", "https://a.example/5"},
				Status: 200, Via: "http", Final: true,
			},
			requests: 6,
		},
		"six redirects": {
			url: "https://a.example/0", pages: chain("https://a.example", 6),
			want: Result{
				Long: "https://a.example/5", Hops: []string{"https://a.example/1", "https://a.example/2", "https://a.example/3", "https://a.example/4", "https://a.example/5"},
				Status: 302, Via: "http",
			},
			requests: 6,
		},
		"loop": {
			url: "https://a.example/0", pages: pages{"https://a.example/0": webtest.RedirectTo("https://b.example/1"), "https://b.example/1": webtest.RedirectTo("https://a.example/0#x")},
			want: Result{Long: "https://b.example/1", Status: 302, Via: "http"}, requests: 2,
		},
		"to itself": {
			url: "https://t.cn/0", pages: pages{"https://t.cn/0": webtest.RedirectTo("/0")},
			want: Result{Long: "https://t.cn/0", Status: 302, Via: "none"}, requests: 1,
		},
		"scheme-relative": {
			url: "https://t.cn/0", pages: pages{"https://t.cn/0": webtest.RedirectTo("//a.example/x")},
			want: Result{Long: "https://a.example/x", Status: 302, Via: "http", Final: true}, requests: 1,
		},
		"raw text": {
			url: "https://t.cn/0", pages: pages{"https://t.cn/0": webtest.RedirectTo(" https://例子.测试/路 径?问=答 案&p=100%#节")},
			want: Result{
				Long:   "https://%E4%BE%8B%E5%AD%90.%E6%B5%8B%E8%AF%95/%E8%B7%AF%20%E5%BE%84?%E9%97%AE=%E7%AD%94%20%E6%A1%88&p=100%25#%E8%8A%82",
				Status: 302, Via: "http", Final: true,
			},
			requests: 1,
		},
		"raw text on the way": {
			url: "https://a.example/0", pages: pages{"https://a.example/0": webtest.RedirectTo("/路?问=答 案"), "https://a.example/%E8%B7%AF?%E9%97%AE=%E7%AD%94%20%E6%A1%88": end},
			want: Result{Long: "https://a.example/%E8%B7%AF?%E9%97%AE=%E7%AD%94%20%E6%A1%88", Status: 200, Via: "http", Final: true}, requests: 2,
		},
		"script URL": {
			url: "https://t.cn/0", pages: pages{"https://t.cn/0": webtest.RedirectTo("javascript:alert(1)")},
			want: Result{Long: "https://t.cn/0", Status: 302, Via: "none", Final: true}, requests: 1,
		},
		"data URL": {
			url: "https://a.example/0", pages: pages{"https://a.example/0": webtest.RedirectTo("data:text/html,<meta http-equiv=refresh content='0;url=http://b.example'>")},
			want: Result{Long: "https://a.example/0", Status: 302, Via: "none", Final: true}, requests: 1,
		},
		"app": {
			url: "https://t.cn/0", pages: pages{"https://t.cn/0": webtest.RedirectTo("weixin://dl/business/?t=1")},
			want: Result{Long: "https://t.cn/0", Status: 302, Via: "none", Final: true, AppURL: "weixin://dl/business/?t=1"}, requests: 1,
		},
		"other app": {
			url: "https://t.cn/0", pages: pages{"https://t.cn/0": webtest.RedirectTo("gopher://a.example/")},
			want: Result{Long: "https://t.cn/0", Status: 302, Via: "none", Final: true}, requests: 1,
		},
		"intent": {
			url: "https://t.cn/0", pages: pages{"https://t.cn/0": webtest.RedirectTo("intent://x/#Intent;scheme=taobao;S.browser_fallback_url=https%3A%2F%2Fa.example%2F%3Fb%3Dc%26d;end")},
			want: Result{Long: "https://a.example/?b=c&d", Status: 302, Via: "http", Final: true}, requests: 1,
		},
		"intent without a page": {
			url: "https://t.cn/0", pages: pages{"https://t.cn/0": webtest.RedirectTo("intent://x/#Intent;S.browser_fallback_url=file%3A%2F%2F%2Fetc%2Fpasswd;end")},
			want: Result{Long: "https://t.cn/0", Status: 302, Via: "none", Final: true}, requests: 1,
		},
		"platform that vidparse knows": {
			url: "https://xhslink.cn/o/x", pages: pages{"https://xhslink.cn/o/x": webtest.RedirectTo("https://www.xiaohongshu.com/discovery/item/1")},
			want: Result{Long: "https://www.xiaohongshu.com/discovery/item/1", Status: 302, Via: "http", Final: true}, requests: 1,
		},
		"wrapper": {
			url:  "https://link.zhihu.com/?target=https%3A//a.example/b%3Fc=%E8%B7%AF%26d",
			want: Result{Long: "https://a.example/b?c=%E8%B7%AF&d", Via: "query", Final: true},
		},
		"wrapper of a short link": {
			url: "https://www.jianshu.com/go-wild?ac=2&url=https%3A%2F%2Ft.cn%2Fx", pages: pages{"https://t.cn/x": webtest.RedirectTo("https://weibo.cn/sinaurl?toasturl=http%3A%2F%2Fa.example%2F")},
			want: Result{
				Long: "http://a.example/", Hops: []string{"https://t.cn/x", "https://weibo.cn/sinaurl?toasturl=http%3A%2F%2Fa.example%2F", "http://a.example/"},
				Status: 302, Via: "query", Final: true,
			},
			requests: 1,
		},
		"wrapper around nothing": {
			url: "https://gitee.com/link?target=%2Fetc", pages: pages{"https://gitee.com/link": end},
			want: Result{Long: "https://gitee.com/link?target=%2Fetc", Status: 200, Via: "none", Final: true}, requests: 1,
		},
		"QQ's warning": {
			url: "https://url.cn/x", pages: pages{"https://url.cn/x": webtest.RedirectTo("https://c.pc.qq.com/middlem.html?pfurl=a.example%2Fb&level=14")},
			want: Result{
				Long: "http://a.example/b", Hops: []string{"https://c.pc.qq.com/middlem.html?pfurl=a.example%2Fb&level=14", "http://a.example/b"},
				Status: 302, Via: "query", Warned: true, Final: true,
			},
			requests: 1,
		},
		"bit.ly's warning": {
			url: "https://bit.ly/x", pages: pages{"https://bit.ly/x": webtest.RedirectTo("https://bitly.com/a/warning?hash=x&url=https%3A%2F%2Fa.example%2F")},
			want: Result{
				Long: "https://a.example/", Hops: []string{"https://bitly.com/a/warning?hash=x&url=https%3A%2F%2Fa.example%2F", "https://a.example/"},
				Status: 302, Via: "query", Warned: true, Final: true,
			},
			requests: 1,
		},
		"WeChat's block": {
			url: "https://w.url.cn/x", pages: pages{"https://w.url.cn/x": webtest.RedirectTo("https://weixin110.qq.com/cgi-bin/mmspamsupport-bin/newredirectconfirmcgi?main_type=2")},
			want:     Result{Long: "https://weixin110.qq.com/cgi-bin/mmspamsupport-bin/newredirectconfirmcgi?main_type=2", Status: 302, Via: "http", Blocked: true},
			requests: 1,
		},
		"t.cn's page": {
			url: "https://t.cn/x", pages: pages{"https://t.cn/x": page(`<p class="desc">x</p><div class="a open-url"><a href="https://a.example/?a=1&amp;b=2">go</a></div><meta http-equiv=refresh content="0;url=/no">`)},
			want: Result{Long: "https://a.example/?a=1&b=2", Status: 200, Via: "interstitial", Final: true}, requests: 1,
		},
		"t.cn's older page": {
			url: "https://sinaurl.cn/x", pages: pages{"https://sinaurl.cn/x": page(`<a href=https://weibo.com/>home</a><div class="desc">` + "\n http://a.example/ </div>")},
			want: Result{Long: "http://a.example/", Status: 200, Via: "interstitial", Final: true}, requests: 1,
		},
		"LinkedIn's page": {
			url: "https://lnkd.in/x", pages: pages{"https://lnkd.in/x": page(`<a href="https://www.linkedin.com/">in</a><a href="/x">x</a><a href="https://a.example/">out</a>`)},
			want: Result{Long: "https://a.example/", Status: 200, Via: "interstitial", Final: true}, requests: 1,
		},
		"Taobao's page": {
			url: "https://m.tb.cn/x", pages: pages{"https://m.tb.cn/x": page(`<script>location.href='/no'; var url = 'https:\/\/a.example\/i?id=1\u0026x=2';</script>`)},
			want: Result{Long: "https://a.example/i?id=1&x=2", Status: 200, Via: "script", Final: true}, requests: 1,
		},
		"Taobao's page of links shared by its app": {
			url: "https://e.tb.cn/h.x?tk=y", pages: pages{"https://e.tb.cn/h.x?tk=y": page(`<script>var url = 'https://a.example/i?id=1';</script>`)},
			want: Result{Long: "https://a.example/i?id=1", Status: 200, Via: "script", Final: true}, requests: 1,
		},
		"JD's page": {
			url: "https://u.jd.com/x", pages: pages{
				"https://u.jd.com/x":           page(`<script>var hrl='https://u.jd.com/jda?e=1&p=2';var ua=navigator.userAgent;</script>`),
				"https://u.jd.com/jda?e=1&p=2": webtest.RedirectTo("https://a.example/1.html"),
			},
			want:     Result{Long: "https://a.example/1.html", Hops: []string{"https://u.jd.com/jda?e=1&p=2", "https://a.example/1.html"}, Status: 302, Via: "http", Final: true},
			requests: 2,
		},
		"t.co's page": {
			url: "https://t.co/x", pages: pages{"https://t.co/x": page(`<head><noscript><META http-equiv="refresh" content="0;URL=https://a.example/?a&amp;b"></noscript><title>https://a.example</title></head><script>location.replace("https:\/\/b.example")</script>`)},
			want: Result{Long: "https://a.example/?a&b", Status: 200, Via: "meta", Final: true}, requests: 1,
		},
		"page for clients without scripts": {
			url: "https://a.example/", pages: pages{"https://a.example/": page(`<noscript><meta http-equiv=refresh content="0;url=/no-scripts"></noscript>`)},
			want: Result{Long: "https://a.example/", Status: 200, Via: "none", Final: true}, requests: 1,
		},
		"page that reloads itself": {
			url: "https://a.example/", pages: pages{"https://a.example/": page(`<meta http-equiv=refresh content="5;url=#top">`)},
			want: Result{Long: "https://a.example/", Status: 200, Via: "none", Final: true}, requests: 1,
		},
		"large page with scripts": {
			url: "https://a.example/", pages: pages{"https://a.example/": page(`<script>function login(){location.href="/login"}</script>` + strings.Repeat("text ", maxRedirectPage/5))},
			want: Result{Long: "https://a.example/", Status: 200, Via: "none", Final: true}, requests: 1,
		},
		"not a page": {
			url: "https://a.example/", pages: pages{"https://a.example/": typed("text/plain", `<meta http-equiv=refresh content="0;url=/x">`)},
			want: Result{Long: "https://a.example/", Status: 200, Via: "none", Final: true}, requests: 1,
		},
		"Refresh header": {
			url: "https://is.gd/x", pages: pages{"https://is.gd/x": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Refresh", "0; url=https://a.example/") }},
			want: Result{Long: "https://a.example/", Status: 200, Via: "http", Final: true}, requests: 1,
		},
		"redirect by page": {
			url: "https://a.example/", pages: pages{
				"https://a.example/": page(`<meta content='1; url=/s' http-equiv=Refresh>`), "https://a.example/s": page(`<script>window.location = "t"</script>`), "https://a.example/t": end,
			},
			want:     Result{Long: "https://a.example/t", Hops: []string{"https://a.example/s", "https://a.example/t"}, Status: 200, Via: "script", Final: true},
			requests: 3,
		},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			w := newWeb(t, r.pages, r.closed...)
			got, err := resolverOf(w).Resolve(t.Context(), r.url)
			if err != nil {
				t.Fatal(err)
			}
			r.want.URL = r.url
			if r.want.Clean == "" {
				r.want.Clean = r.want.Long
			}
			if r.want.Hops == nil && r.want.Long != r.url {
				r.want.Hops = []string{r.want.Long}
			}
			if diff := cmp.Diff(r.want, *got); diff != "" {
				t.Error(diff)
			}
			if len(w.Requested) != r.requests {
				t.Errorf("requested %q, want %d", w.Requested, r.requests)
			}
			if want := append([]string{r.url}, got.Hops...); r.want.Status != 302 && r.want.Final && !slices.Equal(w.Checked, want) {
				t.Errorf("checked %q, want %q", w.Checked, want)
			}
		})
	}
}

func TestLinkWithoutAnAnswer(t *testing.T) {
	rows := map[string]struct {
		answer http.HandlerFunc
		host   string
		gone   bool
		status int
	}{
		"gone":      {webtest.Status(410), "a.example", true, 0},
		"not found": {webtest.Status(404), "t.cn", true, 0},
		"page not found": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `<meta http-equiv=refresh content="0;url=/">`)
		}, "a.example", true, 0},
		"b23.tv's not found": {typed("application/json; charset=utf-8", `{"code":-404,"message":"x"}`), "b23.tv", true, 0},
		"down":               {webtest.Status(503), "a.example", false, 503},
		"limited":            {webtest.Status(429), "a.example", false, 429},
		"shortener refuses":  {webtest.Status(403), "bit.ly", false, 403},
		"shortener's part":   {webtest.Status(206), "bit.ly", false, 206},
		"shortener's none":   {webtest.Status(204), "t.cn", false, 204},
		"shortener's blank":  {typed("text/html", " \n"), "t.cn", false, 200},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			w := newWeb(t, pages{"https://" + r.host + "/x": r.answer})
			got, err := resolverOf(w).Resolve(t.Context(), "https://"+r.host+"/x")
			if got != nil || err == nil || errors.Is(err, ErrGone) != r.gone {
				t.Fatalf("%+v %v", got, err)
			}
			if want := fmt.Sprintf("%s answered %d", r.host, r.status); r.status != 0 && err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
	w := newWeb(t, nil, "a.example")
	if got, err := resolverOf(w).Resolve(t.Context(), "https://a.example/secret"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%+v %v", got, err)
	}
}

// An *http.Client returns no response with such a Location.
func TestUnreadableLocation(t *testing.T) {
	f := &Resolver{Check: url.Parse, Do: webtest.Doer(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {"http://[::"}}, Body: http.NoBody}, nil
	})}
	got, err := f.Resolve(t.Context(), "https://t.cn/0")
	if err != nil || got.Long != "https://t.cn/0" || got.Final || got.Status != 302 {
		t.Errorf("%+v %v", got, err)
	}
	w := newWeb(t, pages{"https://t.cn/0": webtest.RedirectTo("http://[::")})
	if got, err := resolverOf(w).Resolve(t.Context(), "https://t.cn/0"); err == nil {
		t.Errorf("%+v", got)
	}
}

func TestLongestResolution(t *testing.T) {
	w := newWeb(t, chain("https://t.cn", maxRedirects+3))
	got, err := resolverOf(w).Resolve(t.Context(), "https://t.cn/0")
	if err != nil || got.Long != "https://t.cn/10" || got.Final || len(got.Hops) != maxRedirects || len(w.Requested) != maxRedirects+1 {
		t.Errorf("%+v %v, requested %d", got, err, len(w.Requested))
	}
}

func TestResolutionStopsAtRefusedTargets(t *testing.T) {
	nested := "https://a.example/"
	for range 12 {
		nested = "https://link.zhihu.com/?target=" + url.QueryEscape(nested)
	}
	w := newWeb(t, nil)
	f := resolverOf(w)
	f.Check = func(raw string) (*url.URL, error) { return url.Parse(raw) }
	got, err := f.Resolve(t.Context(), nested)
	if err != nil || got.Final || len(got.Hops) != maxRedirects || len(w.Requested) != 0 {
		t.Errorf("%+v %v", got, err)
	}
}

// Some hosts set a cookie, redirect to themselves, and require it.
func TestCookiesOfOneResolution(t *testing.T) {
	var elsewhere []string
	needs := func(w http.ResponseWriter, r *http.Request) {
		if c, err := r.Cookie("seen"); err == nil && c.Value == "1" {
			webtest.RedirectTo("https://b.example/")(w, r)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1", Domain: ".example", Path: "/"})
		webtest.RedirectTo(r.URL.Path)(w, r)
	}
	w := newWeb(t, pages{"https://a.example/x": needs, "https://b.example/": func(_ http.ResponseWriter, r *http.Request) {
		elsewhere = append(elsewhere, r.Header.Get("Cookie"))
	}})
	f := resolverOf(w)
	for range 2 { // the second does not have the cookies of the first
		got, err := f.Resolve(t.Context(), "https://a.example/x")
		if err != nil || !got.Final || !slices.Equal(got.Hops, []string{"https://a.example/x", "https://b.example/"}) {
			t.Errorf("%+v %v", got, err)
		}
	}
	if !slices.Equal(elsewhere, []string{"", ""}) || len(w.Requested) != 6 {
		t.Errorf("cookies elsewhere %q, requested %q", elsewhere, w.Requested)
	}
}

func TestWhatIsSent(t *testing.T) {
	sent := map[string]http.Header{}
	note := func(w http.ResponseWriter, r *http.Request) {
		sent[r.Host] = r.Header
		page("a page")(w, r)
	}
	w := newWeb(t, pages{"https://t.co/": note, "https://v.douyin.com/": note, "https://xhslink.com/": note, "https://a.example/": note})
	for _, host := range []string{"t.co", "v.douyin.com", "xhslink.com", "a.example"} {
		if _, err := resolverOf(w).Resolve(t.Context(), "https://"+host+"/"); err != nil {
			t.Error(err)
		}
	}
	for host, want := range map[string]string{"t.co": "curl/", "v.douyin.com": "Mobile", "xhslink.com": "Android", "a.example": "Mozilla/5.0 (compatible; Sundry/1.0)"} {
		h := sent[host]
		if agent := h.Get("User-Agent"); !strings.Contains(agent, want) || !strings.Contains(agent, "Sundry/1.0") {
			t.Errorf("%s got %q", host, agent)
		}
		if h.Get("Referer")+h.Get("Range")+h.Get("Cookie") != "" || h.Get("Accept-Encoding") != "identity" || h.Get("Accept-Language") == "" {
			t.Errorf("%s got %v", host, h)
		}
	}
}

// endless counts the bytes that were read of it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

func (e *endless) Close() error { return nil }

func TestBodiesAreCapped(t *testing.T) {
	for status, most := range map[int]int{200: maxBody, 302: 0, 403: 0} {
		body := &endless{}
		f := &Resolver{Check: url.Parse, Do: webtest.Doer(func(*http.Request) (*http.Response, error) {
			h := http.Header{"Content-Type": {"text/html"}}
			if status == 302 {
				h.Set("Location", "https://a.example/")
			}
			return &http.Response{StatusCode: status, Header: h, Body: body}, nil
		})}
		if _, err := f.Resolve(t.Context(), "https://a.example/x"); err != nil || body.read > most {
			t.Errorf("%d: read %d, %v", status, body.read, err)
		}
	}
}

func TestGzipIsDecompressed(t *testing.T) {
	zipped := webtest.Zipped(append([]byte(`<meta http-equiv=refresh content="0;url=https://a.example/">`), make([]byte, 8<<20)...))
	w := newWeb(t, pages{"https://is.gd/x": typed("text/html", string(zipped)), "https://is.gd/y": typed("text/html", "\x1f\x8bx")})
	if got, err := resolverOf(w).Resolve(t.Context(), "https://is.gd/x"); err != nil || got.Long != "https://a.example/" {
		t.Errorf("%+v %v", got, err)
	}
	if got, err := resolverOf(w).Resolve(t.Context(), "https://is.gd/y"); err == nil || err.Error() != "is.gd answered 200" { // nothing of it can be read
		t.Errorf("%+v %v", got, err)
	}
}

func TestTimeIsBounded(t *testing.T) {
	hang := webtest.Doer(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/0" {
			return &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {"/1"}}, Body: http.NoBody}, nil
		}
		<-r.Context().Done()
		return nil, &url.Error{Op: "Get", URL: "x", Err: r.Context().Err()}
	})
	f := &Resolver{Check: url.Parse, Do: hang}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := f.Resolve(t.Context(), "https://a.example/")
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != requestTimeout {
			t.Errorf("%v after %v", err, took)
		}
		got, err := f.Resolve(t.Context(), "https://a.example/0")
		if err != nil || got.Long != "https://a.example/1" || got.Final || got.Status != 0 {
			t.Errorf("%+v %v", got, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start = time.Now()
		if got, err := f.Resolve(ctx, "https://a.example/0"); !errors.Is(err, context.Canceled) || time.Since(start) != time.Second {
			t.Errorf("%+v %v after %v", got, err, time.Since(start))
		}
	})
	slow := webtest.Doer(func(r *http.Request) (*http.Response, error) {
		time.Sleep(3 * time.Second)
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		return &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {r.URL.Path + "x"}}, Body: http.NoBody}, nil
	})
	synctest.Test(t, func(t *testing.T) {
		got, err := (&Resolver{Check: url.Parse, Do: slow}).Resolve(t.Context(), "https://t.cn/")
		if err != nil || len(got.Hops) != 3 || got.Final {
			t.Errorf("%+v %v", got, err)
		}
	})
}

func TestGuardRefusesEachRequest(t *testing.T) {
	const metadata = "http://169.254.169.254/latest/meta-data/"
	w := newWeb(t, pages{})
	g, client := w.Guarded(t)
	f := &Resolver{Do: client, Check: g.CheckURL}
	port := ":" + w.Port()
	origin := "http://a.example.org" + port
	w.Pages[origin+"/1"] = webtest.RedirectTo("/2")
	w.Pages[origin+"/2"] = webtest.RedirectTo("/3")
	w.Pages[origin+"/3"] = webtest.RedirectTo(metadata)
	w.Pages["http://t.cn"+port+"/1"] = webtest.RedirectTo(metadata) // would not be requested
	w.Pages[origin+"/meta"] = page(`<meta http-equiv=refresh content="0;url=` + metadata + `">`)
	w.Pages[origin+"/login"] = webtest.RedirectTo("http://u:p@a.example.org" + port + "/2")
	w.Pages[origin+"/inside"] = webtest.RedirectTo("http://inside.example.org" + port + "/x")
	for _, in := range []string{
		metadata, "http://2130706433/", "http://localhost/", origin + "/1", origin + "/3", "http://t.cn" + port + "/1", origin + "/meta", origin + "/login",
		"https://link.zhihu.com/?target=" + url.QueryEscape(metadata),
	} {
		got, err := f.Resolve(t.Context(), in)
		if _, ok := errors.AsType[*guard.ForbiddenError](err); !ok || got != nil {
			t.Errorf("%s: %+v %v", in, got, err)
		}
		if err != nil && strings.Contains(err.Error(), webtest.Hidden) {
			t.Errorf("%s reveals the internal address: %v", in, err)
		}
	}
	// A name with an internal address gets the error of a name that does not exist.
	_, err := f.Resolve(t.Context(), "http://inside.example.org/")
	if dns, ok := errors.AsType[*net.DNSError](err); !ok || !dns.IsNotFound || strings.Contains(err.Error(), webtest.Hidden) {
		t.Errorf("inside: %v", err)
	}
	if got, err := f.Resolve(t.Context(), origin+"/inside"); err != nil || got.Final || got.Status != 0 {
		t.Errorf("to inside: %+v %v", got, err)
	}
	w.Pages[origin+"/3"] = page("the end")
	if got, err := f.Resolve(t.Context(), origin+"/1"); err != nil || got.Long != origin+"/3" || !got.Final {
		t.Errorf("%+v %v", got, err)
	}
}

func TestOwnHosts(t *testing.T) {
	w := newWeb(t, pages{"https://t.cn/x": webtest.RedirectTo("https://API.own.example:8443/api/dwzrec/index.php?url=t.cn/x")})
	f := resolverOf(w)
	f.OwnHosts = []string{"api.own.example"}
	for _, in := range []string{"https://t.cn/x", "http://api.own.example/", "https://gitee.com/link?target=http://api.own.example/"} {
		if got, err := f.Resolve(t.Context(), in); !errors.Is(err, ErrSelf) {
			t.Errorf("%s: %+v %v", in, got, err)
		}
	}
}

func TestData(t *testing.T) {
	r := Result{URL: "a", Long: "c", Clean: "d", Hops: []string{"b", "c"}, Status: 302, Via: "http", Warned: true, Final: true, AppURL: "weixin://x"}
	b, err := json.Marshal(r.Data())
	want := `{"app_url":"weixin://x","blocked":false,"clean_url":"d","final":true,"hop_count":2,"hops":["b","c"],"long_url":"c","status":302,"url":"a","via":"http","warned":true}`
	if err != nil || string(b) != want {
		t.Errorf("%s %v", b, err)
	}
	empty := (&Result{}).Data()
	if empty["status"] != nil || empty["app_url"] != nil || empty["hop_count"] != 0 {
		t.Errorf("%v", empty)
	}
	if hops, ok := empty["hops"].([]any); !ok || hops == nil {
		t.Errorf("hops %#v", empty["hops"])
	}
}
