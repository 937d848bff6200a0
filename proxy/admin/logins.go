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

	"sundry/metrics"
	"sundry/metrics/words"
)

// Delays and bounds after wrong tokens.
const (
	freeLogins       = 3                      // failures without a delay, for typing mistakes
	loginDelay       = 200 * time.Millisecond // the first one; it doubles with each failure
	maxLoginDelay    = 3 * time.Second        // the longest one
	loginWindow      = 15 * time.Minute       // how long a failure counts against its address
	maxLoginClients  = 1024                   // addresses whose failures are remembered
	maxLoginsWaiting = 4                      // delayed requests of one address at a time
	loginLogInterval = time.Second            // between two log lines
)

// logins slows down guessing of the token. Requests from an address with failures
// are delayed before their token is checked, whether it is right or wrong: if only
// wrong ones were slow, an attacker would know them by that and not wait. Requests from
// other addresses are not delayed. IPv6 addresses count by /64.
type logins struct {
	failed prometheus.Counter
	log    *slog.Logger

	mu       sync.Mutex
	clients  map[netip.Prefix]*loginFailures
	logged   time.Time // the last log line
	unlogged int       // failures since then
}

// loginFailures of one address.
type loginFailures struct {
	failed  int
	last    time.Time // of the last failure
	waiting int       // requests that are being delayed
}

func newLogins(log *slog.Logger) *logins {
	return &logins{
		log: log, clients: map[netip.Prefix]*loginFailures{},
		failed: prometheus.NewCounter(prometheus.CounterOpts{Namespace: metrics.Namespace, Subsystem: "admin", Name: "logins_failed_total",
			Help: "Requests to the admin listener with a wrong token."}),
	}
}

// client returns the address, or the /64 of IPv6, that the failures of a request
// count for.
func client(r *http.Request) netip.Prefix {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{} // not of a real connection
	}
	addr, length := peer.Addr().Unmap().WithZone(""), 32
	if addr.Is6() {
		length = 64
	}
	p, _ := addr.Prefix(length) // the length fits
	return p
}

// delay returns how long a request waits after so many failures of its address.
func delay(failed int) time.Duration {
	if failed < freeLogins {
		return 0
	}
	return min(loginDelay<<min(failed-freeLogins, 10), maxLoginDelay)
}

// wait delays a request from an address with failures; false when too many from
// that address are waiting, or the client disconnected.
func (l *logins) wait(ctx context.Context, who netip.Prefix) bool {
	l.mu.Lock()
	f := l.clients[who]
	if f == nil || delay(f.failed) == 0 || time.Since(f.last) >= loginWindow {
		l.mu.Unlock()
		return true
	}
	if f.waiting >= maxLoginsWaiting {
		l.mu.Unlock()
		return false
	}
	f.waiting++
	timer := time.NewTimer(delay(f.failed))
	l.mu.Unlock()
	defer timer.Stop()
	defer func() { l.mu.Lock(); f.waiting--; l.mu.Unlock() }()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// fail counts a wrong token.
func (l *logins) fail(who netip.Prefix, r *http.Request) {
	l.failed.Inc()
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.remember(who, now)
	f.failed, f.last = f.failed+1, now
	l.unlogged++
	// The first, second, fourth, eighth failure and so on of an address is logged.
	if bits.OnesCount(uint(f.failed)) != 1 || now.Sub(l.logged) < loginLogInterval && !l.logged.IsZero() {
		return
	}
	l.log.Warn("login to the admin listener failed: wrong token", "from", r.RemoteAddr, "in_a_row", f.failed, "failed_since_last_line", l.unlogged)
	l.logged, l.unlogged = now, 0
}

// remember returns the failures of an address; zero, if it has none in the window.
// The caller holds mu.
func (l *logins) remember(who netip.Prefix, now time.Time) *loginFailures {
	f := l.clients[who]
	if f != nil && now.Sub(f.last) < loginWindow {
		return f
	}
	if f == nil && len(l.clients) >= maxLoginClients {
		l.forget(now)
	}
	if f == nil {
		f = &loginFailures{}
		l.clients[who] = f
	}
	f.failed = 0
	return f
}

// forget removes addresses whose failures no longer count, or else the one whose
// last failure is the oldest. The caller holds mu.
func (l *logins) forget(now time.Time) {
	var oldest netip.Prefix
	var at time.Time
	for who, f := range l.clients {
		if now.Sub(f.last) >= loginWindow {
			delete(l.clients, who)
		} else if at.IsZero() || f.last.Before(at) {
			oldest, at = who, f.last
		}
	}
	if len(l.clients) >= maxLoginClients {
		delete(l.clients, oldest)
	}
}

// succeed forgets the failures of an address.
func (l *logins) succeed(who netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.clients, who)
}

// tooMany refuses a request because too many of its address are waiting.
func tooMany(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Retry-After", strconv.Itoa(int(maxLoginDelay/time.Second)))
	refuseInText(w, r, http.StatusTooManyRequests, words.Say("too many wrong tokens from this address; try again in a moment", "来自你的地址的错误令牌太多，请稍后再试"))
}
