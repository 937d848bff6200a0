package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"sundry/cache/policy"
	"sundry/proxy/live"
)

// awayStore is a store that can be cut off.
type awayStore struct {
	live.File
	away bool
}

func (s *awayStore) Load(ctx context.Context) ([]byte, error) {
	if s.away {
		return nil, errors.New("away")
	}
	return s.File.Load(ctx)
}

func newReplicator(t *testing.T, store live.Store) *live.Replicator {
	t.Helper()
	return live.NewReplicator(live.ReplicatorConfig{
		Store: store, Log: slog.New(slog.DiscardHandler),
		Check: func(map[string]map[string]string) error { return nil }, Purge: func(map[string]policy.Purge, []live.Order) {}, Apply: func(live.EffectiveSettings) error { return nil },
	})
}

// TestStatusOfRefusals: a store that is away is not the operator's mistake.
func TestStatusOfRefusals(t *testing.T) {
	for want, errs := range map[int][]error{
		http.StatusBadRequest:          {live.ErrInvalid, badRequest("no", "不行")},
		http.StatusNotFound:            {noEndpoint("x")},
		http.StatusInternalServerError: {errors.New("other")},
	} {
		for _, err := range errs {
			if got := statusOf(fmt.Errorf("wrapped: %w", err)); got != want {
				t.Errorf("%v: %d, want %d", err, got, want)
			}
		}
	}
}

// TestUnknownCallsAreRefusedInJSON, as all that fail.
func TestUnknownCallsAreRefusedInJSON(t *testing.T) {
	h := New(Config{Ready: func() bool { return true }, Metrics: http.NotFoundHandler(), System: &System{}})
	for _, row := range []struct {
		method, path, language, want, allow string
		status                              int
	}{
		{"GET", "nothing", "en", "there is no such call", "", 404},
		{"GET", "nothing", "zh", "没有这个调用", "", 404},
		{"POST", "nothing", "en", "there is no such call", "", 404},
		{"POST", "overview", "en", "the method POST is not allowed; expected GET", "GET", 405},
		{"GET", "endpoints/ip/cache", "zh", "不支持 GET 方法，应为 PUT、DELETE", "PUT, DELETE", 405},
		{"GET", "../../metric", "en", `there is nothing at \"/metric\"; expected one of /admin/, /admin/api/, /metrics, /healthz, /readyz, /debug/pprof/`, "", 404},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(row.method, "http://127.0.0.1:9090"+path.Join("/admin/api", row.path), nil)
		r.Header.Set("Accept-Language", row.language)
		if h.ServeHTTP(w, r); w.Code != row.status || w.Body.String() != `{"error":"`+row.want+"\"}\n" || w.Header().Get("Allow") != row.allow {
			t.Errorf("%s %s: %d %s %q, want %d %s", row.method, row.path, w.Code, w.Body, w.Header().Get("Allow"), row.status, row.want)
		}
	}
}

// TestTheAPIShowsPendingChanges: the answer, the audit log, readiness.
func TestTheAPIShowsPendingChanges(t *testing.T) {
	store := &awayStore{}
	replicator := newReplicator(t, store)
	a := &api{System: System{Replicator: replicator, Log: slog.New(slog.DiscardHandler)}}
	call := func(h func(*http.Request) (any, error)) (int, string) {
		w := httptest.NewRecorder()
		a.serveJSON(h).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", nil))
		return w.Code, w.Body.String()
	}
	purge := func(r *http.Request) (any, error) {
		record, err := a.change(r, live.Change{Do: live.DoPurge, Target: policy.AllEndpoints})
		return purgeView{1, 2, record, record.Pending}, err
	}
	if code, body := call(purge); code != http.StatusOK || strings.Contains(body, "pending") {
		t.Errorf("%d %s", code, body)
	}
	store.away = true
	if code, body := call(purge); code != http.StatusAccepted || !strings.Contains(body, `},"pending":true}`) {
		t.Errorf("%d %s", code, body)
	}
	if _, body := call(a.audit); strings.Count(body, `"pending":true`) != 1 || !strings.Contains(body, `"pending":1`) {
		t.Error(body)
	}
	h := (&Config{Ready: func() bool { return true }, Metrics: http.NotFoundHandler(), System: &a.System}).routes()
	if w := get(h, "/readyz", ""); w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), "ok\n") || !strings.Contains(w.Body.String(), "settings: 1 pending") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestUndoTakesWholeNumbersOnly: 0x1 is not change 1.
func TestUndoTakesWholeNumbersOnly(t *testing.T) {
	replicator := newReplicator(t, &live.File{})
	if _, err := replicator.Change(t.Context(), live.Change{Do: live.DoCache, Target: "ip", Cache: map[string]string{"ttl": "1h"}}); err != nil {
		t.Fatal(err)
	}
	a := &api{System: System{Replicator: replicator, Log: slog.New(slog.DiscardHandler)}}
	for _, row := range []struct {
		seq  string
		want int
	}{{"1abc", http.StatusNotFound}, {"0x1", http.StatusNotFound}, {"", http.StatusNotFound}, {"2", http.StatusBadRequest}, {"1", http.StatusOK}} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.SetPathValue("change", row.seq)
		w := httptest.NewRecorder()
		a.serveJSON(a.undo).ServeHTTP(w, r)
		if w.Code != row.want {
			t.Errorf("%q: %d, want %d: %s", row.seq, w.Code, row.want, w.Body)
		}
	}
}

// TestUndoOfWhatWasChangedSince answers 409, and leaves all as it is.
func TestUndoOfWhatWasChangedSince(t *testing.T) {
	replicator := newReplicator(t, &live.File{})
	for _, set := range []map[string]string{{"ttl": "1h"}, {"grace": "1d"}, {"ttl": "2h"}} {
		if _, err := replicator.Change(t.Context(), live.Change{Do: live.DoCache, Target: "ip", Set: set}); err != nil {
			t.Fatal(err)
		}
	}
	a := &api{System: System{Replicator: replicator, Log: slog.New(slog.DiscardHandler)}}
	for _, row := range []struct {
		seq    string
		status int
		want   map[string]string
	}{{"1", http.StatusConflict, map[string]string{"ttl": "2h", "grace": "1d"}}, {"2", http.StatusOK, map[string]string{"ttl": "2h"}}, {"3", http.StatusOK, map[string]string{"ttl": "1h"}}} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.SetPathValue("change", row.seq)
		w := httptest.NewRecorder()
		a.serveJSON(a.undo).ServeHTTP(w, r)
		if got := replicator.Settings().Cache["ip"].Values; w.Code != row.status || !maps.Equal(got, row.want) {
			t.Errorf("%s: %d %s: %v, want %v", row.seq, w.Code, w.Body, got, row.want)
		}
	}
}
