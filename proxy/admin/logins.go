package admin

import (
	"context"
	"log/slog"
	"math/bits"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Bounds on who bears wrong tokens.
const (
	freeLogins   = 3                      // failures without a delay, for mistakes in typing
	loginDelay   = 200 * time.Millisecond // of the first that has one; each after it has twice as much
	loginDelays  = 3 * time.Second        // the longest
	loginMemory  = 15 * time.Minute       // how long failures count against an address
	loginClients = 1024                   // addresses that are remembered
	loginWaiting = 4                      // requests of an address that wait at once
	loginLines   = time.Second            // between two lines of the log
)

// logins slows down guesses of the token. Requests of an address with failures
// wait before their token is looked at, be it right or wrong: were only wrong
// ones slow, whoever guesses would not wait for the answer. Others are never
// behind them. Addresses of IPv6 are taken by /64.
type logins struct {
	failed prometheus.Counter
	log    *slog.Logger

	mu      sync.Mutex
	clients map[netip.Prefix]*guesses
	logged  time.Time // the last line
	unsaid  int       // failures since then
}

// guesses of one address.
type guesses struct {
	failed  int
	last    time.Time
	waiting int
}

func newLogins(log *slog.Logger) *logins {
	return &logins{
		log: log, clients: map[netip.Prefix]*guesses{},
		failed: prometheus.NewCounter(prometheus.CounterOpts{Namespace: "sundry", Subsystem: "admin", Name: "logins_failed_total",
			Help: "Requests to the admin listener with a wrong token."}),
	}
}

// client is the address that a request counts for.
func client(r *http.Request) netip.Prefix {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{} // of a test's making
	}
	addr, length := peer.Addr().Unmap().WithZone(""), 32
	if addr.Is6() {
		length = 64
	}
	p, _ := addr.Prefix(length) // the length fits
	return p
}

// delay of an address after so many failures.
func delay(failed int) time.Duration {
	if failed < freeLogins {
		return 0
	}
	return min(loginDelay<<min(failed-freeLogins, 10), loginDelays)
}

// wait lets a request of the address have its turn; false when too many of it
// wait already, or it left.
func (l *logins) wait(ctx context.Context, who netip.Prefix) bool {
	l.mu.Lock()
	g := l.clients[who]
	if g == nil || delay(g.failed) == 0 || time.Since(g.last) >= loginMemory {
		l.mu.Unlock()
		return true
	}
	if g.waiting >= loginWaiting {
		l.mu.Unlock()
		return false
	}
	g.waiting++
	timer := time.NewTimer(delay(g.failed))
	l.mu.Unlock()
	defer timer.Stop()
	defer func() { l.mu.Lock(); g.waiting--; l.mu.Unlock() }()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// fail notes a wrong token.
func (l *logins) fail(who netip.Prefix, r *http.Request) {
	l.failed.Inc()
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.remember(who, now)
	g.failed, g.last = g.failed+1, now
	l.unsaid++
	// Of one address the first, second, fourth, eighth and so on.
	if bits.OnesCount(uint(g.failed)) != 1 || now.Sub(l.logged) < loginLines && !l.logged.IsZero() {
		return
	}
	l.log.Warn("log-in to the admin listener failed: wrong token", "from", r.RemoteAddr, "in_a_row", g.failed, "failed_since_last_line", l.unsaid)
	l.logged, l.unsaid = now, 0
}

// remember finds an address, or makes room for it. The caller holds mu.
func (l *logins) remember(who netip.Prefix, now time.Time) *guesses {
	g := l.clients[who]
	if g != nil && now.Sub(g.last) < loginMemory {
		return g
	}
	if g == nil && len(l.clients) >= loginClients {
		l.forget(now)
	}
	if g == nil {
		g = &guesses{}
		l.clients[who] = g
	}
	g.failed = 0
	return g
}

// forget drops addresses whose failures count no more, else the one whose last
// failure is the longest ago. The caller holds mu.
func (l *logins) forget(now time.Time) {
	var oldest netip.Prefix
	var at time.Time
	for who, g := range l.clients {
		if now.Sub(g.last) >= loginMemory {
			delete(l.clients, who)
		} else if at.IsZero() || g.last.Before(at) {
			oldest, at = who, g.last
		}
	}
	if len(l.clients) >= loginClients {
		delete(l.clients, oldest)
	}
}

// succeed forgets the failures of an address.
func (l *logins) succeed(who netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.clients, who)
}

// tooMany refuses a request that may not even wait.
func tooMany(w http.ResponseWriter) {
	w.Header().Set("Retry-After", strconv.Itoa(int(loginDelays/time.Second)))
	http.Error(w, "too many wrong tokens from this address; try again in a moment", http.StatusTooManyRequests)
}
