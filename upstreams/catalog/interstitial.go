package catalog

import (
	"bytes"
	"errors"
	"html/template"
	"net/url"
	"sync"

	"golang.org/x/net/idna"

	"sundry/cache"
	"sundry/upstreams/lib/shortlink"
)

// typeHTML is the content type of the interstitial page.
const typeHTML = "text/html; charset=utf-8"

// interstitialHTML is the page between this service and a link that a caller
// chose. It needs no script, and its link sends no Referer.
const interstitialHTML = `<!DOCTYPE html>
<html lang="zh">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>即将离开本站 · Leaving this service</title>
<style>
body { margin: 10vh auto; max-width: 36rem; padding: 0 1rem; font: 1rem/1.6 system-ui, sans-serif; }
.host { font-size: 1.6rem; font-weight: 600; overflow-wrap: anywhere; }
.link { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
a.on { display: inline-block; padding: .4rem 1rem; border: 1px solid; border-radius: .3rem; }
</style>
</head>
<body>
<h1>即将离开本站 <span lang="en">Leaving this service</span></h1>
<p>此短链接指向以下网站，本站未作核实： <span lang="en">This short link leads to the following site, which has not been verified:</span></p>
<p class="host" dir="ltr">{{.Host}}{{with .Unicode}} <bdi>({{.}})</bdi>{{end}}</p>
<p class="link" dir="ltr">{{.Link}}</p>
<p><a class="on" href="{{.Link}}" rel="nofollow ugc noopener noreferrer" referrerpolicy="no-referrer">继续前往 <span lang="en">Continue</span></a></p>
</body>
</html>
`

// interstitialTemplate is parsed once, when the first such page is made.
var interstitialTemplate = sync.OnceValues(func() (*template.Template, error) { return template.New("interstitial").Parse(interstitialHTML) })

var errNotWeb = errors.New("the link is not an http or https address")

// webAddress reads an absolute http(s) address.
func webAddress(to string) (*url.URL, error) {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, errNotWeb
	}
	return u, nil
}

// interstitial makes the page for a link. The host is shown in ASCII, as it is
// looked up, since letters of other scripts imitate it; those follow in brackets.
func (f *Form) interstitial(to string) (*cache.Body, error) {
	u, err := webAddress(to)
	if err != nil {
		return nil, err
	}
	canonical, err := shortlink.Normalize(to)
	if err != nil {
		return nil, errNotWeb
	}
	ascii, err := url.Parse(canonical)
	if err != nil {
		return nil, errNotWeb
	}
	u.Host = ascii.Host
	page, err := interstitialTemplate()
	if err != nil {
		return nil, err
	}
	shown := struct{ Host, Unicode, Link string }{Host: u.Hostname(), Link: u.String()}
	if other, err := idna.Display.ToUnicode(shown.Host); err == nil && other != shown.Host {
		shown.Unicode = other
	}
	var b bytes.Buffer
	if err := page.Execute(&b, shown); err != nil {
		return nil, err
	}
	return f.plain(typeHTML, b.Bytes()), nil
}
