package admin

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"sundry/metrics"
	"sundry/metrics/words"
	"sundry/proxy/ratelimit"
)

const (
	// freeLogins is how many wrong tokens an address may send at once: typing mistakes, and the
	// calls of a console whose token was replaced.
	freeLogins = 10
	// loginPause is the time after which it may send another one.
	loginPause = 3 * time.Second
	// loginLogInterval is the least time between two lines in the log.
	loginLogInterval = time.Minute
)

// logins slows down guessing of the token: requests from an address that has sent too many wrong
// ones are refused for a while, whether theirs is right or wrong. If only wrong ones were, an
// attacker would lose nothing by guessing on. Other addresses are not concerned. IPv6 addresses
// count by /64.
type logins struct {
	failed prometheus.Counter
	log    *slog.Logger

	mu       sync.Mutex // held for a whole look, so that guesses at once count one after the other
	wrong    *ratelimit.Limiter
	logged   time.Time // the last log line
	unlogged int       // failures since then
}

func newLogins(reg prometheus.Registerer, log *slog.Logger) *logins {
	return &logins{
		log: log, wrong: ratelimit.New(1/loginPause.Seconds(), freeLogins),
		failed: promauto.With(reg).NewCounter(prometheus.CounterOpts{Namespace: metrics.Namespace, Subsystem: "admin", Name: "logins_failed_total",
			Help: "Requests to the admin listener with a wrong token."}),
	}
}

// look takes note of a request with a token. It reports whether the token counts, else how long
// those of its address do not.
func (l *logins) look(r *http.Request, right bool) (wait time.Duration, ok bool) {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr) // none, if it is not of a real connection
	ask := l.wrong.Ask
	l.mu.Lock()
	defer l.mu.Unlock()
	if !right {
		l.fail(r)
		ask = l.wrong.Allow
	}
	a := ask(peer.Addr(), time.Now())
	return a.Next, a.OK
}

// fail counts a wrong token, and logs it unless one was logged a moment ago. The caller holds mu.
func (l *logins) fail(r *http.Request) {
	l.failed.Inc()
	l.unlogged++
	if now := time.Now(); now.Sub(l.logged) >= loginLogInterval {
		l.log.Warn("login to the admin listener failed: wrong token", "from", r.RemoteAddr, "failed_since_last_line", l.unlogged)
		l.logged, l.unlogged = now, 0
	}
}

// tooMany refuses a request because its address has sent too many wrong tokens.
func tooMany(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
	refuseBefore(w, r, http.StatusTooManyRequests, words.Say("too many wrong tokens from this address; try again in a moment", "来自你的地址的错误令牌太多，请稍后再试"))
}
