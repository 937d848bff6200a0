// Package shortlink restores a short link to the long one behind it. It promises
// to ask for no more than that takes, since asking can have effects: a known
// shortener is asked for its redirect and nothing behind it. No URL is asked or
// returned that Check has not passed, no script is run, and every walk ends: by
// hops, by time, by bytes.
package shortlink

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	maxHops    = 10
	maxUnknown = 5 // hops that start at hosts which are no shorteners
	walkWait   = 10 * time.Second
	hopWait    = 5 * time.Second
)

// Doer sends one request. It must not follow redirects: the Follower walks them
// itself. An *http.Client does so when its CheckRedirect returns
// http.ErrUseLastResponse; it fails by itself on a Location that is no URL.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Follower restores links. It is safe for concurrent use if its fields are.
type Follower struct {
	Do Doer
	// Check passes a URL, and returns it as it is to be sent, or refuses it. It
	// is asked about each URL of a walk, also of the last, which may not be
	// asked itself. Its errors come back wrapped, and so do those of Do that are
	// not of the network: such a refusal ends the walk without a result.
	Check func(raw string) (*url.URL, error)
	// OwnHosts are the names of this service, in lower case: it never asks
	// itself. Ports do not matter.
	OwnHosts []string
}

// Follow walks from a URL, as Normalize returns it, to where it leads. It takes
// at most 10 s, 5 s a hop, and 10 hops, of which 5 may start at hosts that are no
// known shorteners. The target of a known one is returned unasked.
//
// A link that does not redirect is its own target. The error is ErrGone for a
// link that is dead, ErrSelf, one of Check, a *StatusError when the link's
// server has no answer now, or tells why it did not answer. Once a hop is
// made, later ones that do not answer leave a Result that is not Final.
func (f *Follower) Follow(ctx context.Context, raw string) (*Result, error) {
	ctx, cancel := context.WithTimeout(ctx, walkWait)
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

// walk is the state between hops.
type walk struct {
	Result
	follower *Follower
	jar      *cookiejar.Jar // of this walk alone
	at       *url.URL       // checked
	seen     map[string]bool
	left     bool // at is the target of a known shortener
	unknown  int  // hops that started elsewhere
}

func (f *Follower) start(raw string) (*walk, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, fmt.Errorf("make a cookie jar: %w", err)
	}
	w := &walk{Result: Result{URL: raw, Long: raw, Via: "none"}, follower: f, jar: jar, seen: map[string]bool{}}
	if w.at, err = f.permit(raw); err != nil {
		return nil, err
	}
	w.seen[w.state(w.at)] = true
	return w, nil
}

func (f *Follower) permit(raw string) (*url.URL, error) {
	u, err := f.Check(raw)
	if err != nil {
		return nil, fmt.Errorf("follow link: %w", err)
	}
	if slices.Contains(f.OwnHosts, strings.ToLower(u.Hostname())) {
		return nil, ErrSelf
	}
	return u, nil
}

// step makes a hop, and tells whether to go on.
func (w *walk) step(ctx context.Context) (bool, error) {
	if isBlock(w.at) {
		w.Blocked = true
		return false, nil
	}
	if f := unwrap(w.at); f != nil {
		return w.hop(f)
	}
	if w.left {
		w.Final = true
		return false, nil
	}
	f, err := w.ask(ctx)
	switch {
	case err == nil:
	case len(w.Hops) > 0 && unreachable(err) && !errors.Is(ctx.Err(), context.Canceled):
		w.Status = 0
		return false, nil
	default:
		return false, err
	}
	if f == nil || f.target == nil {
		w.Final = f == nil || !f.broken
		if f != nil {
			w.AppURL = f.app
		}
		return false, nil
	}
	return w.hop(f)
}

// hop moves to a target, unless it is one too many or closes a loop.
func (w *walk) hop(f *found) (bool, error) {
	family := inFamily(w.at)
	if !family {
		w.unknown++
	}
	if len(w.Hops) == maxHops || w.unknown > maxUnknown {
		return false, nil
	}
	next, err := w.follower.permit(f.target.String())
	if err != nil {
		return false, err
	}
	state := w.state(next)
	if w.seen[state] {
		return false, nil
	}
	w.seen[state] = true
	w.left = family && !inFamily(next)
	w.at, w.Long, w.Via = next, f.target.String(), f.via
	w.Warned = w.Warned || f.warned
	w.Hops = append(w.Hops, w.Long)
	return true, nil
}

// state is what a server could answer differently to: some set a cookie and
// redirect to the same URL.
func (w *walk) state(u *url.URL) string {
	var b strings.Builder
	b.WriteString(withoutFragment(u))
	for _, c := range w.jar.Cookies(u) {
		b.WriteString("\n" + c.String())
	}
	return b.String()
}

// Result of a walk.
type Result struct {
	URL   string // that the walk began with
	Long  string // that it ended at; URL itself for a link that does not redirect
	Clean string // Long without known tracking keys
	// Hops are the URLs after the first, in order: Long is the last of them.
	Hops []string
	// Status of the last answer; 0 when nobody was asked, or did not answer.
	Status int
	// Via is how the last hop was found: http (Location or Refresh), meta,
	// script, query (it stood in the URL), interstitial (a page that shows it),
	// or none.
	Via string
	// Warned: a service on the way warns of the link.
	Warned bool
	// Blocked: a service on the way hides where the link leads; Long is its page.
	Blocked bool
	// Final is false when the link leads further than Long: too many hops, a
	// loop, a block, a last hop that did not answer or gave no readable target.
	Final bool
	// AppURL is where the last page sends telephones instead, for the schemes of
	// some well-known apps; "" otherwise.
	AppURL string
}

// Data has only values as encoding/json decodes them, but numbers are int.
// status and app_url are nil when unknown.
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
