package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/cache/advise"
	"sundry/metrics/words"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

// nginxTime is the layout of times in nginx's log.
const nginxTime = "02/Jan/2006:15:04:05 -0700"

// written is the log of an endpoint whose copies live for ten minutes, as if the content of
// each of its keys changed at random, and what was really old.
type written struct {
	text           strings.Builder
	format         string // text, json or combined
	requests, old  float64
	fills, changes int
}

// writeLog writes some lines about so many keys, whose contents change once in a mean time.
// Of hits it has a tenth.
func writeLog(format string, lines, keys int, changes time.Duration) *written {
	w, random := &written{format: format}, rand.New(rand.NewPCG(1, 2))
	popular := rand.NewZipf(random, 1.2, 3, uint64(keys-1))
	type state struct{ loaded, changes time.Time }
	all, at := map[uint64]*state{}, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for n := 0; n < lines; at = at.Add(time.Duration(random.ExpFloat64() * float64(5*time.Second))) {
		key := popular.Uint64()
		s := all[key]
		outcome := "hit"
		switch {
		case s == nil:
			s = &state{changes: at}
			all[key] = s
			outcome = w.fill(at, key, "first", 0)
		case at.Sub(s.loaded) > 10*time.Minute && s.changes.After(s.loaded) && !s.changes.After(at):
			outcome = w.fill(at, key, "changed", at.Sub(s.loaded))
		case at.Sub(s.loaded) > 10*time.Minute:
			outcome = w.fill(at, key, "unchanged", at.Sub(s.loaded))
		}
		if outcome == "miss" {
			s.loaded = at
			if format != "combined" {
				n++
			}
		}
		for !s.changes.After(s.loaded) { // the next one
			s.changes = s.changes.Add(time.Duration(random.ExpFloat64() * float64(changes)))
		}
		if w.requests++; !s.changes.After(at) {
			w.old++
		}
		if format == "combined" || outcome == "miss" || random.IntN(10) == 0 {
			w.request(at, key, outcome)
			n++
		}
	}
	return w
}

func (w *written) fill(at time.Time, key uint64, outcome string, age time.Duration) string {
	if outcome != "first" {
		w.fills++
	}
	if outcome == "changed" {
		w.changes++
	}
	switch w.format {
	case "text":
		fmt.Fprintf(&w.text, "time=%s level=INFO msg=fill endpoint=own key=%016x outcome=%s digest=00ff00ff age=%s\n", at.Format(time.RFC3339Nano), key, outcome, age)
	case "json":
		fmt.Fprintf(&w.text, `{"time":%q,"level":"INFO","msg":"fill","endpoint":"own","key":"%016x","outcome":%q,"digest":"00ff00ff","age":%d}`+"\n", at.Format(time.RFC3339Nano), key, outcome, age)
	}
	return "miss"
}

func (w *written) request(at time.Time, key uint64, outcome string) {
	weight := 1
	if outcome == "hit" {
		weight = 10
	}
	switch w.format {
	case "text":
		fmt.Fprintf(&w.text, "time=%s level=INFO msg=request id=ab endpoint=own outcome=%s status=200 bytes=312 took=31µs source=\"the \\\"first\\\"\" age=2m0s key=%016x weight=%d\n", at.Format(time.RFC3339Nano), outcome, key, weight)
	case "json":
		fmt.Fprintf(&w.text, `{"time":%q,"level":"INFO","msg":"request","id":"ab","endpoint":"own","outcome":%q,"status":200,"bytes":312,"took":31000,"source":"the \"first\"","age":120000000000,"key":"%016x","weight":%d}`+"\n", at.Format(time.RFC3339Nano), outcome, key, weight)
	default:
		fmt.Fprintf(&w.text, "192.0.2.7 - - [%s] \"GET /api/own/index.php?x=%%20&id=%d HTTP/1.1\" 200 312 \"-\" \"curl/8.0\"\n", at.Format(nginxTime), key+1)
	}
}

// ownCatalog has the endpoint own.
func ownCatalog(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	writeEndpoint(t, dir, "own", "http://127.0.0.1:1", "ttl: 10m, jitter: 0, eager: 0")
	return dir
}

// adviseJSON runs the command on logs.
func adviseJSON(t *testing.T, args ...string) *advised {
	t.Helper()
	out, errs, err := call(t, nil, append([]string{"advise", "--json"}, args...)...)
	if err != nil {
		t.Fatal(err, errs)
	}
	var got advised
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return &got
}

func presentOf(v *advise.View) *advise.RuleView {
	return &v.Rules[slices.IndexFunc(v.Rules, func(r advise.RuleView) bool { return r.Present })]
}

// TestAdviseKnowsWhatIsOld: what it says of the present TTL is what really was, from logs in
// text and JSON, and from several in any order, packed or not.
func TestAdviseKnowsWhatIsOld(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	dir := ownCatalog(t)
	for format, keys := range map[string]int{"text": 20, "json": 1} {
		w := writeLog(format, 60_000, keys, 5*time.Hour)
		older, newer := halves(t, w.text.String())
		for _, files := range [][]string{{older, newer}, {newer, older}} {
			got := adviseJSON(t, append(files, "--catalog", dir, "--endpoint", "own")...)
			v := &got.Endpoints[0]
			now, really := presentOf(v), w.old/w.requests
			if got.Logs.Lines != 60_000 && got.Logs.Lines != 60_001 || got.Logs.Broken > 0 || len(got.Endpoints) != 1 || v.Evidence.Refreshes != w.fills || v.Evidence.Changes != w.changes {
				t.Fatalf("%s: %+v, %d refreshes, %d changes", format, got, w.fills, w.changes)
			}
			if math.Abs(*now.Older-really) > 0.01 || *now.OlderLow > really || *now.OlderHigh < really || now.TTL != 600 {
				t.Errorf("%s: %.4f (%.4f to %.4f) old, really %.4f", format, *now.Older, *now.OlderLow, *now.OlderHigh, really)
			}
			hours := v.Evidence.Days * 24
			if calls := float64(w.fills) / hours; math.Abs(now.Calls/calls-1) > 0.1 {
				t.Errorf("%s: %.1f calls an hour, really %.1f", format, now.Calls, calls)
			}
			if v.Advised == nil || v.Target != "old=2%" || *v.Advised < 600 && really < 0.02 || *v.Advised > 600 && really > 0.02 {
				t.Errorf("%s: %v advised for %s, really %.4f old", format, v.Advised, v.Target, really)
			}
		}
	}
}

// halves are two files, the first one packed.
func halves(t *testing.T, log string) (older, newer string) {
	t.Helper()
	dir, half := t.TempDir(), strings.LastIndexByte(log[:len(log)/2], '\n')+1
	return write(t, dir, "older.log.gz", packed(t, log[:half])), write(t, dir, "newer.log", log[half:])
}

func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestAdviseOnNginxLogs: they tell of calls alone, by keys with the same meaning.
func TestAdviseOnNginxLogs(t *testing.T) {
	t.Parallel()
	dir, w := ownCatalog(t), writeLog("combined", 20_000, 20, time.Hour)
	var out bytes.Buffer
	p := processOf(t, nil)
	p.stdin, p.stdout = strings.NewReader(packed(t, w.text.String())), &out
	if err := execute(p, []string{"advise", "--json", "--catalog", dir, "--target", "calls=60/h", "-"}); err != nil {
		t.Fatal(err)
	}
	var got advised
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	v := &got.Endpoints[0]
	calls := float64(w.fills) / (v.Evidence.Days * 24)
	if now := presentOf(v); now.Older != nil || math.Abs(now.Calls/calls-1) > 0.1 || v.Evidence.Requests != 20_000 {
		t.Errorf("%+v, %d requests, really %.1f calls an hour", now, v.Evidence.Requests, calls)
	}
	if v.Advised == nil || *v.Advised <= 600 {
		t.Errorf("%+v", v)
	}
	older, newer := halves(t, w.text.String())
	if r := adviseJSON(t, "--catalog", dir, newer, older).Endpoints[0]; r.Advised != nil || math.Abs(r.Evidence.Days-v.Evidence.Days) > 0.01 || !strings.Contains(r.Reason, "calls alone are known") {
		t.Errorf("%+v", r)
	}
}

// TestAdviseTable has a row for each endpoint or, with --ttl, for each TTL.
func TestAdviseTable(t *testing.T) {
	t.Parallel()
	dir, few := ownCatalog(t), onlyIn(t)
	file := write(t, t.TempDir(), "own.log", writeLog("text", 20_000, 20, 9*time.Hour).text.String()+"no line of a log\ntime=2199-01-01T00:00:00Z msg=request endpoint=own outcome=hit\n")
	table := func(args ...string) []string {
		out, errs, err := call(t, few, append([]string{"advise", "--catalog", dir, file}, args...)...)
		if err != nil || !strings.Contains(errs, "warning: not readable: "+file+":20001: expected nginx's combined format") {
			t.Fatal(err, errs)
		}
		return strings.Split(out, "\n")
	}
	got := table()
	for i, want := range []string{
		`^ENDPOINT  TTL +ADVISED  OLD +CALLS/H +EVIDENCE +WHY$`,
		`^own +10m  20m +0\.\d+% \(\d\.\d+% to \d\.\d+%\) → 1.\d+% \(.*\)  [\d.]+ \([\d.]+ to [\d.]+\) → [\d.]+ \(.*\)  \d+ refreshes, \d+ changes, \d.\d\d days  the longest TTL under which 2 % of answers at most would be old$`,
		`^$`,
		`^20002 lines: \d+ requests, \d+ fills, 1 more than a month ahead, 1 not readable$`,
	} {
		wantMatch(t, got[i], want)
	}
	got = table("--ttl", "5m,1h", "--target", "old=50%")
	for i, want := range []string{`^ENDPOINT`, `^own +5m +\S+ +\d`, `^ +10m \(present\)  +\d`, `^ +1h +\d`, `^$`} {
		wantMatch(t, got[i], want)
	}
}

func wantMatch(t *testing.T, got, want string) {
	t.Helper()
	if !regexp.MustCompile(want).MatchString(got) {
		t.Errorf("%s\nexpected %s", got, want)
	}
}

// TestAdviseOnWhatServeWrites: the log of an instance, in both formats.
func TestAdviseOnWhatServeWrites(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		u := newUpstream(t)
		dir := catalogDir(t, u, "ttl: 1h")
		p := serveWith(t, marking(), "--catalog", dir, "--log-format", format)
		for i := range 4 {
			mustGet(t, p.public+"/api/own?id=7")
			mustGet(t, p.public+"/api/own?id=7")
			p.mustAsk(http.MethodPost, "purge", `{"endpoint":"own","mode":"soft"}`)
			mustGet(t, p.public+"/api/own?id=7") // refreshed behind
			waittest.Until(t, "the refresh", func() bool { return strings.Count(p.stderr.String(), "unchanged") == i+1 })
		}
		p.end()
		got := adviseJSON(t, "--catalog", dir, "--endpoint", "own", write(t, t.TempDir(), "own.log", p.stderr.String()))
		if v := &got.Endpoints[0]; v.Evidence.Requests != 12 || v.Evidence.Refreshes != 4 || v.Evidence.Changes != 0 || *presentOf(v).Older != 0 || v.Advised != nil || got.Logs.Fills != 5 || got.Logs.Broken != 0 {
			t.Errorf("%s: %+v\n%s", format, got, p.stderr)
		}
	}
}

func TestADailyEditionIsHinted(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 6, 0, 0, 0, time.FixedZone("", 8*3600))
	v := advise.View{Reason: "because", ReasonZH: "原因", Edition: &advise.Edition{From: at, To: at.Add(2 * time.Minute)}}
	want := words.Say("because; its content seems to change once a day, from 22:00 to 22:02 UTC: an until would need one call a day",
		"原因；看来每天在 22:00 到 22:02 之间更新，时区 UTC：用时间表（until），每天调用一次就够了")
	if got := whyText(&v); got != want {
		t.Errorf("%q %q", got.EN(), got.ZH())
	}
}

// TestAdviseCountsLines: what becomes of each.
func TestAdviseCountsLines(t *testing.T) {
	t.Parallel()
	const begins, asked = "time=2026-03-01T00:00:00Z msg=", "request endpoint=own outcome="
	lines := []string{
		begins + asked + "hit key=01 weight=3", begins + asked + "miss key=01", begins + asked + "hit", // keyless
		begins + asked + "limited", begins + asked + "hit key=01 weight=0", begins + asked + "hit key=01 weight=x",
		begins + "fill endpoint=own key=01 outcome=failed", begins + "fill endpoint=own key=01 outcome=first",
		begins + "fill endpoint=own key=01 outcome=new", begins + "fill endpoint=own key=01 outcome=changed age=old",
		"time=2026-03-01T01:00:00Z msg=fill endpoint=own key=01 outcome=changed age=1h",
		"time=2026-03-01T02:00:00Z msg=fill endpoint=own key=01 outcome=unchanged age=1h",
		"time=1970-01-01T00:00:00Z msg=" + asked + "hit key=01", "time=2026-03-01T00:00:00Z endpoint=own outcome=hit key=01",
		begins + "request endpoint=none outcome=hit", begins + "serving", "", strings.Repeat("x", 64<<10+1),
		time.Now().AddDate(0, 2, 0).Format("time="+time.RFC3339+" ") + "msg=request endpoint=own outcome=hit key=01",
		`192.0.2.1 - - [` + time.Now().AddDate(0, 2, 0).Format(nginxTime) + `] "GET /api/own HTTP/1.1" 200 1`,
		`192.0.2.1 - - [01/Mar/2026:00:00:00 +0000] "GET /api/own?id=x HTTP/1.1" 200 1`, `192.0.2.1 - - [01/Mar/2026:00:00:00 +0000] "POST /api/own HTTP/1.1" 405 1`,
	}
	got := adviseJSON(t, "--catalog", ownCatalog(t), write(t, t.TempDir(), "own.log", strings.Join(lines, "\r\n")))
	l := &got.Logs
	if l.Lines != 21 || l.Requests != 2 || l.Fills != 4 || l.Other != 3 || l.Refused != 2 || l.Future != 2 || l.Keyless["own"] != 1 || l.Broken != 7 || len(l.Unreadable) != 3 {
		t.Errorf("%s\n%q", l.Words(), l.Unreadable)
	}
	if e := got.Endpoints[0].Evidence; e.Requests != 4 || e.Refreshes != 2 || e.Changes != 1 {
		t.Errorf("%+v", e)
	}
}

func TestAdviseMistakes(t *testing.T) {
	t.Parallel()
	few := onlyIn(t, "ip", "lishi", "sfz")
	log := write(t, t.TempDir(), "own.log", "time=2026-03-01T00:00:00Z msg=request endpoint=lishi outcome=hit\n")
	keyless := write(t, t.TempDir(), "ip.log", "time=2026-03-01T00:00:00Z msg=request endpoint=ip outcome=hit\n")
	for _, test := range []struct {
		want string
		args []string
	}{
		{"missing <log> ...", nil},
		{"no such file", []string{filepath.Join(t.TempDir(), "none.log")}},
		{`--endpoint: unknown endpoint "lisi"; did you mean lishi? Expected one of`, []string{log, "--endpoint", "lisi"}},
		{"did you mean lishi?", []string{log, "--endpoint", "lisi"}},
		{"--endpoint: sfz is not cached, so there is nothing to advise; expected one that has a ttl, such as lishi", []string{log, "--endpoint", "sfz"}},
		{`--ttl: "5x": expected a duration from 1s to 366d, such as 90s`, []string{log, "--ttl", "5x"}},
		{`--ttl: "0s": expected`, []string{log, "--ttl", "0s,5m"}},
		{`--target: target "2%": expected old=2% (at most so many old answers) or calls=100/h`, []string{log, "--target", "2%"}},
		{`--target: target "old=0%": expected`, []string{log, "--target", "old=0%"}},
		{"nothing can be said about ip: the log of Sundry never has the keys of personal or secret parameters; give the log of the proxy in front", []string{keyless}},
		{"no request to an endpoint that is cached (1 lines: 0 requests, 0 fills, 1 about something else): expected lines such as", []string{log, "--endpoint", "ip"}},
	} {
		if _, _, err := call(t, few, append([]string{"advise"}, test.args...)...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, expected %q", test.args, err, test.want)
		}
	}
}

// TestAYoungLogIsOneOfSundry: it has fills, and no refreshes yet; a log of nginx has neither.
func TestAYoungLogIsOneOfSundry(t *testing.T) {
	t.Parallel()
	const sundry, nginx = "time=2026-03-01T00:00:00Z msg=fill endpoint=own outcome=first key=01\ntime=2026-03-01T00:00:00Z msg=request endpoint=own outcome=miss key=01\n",
		`192.0.2.1 - - [01/Mar/2026:00:00:00 +0000] "GET /api/own?id=1 HTTP/1.1" 200 1` + "\n"
	for text, want := range map[string]string{sundry: "refreshes seen: 0, too few to advise", nginx: "expected a log of Sundry"} {
		got := adviseJSON(t, "--catalog", ownCatalog(t), write(t, t.TempDir(), "own.log", text))
		if why := got.Endpoints[0].Reason; !strings.Contains(why, want) {
			t.Errorf("%q, want %q", why, want)
		}
	}
}

// BenchmarkAdvise is the whole way of a line: ten million of them have to take less than a
// minute.
func BenchmarkAdvise(b *testing.B) {
	dir := ownCatalog(b)
	for _, format := range []string{"text", "json", "combined"} {
		b.Run(format, func(b *testing.B) {
			const lines = 1_000_000
			log := writeLog(format, lines, 20_000, 5*time.Hour).text.String()
			w := processOf(b, nil)
			b.ReportAllocs()
			for b.Loop() {
				w.stdin = strings.NewReader(log)
				if err := execute(w, []string{"advise", "--catalog", dir, "-"}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(lines*b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0", 0.01234: "0.0123", 0.5: "0.500", 1: "1.00", 12.345: "12.3", 99.99: "100.0", 1234.5: "1234", 1e-9: "0.0000"} {
		if got := figure(v); got != want {
			t.Errorf("%v: %s, expected %s", v, got, want)
		}
	}
	for seconds, want := range map[float64]string{0: "0s", 0.5: "500ms", 90: "1m30s", 300: "5m", 3600: "1h", 5400: "1h30m", 86400: "24h", 848.528: "14m8.528s"} {
		if got := ttlText(seconds); got != want {
			t.Errorf("%v: %s, expected %s", seconds, got, want)
		}
	}
}

// TestAdviseNamesEndpointsOfTheLogAlone: without --catalog, those of the operator are not known.
func TestAdviseNamesEndpointsOfTheLogAlone(t *testing.T) {
	t.Parallel()
	lines := ""
	for _, name := range []string{"own", "lishi", "sfz", "kd", "own"} {
		lines += "time=2026-03-01T00:00:00Z msg=request endpoint=" + name + " outcome=hit\n"
	}
	log := write(t, t.TempDir(), "own.log", lines)
	_, errs, err := call(t, onlyIn(t, "lishi", "sfz"), "advise", log)
	if want := "warning: endpoints that the catalog does not have: own; expected --catalog with their files\n"; err != nil || errs != want {
		t.Errorf("%v %q, want %q", err, errs, want)
	}
	if _, errs, err = call(t, nil, "advise", "--catalog", ownCatalog(t), log); err != nil || errs != "" {
		t.Errorf("%v %q", err, errs)
	}
}
