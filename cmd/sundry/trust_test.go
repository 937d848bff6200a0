package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"sundry/cache/entry"
	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

// trusting is an API whose responses one instance stores in Redis, where the test changes them, for another one to find.
type trusting struct {
	t        *testing.T
	calls    atomic.Int64
	redis    *redis.Client
	one, two *instance
}

// farKey is the key in Redis of a path of the API.
const farKey = "/web:api"

func newTrusting(t *testing.T) *trusting {
	t.Helper()
	server := redistest.Start(t)
	w := &trusting{t: t, redis: redis.NewClient(&redis.Options{Addr: server.Addr})}
	t.Cleanup(func() { _ = w.redis.Close() })
	origin := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.calls.Add(1)
		rw.Header().Set("Cache-Control", "max-age=600")
		if strings.HasPrefix(r.URL.Path, "/varied") {
			rw.Header().Set("Vary", "Accept-Language")
		}
		_, _ = fmt.Fprintf(rw, "genuine %s", r.URL)
	}))
	t.Cleanup(origin.Close)
	start := func() *instance { return serve(t, "--to", origin.URL, "--redis", patient(server.URL())) }
	w.one, w.two = start(), start()
	return w
}

// store has the first instance store responses, and returns what Redis has of them.
func (w *trusting) store(paths []string) map[string]string {
	w.t.Helper()
	all := map[string]string{}
	for _, path := range paths {
		mustGet(w.t, w.one.public+path)
	}
	for _, path := range paths {
		waittest.Until(w.t, "a response in Redis", func() bool {
			all[path] = w.redis.Get(context.Background(), "sundry:"+farKey+path).Val()
			return all[path] != ""
		})
	}
	return all
}

// put writes a value to Redis.
func (w *trusting) put(path, value string) {
	w.t.Helper()
	if err := w.redis.Set(context.Background(), "sundry:"+farKey+path, value, time.Hour).Err(); err != nil {
		w.t.Fatal(err)
	}
}

// wantGenuine requires that the second instance answers three requests on one connection with what the origin has sent, and in its
// framing, and that it called the origin for it.
func (w *trusting) wantGenuine(name, path string) {
	w.t.Helper()
	before := w.calls.Load()
	address := strings.TrimPrefix(w.two.public, "http://")
	c, err := net.Dial("tcp", address)
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	line := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n", path, address)
	_, _ = fmt.Fprintf(c, "%s\r\n%s\r\n%sConnection: close\r\n\r\n", line, line, line)
	in := bufio.NewReader(c)
	for n := range 3 {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			w.t.Errorf("%s: response %d of %s: %v", name, n, path, err)
			return
		}
		body, err := io.ReadAll(resp.Body)
		if want := "genuine " + path; err != nil || resp.StatusCode != http.StatusOK || string(body) != want || resp.ContentLength != int64(len(want)) {
			w.t.Errorf("%s: response %d of %s: %d with %d of %d bytes: %q %v", name, n, path, resp.StatusCode, len(body), resp.ContentLength, body, err)
		}
	}
	if rest, _ := io.ReadAll(in); len(rest) > 0 {
		w.t.Errorf("%s: behind the responses: %q", name, rest)
	}
	if n := w.calls.Load() - before; n != 1 {
		w.t.Errorf("%s: %d calls of the origin", name, n)
	}
}

// broken is how often the second instance has found what no instance has written.
func (w *trusting) broken() float64 {
	w.t.Helper()
	return w.two.metric(regexp.QuoteMeta(`sundry_apis_broken_total{from="redis"}`))
}

// TestDamagedResponsesInRedisAreMisses: whatever byte is changed, or left out.
func TestDamagedResponsesInRedisAreMisses(t *testing.T) {
	t.Parallel()
	w := newTrusting(t)
	sound := w.store([]string{"/sound"})["/sound"]
	if _, body := mustGet(t, w.two.public+"/sound"); body != "genuine /sound" || w.calls.Load() != 1 {
		t.Fatalf("%q after %d calls: responses are not shared", body, w.calls.Load())
	}
	var paths []string
	for at := range len(sound) + 4 { // the paths are a little longer
		paths = append(paths, fmt.Sprintf("/a%04d", at))
	}
	stored, want := w.store(paths), 1
	for at, path := range paths {
		value := []byte(stored[path])
		if at < 15 || at >= 30 { // where the time of a mark is, another digit makes the mark a later one
			want++
		}
		if at = min(at, len(value)-1); at%4 == 3 {
			value = value[:at]
		} else {
			value[at] ^= 1 << (at % 8)
		}
		w.put(path, string(value))
		w.wantGenuine(fmt.Sprintf("damaged at %d", at), path)
	}
	w.store([]string{"/mine"})
	w.put("/moved", sound)
	w.wantGenuine("of another key", "/moved")
	if n := w.broken(); n < float64(want) {
		t.Errorf("%v of %d are counted", n, want)
	}
}

// forged is a value with another head and body, digested as an instance would.
func (w *trusting) forged(path, stored string, change func(head map[string]any, body []byte) []byte) string {
	w.t.Helper()
	_, payload, ok := strings.Cut(stored, ".")
	if !ok {
		w.t.Fatalf("%q", stored)
	}
	payload = payload[16:]
	n, used := binary.Uvarint([]byte(payload[1:]))
	d := json.NewDecoder(strings.NewReader(payload[1+used:][:n]))
	d.UseNumber()
	head := map[string]any{}
	if err := d.Decode(&head); err != nil {
		w.t.Fatal(err)
	}
	body := change(head, []byte(payload[1+used+int(n):]))
	text, err := json.Marshal(head)
	if err != nil {
		w.t.Fatal(err)
	}
	b := append(binary.AppendUvarint([]byte{payload[0]}, uint64(len(text))), text...)
	return digested(path, stored[:15], append(b, body...))
}

// digested is a payload behind the head that it would have under a path.
func digested(path, date string, payload []byte) string {
	return fmt.Sprintf("%s.%016x%s", date, entry.Checksum(farKey+path, []byte(date), payload), payload)
}

// forgeries are changes of an object that no instance makes, by name.
func forgeries() map[string]func(head map[string]any, body []byte) []byte {
	all := map[string]func(head map[string]any, body []byte) []byte{}
	set := func(name string, value any) {
		all[fmt.Sprintf("%s %v", name, value)] = func(head map[string]any, body []byte) []byte {
			head[name] = value
			return body
		}
	}
	field := func(name string, values ...any) {
		all[fmt.Sprintf("%q: %q", name, values)] = func(head map[string]any, body []byte) []byte {
			head["header"].(map[string]any)[name] = values
			return body
		}
	}
	for _, status := range []any{0, -1, 99, 100, 101, 103, 199, 204, 206, 304, 416, 1000, 99999, 1 << 40, "200", 200.5, nil} {
		set("status", status)
	}
	for _, length := range []any{"0", "1", "13", "15", "1000000", "-1", "+14", "014", "14 ", "14,14", "0xe", "9223372036854775808", ""} {
		field("Content-Length", length)
	}
	field("Content-Length", "14", "14")
	field("Content-Length")
	for _, name := range []string{"Transfer-Encoding", "Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Upgrade", "Proxy-Authenticate", "Age"} {
		field(name, "chunked")
	}
	for _, name := range []string{"transfer-encoding", "content-length", "x-a", "X A", "X:A", "", "X-A\r\nX-B", "X-\x00", "Ä"} {
		field(name, "chunked")
	}
	for _, value := range []string{"a\r\nSet-Cookie: b=c", "a\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "a\nb", "a\rb", "a\x00", "\x7f"} {
		field("X-A", value)
	}
	for _, at := range []string{"0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", time.Now().Add(time.Hour).Format(time.RFC3339), "yesterday"} {
		set("requested", at)
		set("received", at)
		if !strings.HasPrefix(at, "0") {
			set("born", at) // an origin may date a response as it likes
		}
	}
	for _, lifetime := range []any{json.Number("-1"), json.Number("-9223372036854775808"), json.Number("9223372036854775808")} {
		set("lifetime", lifetime)
	}
	for _, names := range [][]string{{""}, {"X-A"}, {"*"}, {"X A"}, {"x-forwarded-host"}, {"X-Host", "X-Forwarded-Host"}} {
		set("names", names)
	}
	for _, part := range []string{"", "bytes 0-13/13", "bytes -1-12/14", "bytes 1-14/14", "bytes */14", "bytes 9223372036854775800-9223372036854775807/*"} {
		all["the part "+part] = func(head map[string]any, body []byte) []byte {
			head["status"], head["header"].(map[string]any)["Content-Range"] = 206, []string{part}
			return body
		}
	}
	for name, body := range map[string]string{"no body": "", "a shorter body": "x", "a longer body": strings.Repeat("x", 1000)} {
		all[name] = func(map[string]any, []byte) []byte { return []byte(body) }
	}
	all["a head of megabytes"] = func(head map[string]any, body []byte) []byte {
		head["header"].(map[string]any)["X-A"] = []string{strings.Repeat("x", 3<<20)}
		return body
	}
	all["a body of megabytes"] = func(head map[string]any, _ []byte) []byte {
		head["header"].(map[string]any)["Content-Length"] = []string{fmt.Sprint(3 << 20)}
		return bytes.Repeat([]byte("x"), 3<<20)
	}
	return all
}

// TestForgedResponsesInRedisAreMisses: they have the right digest, but what no instance stores.
func TestForgedResponsesInRedisAreMisses(t *testing.T) {
	t.Parallel()
	w, all := newTrusting(t), forgeries()
	names := slices.Sorted(maps.Keys(all))
	var paths []string
	for n := range names {
		paths = append(paths, fmt.Sprintf("/a%04d", n))
	}
	stored := w.store(append(paths, "/same0"))
	w.put("/same0", w.forged("/same0", stored["/same0"], func(_ map[string]any, body []byte) []byte { return bytes.ToUpper(body) }))
	if _, body := mustGet(t, w.two.public+"/same0"); body != "GENUINE /SAME0" {
		t.Errorf("%q: the test forges nothing that is believed", body)
	}
	want := 0
	for n, name := range names {
		w.put(paths[n], w.forged(paths[n], stored[paths[n]], all[name]))
		w.wantGenuine(name, paths[n])
		if !strings.HasPrefix(name, "lifetime -") { // which is stale
			want++
		}
	}
	now := time.Now().UnixMilli()
	payloads := map[string][]byte{
		"an older version": {1, 0}, "nothing of an object": {3}, "an endless length": append([]byte{3}, bytes.Repeat([]byte{0xff}, 20)...),
		"a length without text": binary.AppendUvarint([]byte{3}, 1<<62), "no object in JSON": append([]byte{3, 4}, "null"...), "no JSON": append([]byte{3, 3}, "{{{"...),
	}
	for name, payload := range payloads {
		path := "/p" + strings.ReplaceAll(name, " ", "-")
		w.put(path, digested(path, fmt.Sprintf("=%014d", now), payload))
		w.wantGenuine(name, path)
	}
	if n, want := w.broken(), want+len(payloads); n < float64(want) {
		t.Errorf("%v of %d are counted", n, want)
	}
}

// TestAResponseOfOneVariantAnswersNoOther, whatever Redis says of what selects it.
func TestAResponseOfOneVariantAnswersNoOther(t *testing.T) {
	t.Parallel()
	w := newTrusting(t)
	for n, names := range [][]string{nil, {}, {"X-Host"}, {"Accept-Encoding"}} {
		path := fmt.Sprintf("/varied%d", n)
		stored := w.store([]string{path})[path]
		w.put(path, w.forged(path, stored, func(head map[string]any, body []byte) []byte {
			head["names"], head["selected"] = names, nil
			return body
		}))
		w.wantGenuine(fmt.Sprintf("selected by %q", names), path)
	}
}

// TestADateFromTheFutureHarmsNoOtherURL: neither that of a response nor that of a purge.
func TestADateFromTheFutureHarmsNoOtherURL(t *testing.T) {
	t.Parallel()
	w := newTrusting(t)
	stored := w.store([]string{"/response"})["/response"]
	_, payload, _ := strings.Cut(stored, ".")
	dates := []int64{time.Now().Add(time.Minute).UnixMilli(), time.Now().AddDate(200, 0, 0).UnixMilli(), 99_999_999_999_999}
	for n, at := range dates {
		for name, payload := range map[string][]byte{"response": []byte(payload[16:]), "purge": {2}} {
			path := fmt.Sprintf("/%s%d", name, n)
			w.put(path, digested(path, fmt.Sprintf("=%014d", at), payload))
			w.wantGenuine(path, path)
		}
	}
	for n := range 3 {
		w.wantGenuine("another URL", fmt.Sprintf("/other%d", n))
	}
	if n := w.broken(); n < float64(2*len(dates)) {
		t.Errorf("%v of %d are counted", n, 2*len(dates))
	}
}

// TestDamagedEntriesInRedisAreMisses, of endpoints, whatever byte is changed.
func TestDamagedEntriesInRedisAreMisses(t *testing.T) {
	t.Parallel()
	server, u := redistest.Start(t), newUpstream(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr})
	t.Cleanup(func() { _ = client.Close() })
	dir := catalogDir(t, u, "ttl: 1h")
	start := func() *instance { return serve(t, "--catalog", dir, "--redis", patient(server.URL())) }
	one, two := start(), start()
	mustGet(t, one.public+"/api/own?id=99999")
	waittest.Until(t, "the entry in Redis", func() bool { entries, _, _ := redisKeys(t, server); return len(entries) == 1 })
	entries, _, _ := redisKeys(t, server)
	sound := client.Get(t.Context(), entries[0]).Val()
	if mustGet(t, two.public+"/api/own?id=99999"); u.calls.Load() != 1 {
		t.Fatalf("%d calls: entries are not shared", u.calls.Load())
	}
	for at := range len(sound) {
		id := fmt.Sprint(10_000 + at)
		key := strings.Replace(entries[0], "99999", id, 1)
		mustGet(t, one.public+"/api/own?id="+id)
		waittest.Until(t, "the entry in Redis", func() bool { return client.Exists(t.Context(), key).Val() == 1 })
		value := []byte(client.Get(t.Context(), key).Val())
		value[at] ^= 1 << (at % 8)
		client.Set(t.Context(), key, value, time.Hour)
		before := u.calls.Load()
		if _, body := mustGet(t, two.public+"/api/own?id="+id); !strings.Contains(body, id) || u.calls.Load() != before+1 {
			t.Errorf("damaged at %d: %s after %d calls", at, body, u.calls.Load()-before)
		}
	}
	series := regexp.QuoteMeta(`sundry_cache_lookups_total{endpoint="own",result="broken",tier="redis"}`)
	if n := two.metric(series); n < float64(len(sound)) {
		t.Errorf("%v of %d are counted", n, len(sound))
	}
}
