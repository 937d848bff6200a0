package express

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"sundry/upstreams/lib/longtest"
)

// TestSlowReadersGetLargeAnswersWhole, though that takes longer than the time for an answer, in the lane and by net/http.
func TestSlowReadersGetLargeAnswersWhole(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	const timeout, pause, step = 500 * time.Millisecond, 4 * time.Millisecond, 64 << 10
	plain := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(huge())))
		_, _ = Write(w, huge(), timeout)
	}))
	plain.Config.WriteTimeout = timeout
	plain.Start()
	t.Cleanup(plain.Close)
	for name, address := range map[string]string{"lane": "http://" + openSite(t, limits(long, 0, timeout, long)).addr, "net/http": plain.URL} {
		begun := time.Now()
		resp, err := http.Get(address + "/huge")
		if err != nil {
			t.Fatal(err)
		}
		pauses, read := time.NewTicker(pause), int64(0)
		for err == nil {
			<-pauses.C
			var n int64
			n, err = io.CopyN(io.Discard, resp.Body, step)
			read += n
		}
		pauses.Stop()
		_ = resp.Body.Close()
		if took := time.Since(begun); read != int64(len(huge())) || took < 2*timeout {
			t.Errorf("%s: %d of %d bytes in %v: %v", name, read, len(huge()), took, err)
		}
	}
}

// TestPace: a piece has the timeout, and all of it what the slowest reader takes besides.
func TestPace(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	p := paceOf(time.Minute, 8<<20, now)
	for after, want := range map[time.Duration]time.Duration{0: time.Minute, 2 * time.Minute: 3 * time.Minute, 3 * time.Minute: 3*time.Minute + 8*time.Second} {
		if got := p.next(now.Add(after)).Sub(now); got != want {
			t.Errorf("after %v: %v, want %v", after, got, want)
		}
	}
}
