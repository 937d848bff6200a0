// Package shortlink resolves a short link to its target. It promises to send no
// more requests than that takes, since requests can have effects: a known
// shortener's target is not requested itself. No URL is requested or returned
// that Check has not accepted, no script is run, and every resolution is bounded in
// redirects, time and bytes.
package shortlink

import (
	"context"
	"errors"
	"fmt"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"time"

	"sundry/upstreams/lib/webpage"
)

const (
	maxRedirects   = 10
	maxUnknown     = 5 // redirects by hosts that are not known shorteners
	resolveTimeout = 10 * time.Second
	requestTimeout = 5 * time.Second
)

// Resolver resolves links. It is safe for concurrent use if its fields are.
type Resolver struct {
	Do webpage.Doer
	// Check accepts a URL and returns it as it is to be sent, or rejects it. It is
	// called for each URL of a resolution, also for the last one, which may not be
	// requested. Its errors are returned wrapped, and so are those of Do that are
	// not network errors: such a refusal ends the resolution without a result.
	Check func(raw string) (*url.URL, error)
	// OwnHosts are the names of this service, in lower case, which are never
	// requested. Ports do not matter.
	OwnHosts []string
}

// Resolve follows the redirects of a URL, in the form that Normalize returns, to
// its target. It takes at most 10 s, 5 s per request, and 10 redirects, of which 5
// may be by hosts that are not known shorteners. The target of a known one is
// returned without being requested.
//
// A link that does not redirect is its own target. The error is ErrGone for a link
// that does not exist any more, ErrSelf, one of Check, or says what the link's
// server answered, or why it did not. After the first
// redirect, a later request without an answer ends with a Result that is not Final.
func (f *Resolver) Resolve(ctx context.Context, raw string) (*Result, error) {
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	w, err := f.start(raw)
	for more := true; more && err == nil; {
		more, err = w.step(ctx)
	}
	if err != nil {
		return nil, err
	}
	w.Clean = clean(w.Long)
	return &w.Result, nil
}

// resolution is the state between redirects.
type resolution struct {
	Result
	resolver *Resolver
	jar      *cookiejar.Jar // of this resolution only
	current  *url.URL       // checked
	visited  map[string]bool
	reached  bool // current is the target of a known shortener
	unknown  int  // redirects by other hosts
}

func (f *Resolver) start(raw string) (*resolution, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, fmt.Errorf("make a cookie jar: %w", err)
	}
	w := &resolution{Result: Result{URL: raw, Long: raw, Via: "none"}, resolver: f, jar: jar, visited: map[string]bool{}}
	if w.current, err = f.permit(raw); err != nil {
		return nil, err
	}
	w.visited[w.state(w.current)] = true
	return w, nil
}

func (f *Resolver) permit(raw string) (*url.URL, error) {
	u, err := f.Check(raw)
	if err != nil {
		return nil, fmt.Errorf("resolve link: %w", err)
	}
	if slices.Contains(f.OwnHosts, strings.ToLower(u.Hostname())) {
		return nil, ErrSelf
	}
	return u, nil
}

// step follows one redirect, and reports whether to go on.
func (w *resolution) step(ctx context.Context) (bool, error) {
	if isBlockPage(w.current) {
		w.Blocked = true
		return false, nil
	}
	if f := unwrap(w.current); f != nil {
		return w.redirect(f)
	}
	if w.reached {
		w.Final = true
		return false, nil
	}
	f, err := w.request(ctx)
	switch {
	case err == nil:
	case len(w.Hops) > 0 && unreachable(err) && !errors.Is(ctx.Err(), context.Canceled):
		w.Status = 0
		return false, nil
	default:
		return false, err
	}
	if f == nil || f.target == nil {
		w.Final = f == nil || !f.invalid
		if f != nil {
			w.AppURL = f.app
		}
		return false, nil
	}
	return w.redirect(f)
}

// redirect moves to a target, unless it is one too many or closes a loop.
func (w *resolution) redirect(f *found) (bool, error) {
	intermediate := isIntermediate(w.current)
	if !intermediate {
		w.unknown++
	}
	if len(w.Hops) == maxRedirects || w.unknown > maxUnknown {
		return false, nil
	}
	next, err := w.resolver.permit(f.target.String())
	if err != nil {
		return false, err
	}
	state := w.state(next)
	if w.visited[state] {
		return false, nil
	}
	w.visited[state] = true
	w.reached = intermediate && !isIntermediate(next)
	w.current, w.Long, w.Via = next, f.target.String(), f.via
	w.Warned = w.Warned || f.warned
	w.Hops = append(w.Hops, w.Long)
	return true, nil
}

// state is what the answer of a server depends on: some set a cookie and redirect
// to the same URL.
func (w *resolution) state(u *url.URL) string {
	var b strings.Builder
	b.WriteString(withoutFragment(u))
	for _, c := range w.jar.Cookies(u) {
		b.WriteString("\n" + c.String())
	}
	return b.String()
}

// Result of a resolution.
type Result struct {
	URL   string // that was resolved
	Long  string // the target; URL itself for a link that does not redirect
	Clean string // Long without known tracking keys
	// Hops are the URLs after the first, in order: Long is the last of them.
	Hops []string
	// Status of the last response; 0 without one.
	Status int
	// Via is how the last redirect was found: http (Location or Refresh), meta,
	// script, query (a parameter of the URL), interstitial (a page that shows the
	// target), or none.
	Via string
	// Warned means that a service on the way warns about the link.
	Warned bool
	// Blocked means that a service on the way hides the target; Long is its page.
	Blocked bool
	// Final is false when Long is not the target of the link: after too many
	// redirects, a loop, a block, a request without an answer, an invalid target, or a
	// page whose script may lead on.
	Final bool
	// AppURL is the app that the last page opens on phones, for the schemes of some
	// well-known apps; "" otherwise.
	AppURL string
}

// Data is the Result as JSON-ready values. status and app_url are nil when
// unknown.
func (r *Result) Data() map[string]any {
	hops := make([]any, len(r.Hops))
	for i, h := range r.Hops {
		hops[i] = h
	}
	data := map[string]any{
		"url": r.URL, "long_url": r.Long, "clean_url": r.Clean, "hops": hops, "hop_count": len(hops),
		"status": nil, "via": r.Via, "warned": r.Warned, "blocked": r.Blocked, "final": r.Final, "app_url": nil,
	}
	if r.Status != 0 {
		data["status"] = r.Status
	}
	if r.AppURL != "" {
		data["app_url"] = r.AppURL
	}
	return data
}
