package favicon

import (
	"bytes"
	"context"
	"errors"
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

	"sundry/upstreams/lib/guard"
	"sundry/upstreams/lib/webpage/webtest"
)

type pages = webtest.Pages

func TestRoot(t *testing.T) {
	ico := serves(picture(icoMagic))
	rows := map[string]struct {
		pages  pages
		closed []string
		url    string // of the icon; "" for ErrNone, "?" for any other error
	}{
		"https":                    {pages: pages{"https://a.example/favicon.ico": ico}, url: "https://a.example/favicon.ico"},
		"http where https has not": {pages: pages{"http://a.example/favicon.ico": ico}, url: "http://a.example/favicon.ico"},
		"http where https fails":   {pages: pages{"http://a.example/favicon.ico": ico}, closed: []string{"https://a.example"}, url: "http://a.example/favicon.ico"},
		"redirect": {
			pages: pages{"https://a.example/favicon.ico": webtest.RedirectTo("//www.a.example/x.ico?v=1"), "https://www.a.example/x.ico": ico},
			url:   "https://www.a.example/x.ico?v=1",
		},
		"five redirects": {pages: chain(5, ico), url: "https://a.example/5"},
		"six redirects":  {pages: chain(6, ico), closed: []string{"http://a.example"}, url: "?"},
		"redirect loop":  {pages: pages{"https://a.example/favicon.ico": webtest.RedirectTo("/favicon.ico")}, closed: []string{"http://a.example"}, url: "?"},
		"not found":      {},
		"soft 404":       {pages: pages{"https://a.example/favicon.ico": page("")}},
		"empty":          {pages: pages{"https://a.example/favicon.ico": webtest.Status(204)}},
		"partial content": {
			pages: pages{"https://a.example/favicon.ico": func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusPartialContent)
				ico(w, r)
			}}, closed: []string{"http://a.example"}, url: "?",
		},
		"gone, no http": {
			pages: pages{"https://a.example/favicon.ico": webtest.Status(410)}, closed: []string{"http://a.example"},
		},
		"no https, http has none": {closed: []string{"https://a.example"}},
		"no connection":           {closed: []string{"https://a.example", "http://a.example"}, url: "?"},
		"robot rejected": {
			pages: pages{"https://a.example/favicon.ico": webtest.Status(403), "http://a.example/favicon.ico": webtest.Status(503)}, url: "?",
		},
		"location is not a URL": {
			pages: pages{"https://a.example/favicon.ico": webtest.RedirectTo("http://[::")}, closed: []string{"http://a.example"}, url: "?",
		},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			w := newWeb(t, r.pages, r.closed...)
			icon, err := finderOf(w).Root(t.Context(), "a.example")
			expect(t, icon, err, r.url)
			if icon != nil && icon.Type != "image/x-icon" {
				t.Errorf("type %s", icon.Type)
			}
		})
	}
}

// expect an icon of this URL, ErrNone for "", another error for "?".
func expect(t *testing.T, icon *Icon, err error, want string) {
	t.Helper()
	switch {
	case want == "" || want == "?":
		if icon != nil || err == nil || errors.Is(err, ErrNone) != (want == "") {
			t.Errorf("got %v, %v", icon, err)
		}
	case err != nil:
		t.Errorf("%v, want %s", err, want)
	case icon.URL != want:
		t.Errorf("got %s, want %s", icon.URL, want)
	}
}

// chain redirects from favicon.ico to /n in n steps.
func chain(n int, end http.HandlerFunc) pages {
	all, at := pages{}, "/favicon.ico"
	for i := range n {
		next := "/" + strconv.Itoa(i+1)
		all["https://a.example"+at], at = webtest.RedirectTo(next), next
	}
	all["https://a.example"+at] = end
	return all
}

func TestPage(t *testing.T) {
	png := serves(picture(pngMagic))
	rows := map[string]struct {
		pages    pages
		closed   []string
		url      string
		requests int // in all, 0 for any number
	}{
		"relative": {
			pages: pages{"https://a.example/": page(`<link rel="icon" href="i.png">`), "https://a.example/i.png": png},
			url:   "https://a.example/i.png", requests: 2,
		},
		"against the end of redirects": {
			pages: pages{
				"https://a.example/": webtest.RedirectTo("https://www.a.example/en/"), "https://www.a.example/en/": page(`<LINK REL='Shortcut Icon' HREF=' i.png '>`),
				"https://www.a.example/en/i.png": png,
			},
			url: "https://www.a.example/en/i.png",
		},
		"base": {
			pages: pages{
				"https://a.example/":          page(`<link rel=icon href=i.png><base target=_top><base href="//cdn.example/x/"><base href="/no/">`),
				"https://cdn.example/x/i.png": png,
			},
			url: "https://cdn.example/x/i.png",
		},
		"base of another scheme": {
			pages: pages{"https://a.example/": page(`<base href="data:text/plain,x"><link rel=icon href=i.png>`), "https://a.example/i.png": png},
			url:   "https://a.example/i.png",
		},
		"data": {
			pages: pages{"https://a.example/": page(`<link rel=icon href="data:image/svg+xml,` + strings.ReplaceAll(string(svg), `"`, "'") + `">`)},
			url:   "https://a.example/", requests: 1,
		},
		"best first": {
			pages: pages{
				"https://a.example/":      page(`<link rel=icon href=a.png><link rel="apple-touch-icon" sizes="180x180" href=b.png><link rel=icon sizes="16x16 32x32" href=c.png>`),
				"https://a.example/a.png": png, "https://a.example/b.png": png, "https://a.example/c.png": png,
			},
			url: "https://a.example/c.png", requests: 2,
		},
		"next when the first is not an icon": {
			pages: pages{
				"https://a.example/":      page(`<link rel=icon href=a.png><link rel=icon href="http://[x"><link rel=icon href="javascript:x"><link rel=icon href=b.jpg>`),
				"https://a.example/a.png": page(""), "https://a.example/b.jpg": png,
			},
			url: "https://a.example/b.jpg", requests: 3,
		},
		"five tries": {
			pages: pages{
				"https://a.example/": page(`<link rel=icon href=1.png><link rel=icon href=2.png><link rel=icon href=2.png><link rel=icon href=3.png>` +
					`<link rel=icon href=4.png><link rel=icon href=5.png><link rel=icon href=6.png>`),
				"https://a.example/6.png": png,
			},
			closed: []string{"http://a.example"}, requests: 6,
		},
		"fifth try": {
			pages: pages{
				"https://a.example/":      page(`<link rel=icon href=1.png><link rel=icon href=2.png><link rel=icon href=3.png><link rel=icon href=4.png><link rel=icon href=5.png>`),
				"https://a.example/5.png": png,
			},
			url: "https://a.example/5.png", requests: 6,
		},
		"no links": {
			pages: pages{"https://a.example/": page(`<!--<link rel=icon href=i.png>--><script>"<link rel=icon href=i.png>"</script><link rel=mask-icon href=i.png><link rel=stylesheet href=i.png>`), "https://a.example/i.png": png},
		},
		"link between head and body": {
			pages: pages{"https://a.example/": serves([]byte("\ufeff<head></head>\n<!-- x --><link rel=icon href=i.png><body>")), "https://a.example/i.png": png},
			url:   "https://a.example/i.png", requests: 2,
		},
		"links in the body": {
			pages: pages{"https://a.example/": serves([]byte(`<head></head><body><link rel=icon href=i.png>`)), "https://a.example/i.png": png},
		},
		"links in a body without a tag": {
			pages: pages{"https://a.example/": serves([]byte(`<head></head><title>t</title><p><link rel=icon href=i.png>`)), "https://a.example/i.png": png},
		},
		"links behind the page": {
			pages: pages{"https://a.example/": serves([]byte(`<head></head></html><link rel=icon href=i.png>`)), "https://a.example/i.png": png},
		},
		"links in a template": {
			pages: pages{"https://a.example/": page(`<template><template></template><link rel=icon href=no.png></template><noscript><link rel=icon href=no.png></noscript><link rel=icon href=i.png>`), "https://a.example/i.png": png},
			url:   "https://a.example/i.png", requests: 2,
		},
		"rel is a list of tokens": {
			pages: pages{"https://a.example/": page("<link rel=iconify href=no.png><link rel='favicon' href=no.png><link rel='icon-x' href=no.png><link rel='mask-icon\tALTERNATE\nIcon' href=i.png>"), "https://a.example/i.png": png},
			url:   "https://a.example/i.png", requests: 2,
		},
		"media": {
			pages: pages{"https://a.example/": page(`<link rel=icon href=print.png media=print><link rel=icon media="(prefers-color-scheme:dark)" href=dark.png sizes=32x32><link rel=icon href=i.png media="(prefers-color-scheme: light)">`),
				"https://a.example/i.png": png, "https://a.example/dark.png": png, "https://a.example/print.png": png},
			url: "https://a.example/i.png", requests: 2,
		},
		"media of dark pages alone": {
			pages: pages{"https://a.example/": page(`<link rel=icon href=print.png media=print><link rel=icon media="screen and ( prefers-color-scheme : dark )" href=dark.png>`),
				"https://a.example/dark.png": png, "https://a.example/print.png": png},
			url: "https://a.example/dark.png", requests: 2,
		},
		"meta refresh": {
			pages: pages{
				"https://a.example/":   page(`<meta http-equiv=Refresh content="0; URL='//b.example/x/'">`),
				"https://b.example/x/": page(`<link rel=icon href=i.png>`), "https://b.example/x/i.png": png,
			},
			url: "https://b.example/x/i.png", requests: 3,
		},
		"refresh in the header": {
			pages: pages{
				"https://a.example/": func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Refresh", "0; url=/home")
					page("")(w, r)
				},
				"https://a.example/home": page(`<link rel=icon href=i.png>`), "https://a.example/i.png": png,
			},
			url: "https://a.example/i.png", requests: 3,
		},
		"one meta refresh": {
			pages: pages{
				"https://a.example/": page(`<meta http-equiv=refresh content="0; url=/1">`), "https://a.example/1": page(`<meta http-equiv=refresh content="0; url=/2">`),
				"https://a.example/2": page(`<link rel=icon href=i.png>`), "https://a.example/i.png": png,
			},
			closed: []string{"http://a.example"}, requests: 2,
		},
		"a refresh much later": {
			pages:  pages{"https://a.example/": page(`<meta http-equiv=refresh content="300; url=/1">`), "https://a.example/1": page(`<link rel=icon href=i.png>`), "https://a.example/i.png": png},
			closed: []string{"http://a.example"}, requests: 1,
		},
		"a large head": {
			pages: pages{"https://a.example/": page("<style>" + strings.Repeat("x", 500<<10) + "</style><link rel=icon href=i.png>"), "https://a.example/i.png": png},
			url:   "https://a.example/i.png", requests: 2,
		},
		"cookie and redirect to itself": {
			pages: pages{"https://a.example/": withCookie("a.example", page(`<link rel=icon href=i.png>`)), "https://a.example/i.png": withCookie("", png)},
			url:   "https://a.example/i.png", requests: 3,
		},
		"http where https fails": {
			pages:  pages{"http://a.example/": page(`<link rel=icon href=i.png>`), "http://a.example/i.png": png},
			closed: []string{"https://a.example"}, url: "http://a.example/i.png",
		},
		"icons elsewhere do not answer": {
			pages:  pages{"https://a.example/": page(`<link rel=icon href=//cdn.example/i.png><link rel=icon href=j.png>`)},
			closed: []string{"https://cdn.example", "http://a.example"}, url: "?",
		},
		"page in trouble": {
			pages: pages{"https://a.example/": webtest.Status(500), "http://a.example/": webtest.Status(429)}, url: "?",
		},
		"no page": {},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			w := newWeb(t, r.pages, r.closed...)
			icon, err := finderOf(w).Page(t.Context(), "a.example")
			expect(t, icon, err, r.url)
			if r.requests != 0 && len(w.Requested) != r.requests {
				t.Errorf("requested %q", w.Requested)
			}
		})
	}
}

// withCookie sets a cookie and redirects to the same URL, until the cookie is sent. Without
// a domain, the cookie must have been sent before.
func withCookie(domain string, then http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch _, err := r.Cookie("seen"); {
		case err == nil:
			then(w, r)
		case domain == "":
			w.WriteHeader(http.StatusForbidden)
		default:
			http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1", Path: "/", Domain: domain, Secure: true})
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}
	}
}

// Each search has cookies of its own, and sends none to other sites.
func TestCookiesOfASearch(t *testing.T) {
	sent := ""
	w := newWeb(t, pages{
		"https://a.example/favicon.ico": withCookie("a.example", webtest.RedirectTo("https://b.example/i.png")),
		"https://b.example/i.png": func(w http.ResponseWriter, r *http.Request) {
			sent += r.Header.Get("Cookie")
			serves(picture(pngMagic))(w, r)
		},
	})
	f := finderOf(w)
	for range 2 {
		icon, err := f.Root(t.Context(), "a.example")
		expect(t, icon, err, "https://b.example/i.png")
	}
	if len(w.Requested) != 6 || sent != "" {
		t.Errorf("requested %q, b.example got %q", w.Requested, sent)
	}
}

func TestIconIsCapped(t *testing.T) {
	const pixel = "GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
	for size, want := range map[int]string{maxIcon: "https://a.example/favicon.ico", maxIcon + 1: "", 60: "https://a.example/favicon.ico", 59: ""} {
		b := make([]byte, size)
		copy(b, pixel)
		w := newWeb(t, pages{"https://a.example/favicon.ico": serves(b)})
		icon, err := finderOf(w).Root(t.Context(), "a.example")
		expect(t, icon, err, want)
	}
}

// endless writes until the client disconnects.
func endless(first string, rest []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_, err := io.WriteString(w, first)
		for err == nil {
			_, err = w.Write(rest)
		}
	}
}

func TestEndlessBodiesEnd(t *testing.T) {
	chunk := bytes.Repeat([]byte{'x'}, 32<<10)
	w := newWeb(t, pages{
		"https://a.example/favicon.ico": endless(pngMagic, chunk),
		"https://a.example/":            endless("<link rel=icon href=i.png><p>", chunk),
		"https://a.example/i.png":       serves(picture(pngMagic)),
		"https://b.example/":            endless("<title>", chunk),
		"https://c.example/":            endless("", []byte("<p>")),
	})
	icon, err := finderOf(w).Root(t.Context(), "a.example")
	expect(t, icon, err, "")
	icon, err = finderOf(w).Page(t.Context(), "a.example")
	expect(t, icon, err, "https://a.example/i.png")
	for _, host := range []string{"b.example", "c.example"} {
		icon, err = finderOf(w).Page(t.Context(), host)
		expect(t, icon, err, "")
	}
}

func TestGzipIsDecompressed(t *testing.T) {
	declared := func(b []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(webtest.Zipped(b))
		}
	}
	bomb := append([]byte(pngMagic), make([]byte, 4<<20)...)
	for name, r := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"declared":   {declared(picture(icoMagic)), "https://a.example/favicon.ico"},
		"undeclared": {serves(webtest.Zipped(picture(icoMagic))), "https://a.example/favicon.ico"},
		"bomb":       {serves(webtest.Zipped(bomb)), ""},
		"broken":     {serves(append([]byte{0x1f, 0x8b}, picture("")...)), "?"},
		"cut":        {serves(webtest.Zipped(append(picture(pngMagic), 'x'))[:30]), "?"},
		"cut before": {serves(picture(pngMagic)[:16]), "?"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, asks := range []bool{true, false} {
				w := newWeb(t, pages{"https://a.example/favicon.ico": r.answer}, "http://a.example")
				w.Client.Transport.(*http.Transport).DisableCompression = !asks
				icon, err := finderOf(w).Root(t.Context(), "a.example")
				expect(t, icon, err, r.want)
			}
		})
	}
	w := newWeb(t, pages{"https://a.example/": serves(webtest.Zipped([]byte(`<link rel=icon href=i.png>`))), "https://a.example/i.png": serves(picture(pngMagic))})
	icon, err := finderOf(w).Page(t.Context(), "a.example")
	expect(t, icon, err, "https://a.example/i.png")
}

// TestIncompleteRepliesAreNoAnswer: that a site has no icon takes something that says so.
// What it says elsewhere, here with 404 over HTTP, does not outweigh them.
func TestIncompleteRepliesAreNoAnswer(t *testing.T) {
	for name, b := range map[string][]byte{"empty": nil, "cut": picture(pngMagic)[:16]} {
		w := newWeb(t, pages{"https://a.example/favicon.ico": serves(b), "https://a.example/": page("<link rel=icon href=favicon.ico>"), "https://b.example/": serves(nil)})
		for _, host := range []string{"a.example", "b.example"} {
			if icon, err := finderOf(w).Page(t.Context(), host); err == nil || errors.Is(err, ErrNone) {
				t.Errorf("%s page of %s: %v %v", name, host, icon, err)
			}
		}
		if icon, err := finderOf(w).Root(t.Context(), "a.example"); err == nil || errors.Is(err, ErrNone) {
			t.Errorf("%s: %v %v", name, icon, err)
		}
	}
}

func TestTruncatedBodyIsNotAnAnswer(t *testing.T) {
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "5000")
		_, _ = w.Write(picture(pngMagic))
	}
	w := newWeb(t, pages{"https://a.example/favicon.ico": cut}, "http://a.example")
	icon, err := finderOf(w).Root(t.Context(), "a.example")
	expect(t, icon, err, "?")
}

func answer(r *http.Request, b []byte) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(b)), Request: r}, nil
}

func hang(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, &url.Error{Op: "Get", URL: r.URL.String(), Err: r.Context().Err()}
}

func TestHangingHTTPSLeavesTimeForHTTP(t *testing.T) {
	rows := map[string]struct {
		limit time.Duration // of ctx; 0 for none
		took  time.Duration
	}{"no deadline": {0, 4 * time.Second}, "deadline": {3 * time.Second, 2 * time.Second}, "long deadline": {30 * time.Second, 20 * time.Second}}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if r.limit != 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, r.limit)
					defer cancel()
				}
				f := &Finder{Check: url.Parse, Do: webtest.Doer(func(r *http.Request) (*http.Response, error) {
					if r.URL.Scheme == "https" {
						return hang(r)
					}
					return answer(r, picture(icoMagic))
				})}
				start := time.Now()
				icon, err := f.Root(ctx, "a.example")
				expect(t, icon, err, "http://a.example/favicon.ico")
				if took := time.Since(start); took != r.took {
					t.Errorf("took %v, want %v", took, r.took)
				}
			})
		})
	}
}

func TestHangingIconLeavesTimeForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &Finder{Check: url.Parse, Do: webtest.Doer(func(r *http.Request) (*http.Response, error) {
			switch r.URL.Path {
			case "/":
				return answer(r, []byte(`<link rel=icon href=1.png><link rel=icon href=2.png>`))
			case "/2.png":
				return answer(r, picture(pngMagic))
			}
			return hang(r)
		})}
		icon, err := f.Page(t.Context(), "a.example")
		expect(t, icon, err, "https://a.example/2.png")
	})
}

func TestEverythingHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &Finder{Check: url.Parse, Do: webtest.Doer(hang)}
		start := time.Now()
		_, err := f.Root(t.Context(), "a.example")
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrNone) || took != defaultBudget {
			t.Errorf("%v after %v", err, took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start = time.Now()
		_, err = f.Page(ctx, "a.example")
		if took := time.Since(start); !errors.Is(err, context.Canceled) || took != time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}

func TestEveryRequestIsChecked(t *testing.T) {
	w := newWeb(t, pages{
		"https://a.example/":      webtest.RedirectTo("/home"),
		"https://a.example/home":  page(`<link rel=icon href=1.png><link rel=icon href=/2.png>`),
		"https://a.example/2.png": webtest.RedirectTo("//cdn.example/3.png"), "https://cdn.example/3.png": serves(picture(pngMagic)),
	})
	icon, err := finderOf(w).Page(t.Context(), "a.example")
	expect(t, icon, err, "https://cdn.example/3.png")
	want := []string{"https://a.example/", "https://a.example/home", "https://a.example/1.png", "https://a.example/2.png", "https://cdn.example/3.png"}
	if !slices.Equal(w.Checked, want) || !slices.Equal(w.Requested, want) {
		t.Errorf("checked %q, requested %q", w.Checked, w.Requested)
	}
}

func TestGuardRefusesEachRequest(t *testing.T) {
	const metadata = "http://169.254.169.254/latest/meta-data/"
	w := newWeb(t, nil)
	plain := w.Port()
	g, client := w.Guarded(t)
	f := &Finder{Do: client, Check: g.CheckURL}
	origin := "http://site.example.org:" + plain
	w.Pages = pages{
		origin + "/favicon.ico": webtest.RedirectTo("/second"), origin + "/second": webtest.RedirectTo(metadata),
		origin + "/": page(`<link rel=icon href="` + metadata + `"><link rel=icon href=no.png>`),
	}
	_, root := f.Root(t.Context(), "site.example.org:"+plain)
	_, linked := f.Page(t.Context(), "site.example.org:"+plain)
	_, first := f.Root(t.Context(), "169.254.169.254")
	_, dialled := f.Root(t.Context(), "inside.example.org:"+plain)
	for name, err := range map[string]error{"redirect": root, "link": linked, "first": first} {
		if _, ok := errors.AsType[*guard.ForbiddenError](err); !ok || errors.Is(err, ErrNone) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), webtest.Hidden) {
			t.Errorf("%s reveals the internal address: %v", name, err)
		}
	}
	// A name with an internal address gets the error of a name that does not exist.
	if dns, ok := errors.AsType[*net.DNSError](dialled); !ok || !dns.IsNotFound || errors.Is(dialled, ErrNone) || strings.Contains(dialled.Error(), webtest.Hidden) {
		t.Errorf("dialled: %v", dialled)
	}
	w.Pages[origin+"/good.png"] = serves(picture(pngMagic))
	w.Pages[origin+"/"] = page(`<link rel=icon href="` + metadata + `"><link rel=icon href=good.png>`)
	icon, err := f.Page(t.Context(), "site.example.org:"+plain)
	expect(t, icon, err, origin+"/good.png")
}
