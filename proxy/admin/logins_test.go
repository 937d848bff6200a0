package admin

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

// TestWrongTokensAreSlowed: after some at once, an address may send one in a while, and until then
// even the right one is refused, so that it cannot be guessed meanwhile. Others are not concerned.
func TestWrongTokensAreSlowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := handler(rightToken)
		want := func(from, token string, codes ...int) {
			t.Helper()
			for _, code := range codes {
				if got := login(t.Context(), h, from, token); got != code {
					t.Errorf("%s from %s: %d, want %d", token, from, got, code)
				}
			}
		}
		want("192.0.2.1:1000", "wrong", slices.Repeat([]int{http.StatusUnauthorized}, freeLogins)...)
		want("192.0.2.1:1000", "wrong", http.StatusTooManyRequests, http.StatusTooManyRequests)
		want("192.0.2.1:1001", rightToken, http.StatusTooManyRequests)
		want("192.0.2.2:1000", rightToken, http.StatusOK)
		time.Sleep(loginPause - time.Millisecond)
		want("192.0.2.1:1001", rightToken, http.StatusTooManyRequests)
		time.Sleep(time.Millisecond)
		want("192.0.2.1:1001", rightToken, http.StatusOK, http.StatusOK)
		want("192.0.2.1:1000", "wrong", http.StatusUnauthorized, http.StatusTooManyRequests)
	})
}

// TestGuessesAtOnceAreBounded: those of a network count together, however many there are at a time.
func TestGuessesAtOnceAreBounded(t *testing.T) {
	h := handler(rightToken)
	var guesses sync.WaitGroup
	var taken atomic.Int64
	for i := range 100 {
		guesses.Go(func() {
			if login(t.Context(), h, fmt.Sprintf("[2001:db8::%x]:1", i), "wrong") == http.StatusUnauthorized {
				taken.Add(1)
			}
		})
	}
	guesses.Wait()
	if n := taken.Load(); n < freeLogins || n > freeLogins+1 {
		t.Errorf("%d guesses were looked at", n)
	}
	if code := login(t.Context(), h, "[2001:db8:0:1::1]:1", rightToken); code != http.StatusOK {
		t.Errorf("another network: %d", code)
	}
}

// TestFailedLoginsAreCountedAndLogged: with the address, without what was
// guessed, and not a line each. A request without a token guesses nothing.
func TestFailedLoginsAreCountedAndLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		reg := prometheus.NewRegistry()
		h := New(Config{Token: rightToken, Ready: func() bool { return true }, Metrics: http.NotFoundHandler(), Registerer: reg, Log: slog.New(slog.NewTextHandler(&out, nil))})
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
		time.Sleep(loginLogInterval)
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
