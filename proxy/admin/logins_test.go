package admin

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

const rightToken = "0123456789abcdef"

// login asks for the metrics from an address.
func login(ctx context.Context, h http.Handler, from, token string) int {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://admin.example/metrics", nil)
	r.RemoteAddr = from
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

// TestWrongTokensAreSlowed, more and more and up to a bound; others are not, and
// the right one is taken in the end.
func TestWrongTokensAreSlowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := handler(rightToken)
		var took []time.Duration
		for range 12 {
			start := time.Now()
			if code := login(t.Context(), h, "192.0.2.1:1000", "wrong"); code != http.StatusUnauthorized {
				t.Fatal(code)
			}
			took = append(took, time.Since(start))
		}
		want := []time.Duration{0, 0, 0, loginDelay, 2 * loginDelay, 4 * loginDelay, 8 * loginDelay, maxLoginDelay, maxLoginDelay, maxLoginDelay, maxLoginDelay, maxLoginDelay}
		if fmt.Sprint(took) != fmt.Sprint(want) {
			t.Errorf("waits %v, want %v", took, want)
		}
		start := time.Now()
		if code := login(t.Context(), h, "192.0.2.2:1000", rightToken); code != http.StatusOK || time.Since(start) != 0 {
			t.Errorf("another address: %d after %v", code, time.Since(start))
		}
		if code := login(t.Context(), h, "192.0.2.1:1001", rightToken); code != http.StatusOK || time.Since(start) != maxLoginDelay {
			t.Errorf("the right token of that address: %d after %v", code, time.Since(start))
		}
		start = time.Now()
		if code := login(t.Context(), h, "192.0.2.1:1002", rightToken); code != http.StatusOK || time.Since(start) != 0 {
			t.Errorf("once it was right: %d after %v", code, time.Since(start))
		}
	})
}

// TestGuessesAtOnceAreBounded: of one address few wait, the others are refused
// before their token is checked; one whose client disconnects waits no longer.
func TestGuessesAtOnceAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := handler(rightToken)
		for range 10 {
			login(t.Context(), h, "[2001:db8::1]:1", "wrong")
		}
		ctx, leave := context.WithCancel(t.Context())
		var mu sync.Mutex
		codes := map[int]int{}
		for i := range 100 {
			go func() {
				code := login(ctx, h, fmt.Sprintf("[2001:db8::%x]:1", i), rightToken)
				mu.Lock()
				defer mu.Unlock()
				codes[code]++
			}()
		}
		synctest.Wait()
		mu.Lock()
		if codes[http.StatusTooManyRequests] != 100-maxLoginsWaiting || len(codes) != 1 {
			t.Errorf("while some wait: %v", codes)
		}
		mu.Unlock()
		leave()
		synctest.Wait()
		if code := login(t.Context(), h, "[2001:db8:0:1::1]:1", rightToken); code != http.StatusOK {
			t.Errorf("another network: %d", code)
		}
		if code := login(t.Context(), h, "[2001:db8::1]:1", rightToken); code != http.StatusOK {
			t.Errorf("after those left: %d", code)
		}
	})
}

// TestFailedLoginsAreCountedAndLogged: with the address, without what was
// guessed, and not a line each. A request without a token guesses nothing.
func TestFailedLoginsAreCountedAndLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		reg := prometheus.NewRegistry()
		h, err := New(Config{Token: rightToken, Ready: func() bool { return true }, Metrics: http.NotFoundHandler(), Registerer: reg, Log: slog.New(slog.NewTextHandler(&out, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if w := get(h, "/metrics", ""); w.Code != http.StatusUnauthorized || out.Len() != 0 {
			t.Errorf("without a token: %d %s", w.Code, &out)
		}
		for range 3 {
			login(t.Context(), h, "192.0.2.1:1000", "guess-of-somebody")
		}
		for i := range 5000 {
			login(t.Context(), h, fmt.Sprintf("10.1.%d.%d:1", i/250, i%250), "guess-of-somebody")
		}
		if n := strings.Count(out.String(), "\n"); n != 1 || !strings.Contains(out.String(), "from=192.0.2.1:1000") || strings.Contains(out.String(), "guess") {
			t.Errorf("%d lines: %s", n, &out)
		}
		time.Sleep(2 * time.Second)
		login(t.Context(), h, "192.0.2.77:1", "guess-of-somebody")
		if n := strings.Count(out.String(), "\n"); n != 2 || !strings.Contains(out.String(), "failed_since_last_line=5003") {
			t.Errorf("%d lines: %s", n, &out)
		}
		if err := testutil.GatherAndCompare(reg, strings.NewReader(`
# HELP sundry_admin_logins_failed_total Requests to the admin listener with a wrong token.
# TYPE sundry_admin_logins_failed_total counter
sundry_admin_logins_failed_total 5004
`)); err != nil {
			t.Error(err)
		}
	})
}

// TestAddressesThatGuessAreForgotten, and never more than so many remembered.
func TestAddressesThatGuessAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogins(slog.New(slog.DiscardHandler))
		for i := range 3 * maxLoginClients {
			r := &http.Request{RemoteAddr: fmt.Sprintf("10.%d.%d.1:1", i/250, i%250)}
			l.fail(client(r), r)
			time.Sleep(time.Millisecond)
		}
		if len(l.clients) != maxLoginClients {
			t.Errorf("%d addresses", len(l.clients))
		}
		time.Sleep(loginWindow)
		r := &http.Request{RemoteAddr: "10.0.0.9:1"}
		if l.fail(client(r), r); len(l.clients) != 1 {
			t.Errorf("%d addresses after their time", len(l.clients))
		}
	})
}
