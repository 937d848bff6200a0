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
