package catalog

import (
	"bytes"
	_ "embed"
	"errors"
	"html/template"
	"net/url"
	"sync"

	"golang.org/x/net/idna"

	"sundry/cache/entry"
	"sundry/upstreams/lib/shortlink"
)

// typeHTML is the content type of the interstitial page.
const typeHTML = "text/html; charset=utf-8"

// interstitialHTML is the page between this service and a link that a caller
// chose. It needs no script, and its link sends no Referer.
//
//go:embed interstitial.html
var interstitialHTML string

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
func (f *Form) interstitial(to string) (*entry.Body, error) {
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
