package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

// groupedOrigin answers with the number of the call, in the groups all and that of the path. A POST purges the groups in its query.
func groupedOrigin(t *testing.T) *httptest.Server {
	t.Helper()
	var calls atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.Header().Set("Cache-Group-Invalidation", r.URL.Query().Get("groups"))
			return
		}
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Cache-Groups", fmt.Sprintf(`"all", %q`, r.URL.Path))
		fmt.Fprint(w, calls.Add(1))
	}))
	t.Cleanup(s.Close)
	return s
}

// post sends a POST that purges groups.
func post(t *testing.T, url, groups string) {
	t.Helper()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url, http.NoBody)
	q := r.URL.Query()
	q.Set("groups", groups)
	r.URL.RawQuery = q.Encode()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close() // it has none
	if got := resp.Header.Get("Cache-Group-Invalidation"); got != groups {
		t.Errorf("the client gets %q", got)
	}
}

// TestPurgedGroupsReachTheFleet: an instance that is subscribed, one that is cut off from Redis meanwhile, and one that starts later, which
// finds in Redis what was stored before.
func TestPurgedGroupsReachTheFleet(t *testing.T) {
	t.Parallel()
	api, redis, dir := groupedOrigin(t), redistest.Start(t), t.TempDir()
	for _, name := range []string{"shop", "news"} {
		write(t, dir, name+".yaml", "version: 1\nname: "+name+"\nproxy: {to: '"+api.URL+"'}\n")
	}
	wire := newRelay(t, redis.Addr)
	config := write(t, t.TempDir(), "few.yaml", only("sfz"))
	start := func(redis string) *instance { return serve(t, "--catalog", dir, "--config", config, "--redis", redis) }
	one, two, cutOff := start(patient(redis.URL())), start(patient(redis.URL())), start(patient(wire.url()))
	body := func(p *instance, path string) string {
		_, body := mustGet(t, p.public+"/api"+path)
		return body
	}
	before := map[string]string{}
	for _, path := range []string{"/shop/a", "/shop/b", "/news/a", "/shop/later"} {
		before[path] = body(one, path)
	}
	waittest.Until(t, "Redis has them", func() bool { return one.metric("sundry_far_queue_entries") == 0 })
	waittest.Until(t, "all have them", func() bool {
		for path, want := range before {
			if body(two, path) != want || path != "/shop/later" && body(cutOff, path) != want {
				return false
			}
		}
		return true
	})
	wire.set(true, nil)
	waittest.Until(t, "one is cut off", func() bool { return cutOff.metric("sundry_far_listening") == 0 })
	post(t, one.public+"/api/shop/x", `"/a", "/later"`)
	waittest.Until(t, "the other instance has heard", func() bool { return body(two, "/shop/a") != before["/shop/a"] })
	after := body(one, "/shop/a")
	wire.set(false, nil)
	waittest.Until(t, "it is back", func() bool {
		return cutOff.metric("sundry_far_listening") == 1 && cutOff.metric("sundry_settings_in_sync") == 1
	})
	late := start(patient(redis.URL()))
	for name, p := range map[string]*instance{"one": one, "two": two, "cut off": cutOff, "late": late} {
		for _, path := range []string{"/shop/a", "/shop/later"} {
			if got := body(p, path); got == before[path] {
				t.Errorf("%s: %s: what was purged is served", name, path)
			}
		}
		for _, path := range []string{"/shop/b", "/news/a"} {
			if got := body(p, path); got != before[path] {
				t.Errorf("%s: %s is gone", name, path)
			}
		}
	}
	if after == before["/shop/a"] {
		t.Error("the instance itself serves what was purged")
	}
}

// TestOperatorsPurgeAGroup by PURGE and by POST purge; a tag of the same name is another thing.
func TestOperatorsPurgeAGroup(t *testing.T) {
	t.Parallel()
	api := groupedOrigin(t)
	p := serve(t, "--to", api.URL)
	purge := func(lines ...string) (int, string) {
		r, _ := http.NewRequestWithContext(t.Context(), "PURGE", p.admin+"/", http.NoBody)
		r.Header.Set("Accept-Language", "en")
		for _, line := range lines {
			name, value, _ := strings.Cut(line, ": ")
			r.Header.Add(name, value)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var b strings.Builder
		_ = resp.Write(&b)
		return resp.StatusCode, b.String()
	}
	for _, row := range []struct {
		lines  string
		status int
		want   string
		gone   bool
	}{
		{`Cache-Groups: "/a"`, http.StatusOK, `"entries":1,`, true},
		{`Cache-Groups: "/a"|Soft-Purge: 1`, http.StatusOK, `"entries":1,`, true},
		{`Cache-Groups: "all";x`, http.StatusOK, `"entries":2,`, true},
		{`Cache-Groups: "/b"`, http.StatusOK, `"entries":1,`, false},
		{`Cache-Groups: "a"`, http.StatusOK, `"entries":0,`, false},
		{`Cache-Tag: /a`, http.StatusOK, `"entries":0,`, false},
		{`Cache-Groups: /a`, http.StatusBadRequest, `expected one string in quotation marks`, false},
		{`Cache-Groups: "/a", "/b"`, http.StatusBadRequest, `expected one string in quotation marks`, false},
		{`Cache-Groups: ""`, http.StatusBadRequest, `expected one string in quotation marks`, false},
		{`Cache-Groups: "/a"|Cache-Tag: x`, http.StatusBadRequest, `, and no tag`, false},
	} {
		_, before := mustGet(t, p.public+"/a")
		mustGet(t, p.public+"/b")
		if status, body := purge(strings.Split(row.lines, "|")...); status != row.status || !strings.Contains(body, row.want) {
			t.Errorf("PURGE %s: %d %s", row.lines, status, body)
		}
		if _, after := mustGet(t, p.public+"/a"); (after != before) != row.gone {
			t.Errorf("PURGE %s: %s, then %s", row.lines, before, after)
		}
	}
	if v := p.mustAsk(http.MethodGet, `apis/api/entries?group=all`, ""); v["total"] != 2.0 {
		t.Errorf("%v", v)
	}
	if v := p.mustAsk(http.MethodPost, "purge", `{"endpoint":"api","group":"/b","mode":"hard"}`); v["entries"] != 1.0 {
		t.Errorf("%v", v)
	}
}
