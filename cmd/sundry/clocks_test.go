package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

// TestAPurgeAndWhatFollowsKeepTheirOrder: what an instance fetches right after its own purge
// is not purged for the others, though its clock is a second ahead, or behind: purges and
// entries are dated by one clock. It runs with the soak, whose program it needs.
func TestAPurgeAndWhatFollowsKeepTheirOrder(t *testing.T) {
	if os.Getenv("SUNDRY_TEST_SOAK") == "" {
		t.Skip("SUNDRY_TEST_SOAK is not set; see TestSoak")
	}
	server := redistest.Start(t)
	var calls atomic.Int64
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(w, `{"n":%d}`, calls.Add(1)) }))
	t.Cleanup(source.Close)
	dir := t.TempDir()
	writeEndpoint(t, dir, "own", source.URL, "ttl: 1h")
	program := buildWithClock(t)
	config := write(t, t.TempDir(), "clocks.yaml", "cache: {warm: false}\nlimits: {rate: 0}\n"+only())
	var fleet []*soaked
	for i, ahead := range []time.Duration{0, time.Second, -time.Second} {
		fleet = append(fleet, startSoaked(t, program, fmt.Sprint("instance ", i+1), ahead, false, "--config", config, "--catalog", dir, "--redis", server.URL()))
	}
	for i, m := range fleet {
		id := i + 1
		s := &soak{t: t, http: http.DefaultClient}
		waittest.Until(t, m.name+" is in sync", func() bool {
			return s.metric(m, "sundry_settings_in_sync") == 1 && s.metric(m, "sundry_far_listening") == 1
		})
		mustGet(t, fmt.Sprintf("%s/api/own?id=%d", m.public, id))
		if status, body, err := s.admin(m, http.MethodPost, "purge", `{"endpoint":"own","mode":"hard"}`); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s %v", status, body, err)
		}
		_, want := mustGet(t, fmt.Sprintf("%s/api/own?id=%d", m.public, id))
		for _, other := range fleet {
			waittest.Until(t, other.name+" serves what "+m.name+" has fetched", func() bool {
				_, got := mustGet(t, fmt.Sprintf("%s/api/own?id=%d", other.public, id))
				return strings.TrimSpace(got) == strings.TrimSpace(want)
			})
		}
	}
	if n := calls.Load(); n != int64(2*len(fleet)) {
		t.Errorf("%d calls, want two for each key: before and after its purge", n)
	}
}
