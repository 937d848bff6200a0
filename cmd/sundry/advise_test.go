package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/proxy"
)

// TestAdvisePrintsATable compares the output for a day of requests with a golden file.
func TestAdvisePrintsATable(t *testing.T) {
	file := write(t, t.TempDir(), "access.log", accessLog(20_000))
	out, errs, err := call(t, nil, "advise", "--log", file, "--changes", "ip=12h", "--changes", "gamestatus=every 5m", "ip", "gamestatus", "yiyan", "lishi")
	if err != nil {
		t.Fatal(err, errs)
	}
	golden := filepath.Join("testdata", "advise.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := readFile(t, golden); out != want {
		t.Errorf("the table differs from %s (-update writes it anew):\n%s", golden, out)
	}
	if !strings.Contains(errs, "access.log:3: expected nginx's combined format") {
		t.Errorf("the line that is not readable is not named: %s", errs)
	}
}

// accessLog is a day of nginx's log: lookups of addresses of unequal popularity, each
// address in two spellings, and two endpoints that everybody asks in the same way.
func accessLog(lines int) string {
	var b strings.Builder
	random := rand.New(rand.NewPCG(1, 1))
	popular := rand.NewZipf(random, 1.1, 5, 3000)
	began := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for i := range lines {
		target, status := "/", 200
		switch n := popular.Uint64(); {
		case i == 2:
			b.WriteString("this is no line of a log\n")
		case i%10 < 6:
			target = fmt.Sprintf("/api/ip/index.php?ip=8.%d.%d.8", n/256, n%256)
			if random.IntN(2) == 0 {
				target = fmt.Sprintf("/api/ip?x=%d&ip=8.%d.%d%%2e8", i, n/256, n%256)
			}
		case i%10 == 6:
			target = fmt.Sprintf("/api/gamestatus/?host=play%d.example.org", n%20)
		case i%10 == 7:
			target = "/api/yiyan/index.php"
		case i%10 == 8:
			target = "/api/lishi/index.php"
		case i%50 == 9:
			target, status = "/api/ip/index.php?ip=8.8.8", 400
		}
		at := began.Add(time.Duration(float64(i) / float64(lines) * float64(24*time.Hour)))
		fmt.Fprintf(&b, "192.0.2.%d - - [%s] \"GET %s HTTP/1.1\" %d 312 \"-\" \"curl/8.0\"\n", i%250, at.Format(combinedTime), target, status)
	}
	return b.String()
}

func TestAdviseCountsCanonicallyEqualRequestsAsOneKey(t *testing.T) {
	var b strings.Builder
	for i, target := range []string{"/api/ip/index.php?ip=8.8.8.8", "/api/ip?ip=8.8.8.8&unknown=1", "/api/ip/?ip=%38.8.8.8", `/api/ip/index.php?ip=8.8.8.8\x22`, "/api/ip/index.php?ip=1.1.1.1"} {
		fmt.Fprintf(&b, "192.0.2.1 - - [01/Mar/2026:00:00:0%d +0000] \"GET %s HTTP/1.1\" 200 1 \"-\" \"-\"\n", i, target)
	}
	got := adviseJSON(t, b.String(), "ip")
	if e := got.Endpoints[0]; e.Keys != 2 || e.Requests != 4 || got.Lines.Refused != 1 {
		t.Errorf("%+v %+v", e, got.Lines)
	}
}

// adviseJSON runs the command with a log.
func adviseJSON(t *testing.T, log string, args ...string) *advice {
	t.Helper()
	file := write(t, t.TempDir(), "some.log", log)
	out, errs, err := call(t, nil, append([]string{"advise", "--json", "--log", file}, args...)...)
	if err != nil {
		t.Fatal(err, errs)
	}
	return decodeAdvice(t, out)
}

func decodeAdvice(t *testing.T, out string) *advice {
	t.Helper()
	var got advice
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return &got
}

// UnmarshalJSON reads a number of seconds.
func (s *seconds) UnmarshalJSON(text []byte) error {
	d, err := time.ParseDuration(string(text) + "s")
	*s = seconds(d)
	return err
}

// TestAdviseReadsOwnLogs: an endpoint with a single key can be simulated from the log of
// the service, whose hits are a sample.
func TestAdviseReadsOwnLogs(t *testing.T) {
	line := func(at, endpoint, outcome, took string) (text, asJSON string) {
		d, _ := time.ParseDuration(took)
		return fmt.Sprintf("time=%s level=INFO msg=request id=ab endpoint=%s outcome=%s status=200 bytes=9 took=%s source=first age=2m0s cause=\"a = b\"\n", at, endpoint, outcome, took),
			fmt.Sprintf(`{"time":%q,"level":"INFO","msg":"request","id":"ab","endpoint":%q,"outcome":%q,"status":200,"bytes":9,"took":%d,"source":"first","age":120000000000}`+"\n", at, endpoint, outcome, d)
	}
	var text, asJSON strings.Builder
	for _, l := range [][4]string{
		{"2026-03-01T00:00:00.5Z", "lishi", "miss", "700ms"}, {"2026-03-01T00:10:00Z", "lishi", "hit", "30µs"}, {"2026-03-01T00:11:00Z", "ip", "hit", "30µs"},
		{"2026-03-01T00:12:00Z", "lishi", "limited", "3µs"}, {"2026-03-01T00:13:00Z", "none", "negative", "3µs"}, {"2026-03-01T01:00:00+00:00", "lishi", "not_modified", "30µs"},
	} {
		a, b := line(l[0], l[1], l[2], l[3])
		text.WriteString(a)
		asJSON.WriteString(b)
	}
	text.WriteString("time=2026-03-01T01:00:01Z level=WARN msg=\"redis is away\" took=many\n")
	asJSON.WriteString(`{"time":"2026-03-01T01:00:01Z","level":"WARN","msg":"redis is away","took":"1s"}` + "\n")
	for name, log := range map[string]string{"text": text.String(), "JSON": asJSON.String()} {
		got := adviseJSON(t, log, "--ttl", "5m")
		l := got.Lines
		if len(got.Endpoints) != 1 || l.Keyless["ip"] != 1 || l.Refused != 1 || l.Other != 2 || l.Broken != 0 || l.Simulated != 3 || l.Lines != 7 {
			t.Fatalf("%s: %+v", name, got)
		}
		if len(got.Notes) != 2 || !strings.Contains(got.Notes[0], "requests for ip are not in Sundry's log") {
			t.Errorf("%s: notes %q", name, got.Notes)
		}
		e := got.Endpoints[0]
		if e.Endpoint != "lishi" || e.Keys != 1 || e.Requests != 201 || time.Duration(e.Latency) != 700*time.Millisecond || len(e.Notes) == 0 {
			t.Errorf("%s: %+v", name, e)
		}
		if r := e.Rules[0]; r.Present || time.Duration(r.TTL) != 5*time.Minute || r.Calls != 3 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestAdviseReadsKeysOfOwnLogs: with marks of keys, any endpoint can be simulated.
func TestAdviseReadsKeysOfOwnLogs(t *testing.T) {
	got := adviseJSON(t, `time=2026-03-01T00:00:00Z level=INFO msg=request endpoint=ip outcome=miss took=1ms key=0123456789abcdef
{"time":"2026-03-01T00:00:05Z","msg":"request","endpoint":"ip","outcome":"miss","took":1000,"key":"fedcba9876543210"}
{"time":"2026-03-01T00:00:09Z","msg":"request","endpoint":"ip","outcome":"stale","took":1000,"key":"0123456789abcdef"}
`)
	if e := got.Endpoints[0]; e.Keys != 2 || e.Requests != 3 || len(got.Lines.Keyless) != 0 || e.Rules[0].Calls != 2 {
		t.Errorf("%+v %+v", e, got.Lines)
	}
}

func TestAdviseReadsGzipAndStandardInput(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := io.WriteString(z, accessLog(500)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file := write(t, t.TempDir(), "access.log.1", packed.String())
	first, _, err := call(t, nil, "advise", "--json", "--log", file, "yiyan")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := processOf(t, nil)
	w.stdin, w.stdout = &packed, &out
	if err := execute(w, []string{"advise", "--json", "--log", "-", "yiyan"}); err != nil {
		t.Fatal(err)
	}
	if second := decodeAdvice(t, out.String()); decodeAdvice(t, first).Endpoints[0].Requests != 50 || second.Endpoints[0].Requests != 50 {
		t.Errorf("%s\n%s", first, out.String())
	}
}

func TestAdviseMistakes(t *testing.T) {
	dir, few := t.TempDir(), onlyIn(t, "ip", "yiyan")
	log := write(t, dir, "access.log", accessLog(100))
	empty := write(t, dir, "empty.log", "")
	keyless := write(t, dir, "own.log", "time=2026-03-01T00:00:00Z level=INFO msg=request endpoint=ip outcome=miss took=1ms\n")
	disorderly := write(t, dir, "disorder.log", `192.0.2.1 - - [01/Mar/2026:05:00:00 +0000] "GET /api/yiyan HTTP/1.1" 200 1
192.0.2.1 - - [01/Mar/2026:02:00:00 +0000] "GET /api/yiyan HTTP/1.1" 200 1
`)
	for _, test := range []struct {
		want string
		args []string
	}{
		{"missing flags: --log", nil},
		{"no such file", []string{"--log", filepath.Join(dir, "none.log")}},
		{`unknown endpoint "yian"`, []string{"--log", log, "yian"}},
		{"did you mean yiyan?", []string{"--log", log, "yian"}},
		{`--ttl: "5x": expected a duration from 1s to 366d, such as 90s`, []string{"--log", log, "--ttl", "5x"}},
		{`--ttl: "0s": expected`, []string{"--log", log, "--ttl", "0s,5m"}},
		{`--grace: "400d": expected`, []string{"--log", log, "--grace", "400d"}},
		{`--latency: "2h": expected a duration from 1ms to 1h`, []string{"--log", log, "--latency", "2h"}},
		{`--warm-up: "x": expected`, []string{"--log", log, "--warm-up", "x"}},
		{`--changes: changes "often": expected a mean interval`, []string{"--log", log, "--changes", "often"}},
		{`--changes: unknown endpoint "up"`, []string{"--log", log, "--changes", "up=1h"}},
		{"rules: expected at most 32", []string{"--log", log, "--ttl", "1s,2s,3s,4s,5s,6s", "--grace", "1s,2s,3s,4s,5s,6s"}},
		{"no request that could be simulated (0 lines, 0 simulated)", []string{"--log", empty}},
		{"are not in Sundry's log, because parameters are not logged", []string{"--log", keyless}},
		{"disorder.log:2: it is 3h before a line above", []string{"--log", disorderly}},
		{"--svg: open", []string{"--log", log, "--svg", filepath.Join(dir, "none", "x.svg")}},
	} {
		_, errs, err := call(t, few, append([]string{"advise"}, test.args...)...)
		if err == nil || !strings.Contains(err.Error()+errs, test.want) {
			t.Errorf("%v: %v %s, expected %q", test.args, err, errs, test.want)
		}
	}
}

// TestAdvisePlot: the picture is well-formed, has a plot for each endpoint and every
// TTL in it.
func TestAdvisePlot(t *testing.T) {
	dir := t.TempDir()
	svg := filepath.Join(dir, "plot.svg")
	if _, errs, err := call(t, nil, "advise", "--log", write(t, dir, "access.log", accessLog(5000)), "--changes", "ip=12h", "--ttl", "10m,1h,24h", "--svg", svg, "ip", "yiyan"); err != nil {
		t.Fatal(err, errs)
	}
	text := readFile(t, svg)
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"ip: upstream calls", "yiyan: upstream calls", "content changes: at random, every 12h in the mean", ">10m<", ">1h<", ">24h (present)<", "Age of answers", " h</text>", "upstream calls per hour", "mean age", "prefers-color-scheme:dark"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	if n := strings.Count(text, "<circle "); n != 6 {
		t.Errorf("%d points", n)
	}
}

// TestAxes: each holds its values between its ends, with a few ticks.
func TestAxes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		values := make([]float64, 1+random.IntN(8))
		for i := range values {
			values[i] = random.ExpFloat64() * []float64{0, 1e-3, 1, 1e5}[random.IntN(4)]
		}
		a := newAxis(values, 0, 100, random.IntN(2) == 0)
		for _, v := range slices.Concat(values, a.ticks) {
			if at := a.at(v); !(at >= -1e-6 && at <= 100+1e-6) {
				t.Fatalf("%v: %v is at %v of %+v", values, v, at, a)
			}
		}
		if n := len(a.ticks); n < 2 || n > 16 {
			t.Fatalf("%v: ticks %v", values, a.ticks)
		}
	}
}

func TestParseCombined(t *testing.T) {
	const head = `192.0.2.1 - - [02/Jan/2026:15:04:05 +0000] `
	for line, want := range map[string]string{
		head + `"GET /api/ip/index.php?ip=8.8.8.8 HTTP/1.1" 200 312 "-" "curl/8.0"`:   "192.0.2.1 GET /api/ip/index.php?ip=8.8.8.8 200 curl/8.0",
		head + `"HEAD /a b HTTP/1.1" 404 0 "http://example.org/\x22" "a \"b\" c" "x"`: `192.0.2.1 HEAD /a b 404 a \"b\" c`,
		`2001:db8::1 - a [b] [x] [02/Jan/2026:15:04:05 +0000] "GET / HTTP/2.0" 304 0`: "2001:db8::1 GET / 304 ",
		head + `"\x16\x03\x01" 400 157 "-" "-"`:                                       "192.0.2.1   400 ",
		head + `"-" 408 0 "-" "-"`:                                                    "192.0.2.1   408 ",
		head + `"GET / HTTP/1.1" 200 - "-"`:                                           "192.0.2.1 GET / 200 ",
		`localhost - - [02/Jan/2026:15:04:05 +0000] "GET / HTTP/1.1" 200 1 "-" ""`:    "localhost GET / 200 ",
		``: "", `x`: "", head: "", head + `"GET / HTTP/1.1"`: "", head + `"GET / HTTP/1.1" 20 1`: "", head + `"GET / HTTP/1.1" abc 1`: "", head + `"GET /`: "",
		`192.0.2.1 - - [02/Jan/2026] "GET / HTTP/1.1" 200 1`: "", ` - - [02/Jan/2026:15:04:05 +0000] "GET / HTTP/1.1" 200 1`: "", head + `"GET / HTTP/1.1" 2000 1`: "",
	} {
		l, err := parseCombined([]byte(line))
		if want == "" {
			if err == nil {
				t.Errorf("%q was read: %+v", line, l)
			}
			continue
		}
		if got := fmt.Sprintf("%s %s %s %d %s", l.addr, l.method, l.target, l.status, l.agent); err != nil || got != want || string(l.time) != "02/Jan/2026:15:04:05 +0000" {
			t.Errorf("%s: %q %v, expected %q", line, got, err, want)
		}
	}
}

func TestUnescapeLog(t *testing.T) {
	for in, want := range map[string]string{`a`: "a", `\x22\x5C\xe4\xBD\xa0`: `"\你`, `\"\\`: `"\`, `\x2`: "x2", `\xzz`: "xzz", `a\`: `a\`} {
		if got := string(unescapeLog([]byte(in))); got != want {
			t.Errorf("%s: %q, expected %q", in, got, want)
		}
	}
}

func FuzzCombined(f *testing.F) {
	f.Add([]byte(`192.0.2.1 - - [02/Jan/2026:15:04:05 +0000] "GET /api/ip?ip=8.8.8.8 HTTP/1.1" 200 312 "-" "curl/8.0"`))
	f.Add([]byte(`192.0.2.1 - [ [02/Jan/2026:15:04:05 +0000] "\x16\"" 400 0 "" "\`))
	f.Fuzz(func(t *testing.T, line []byte) {
		l, err := parseCombined(line)
		if err != nil {
			return
		}
		if len(l.time) != len(combinedTime) || len(l.addr) == 0 || l.status < 100 || l.status > 999 || len(l.method) > 0 && len(l.target) == 0 {
			t.Errorf("%q: %+v", line, l)
		}
		for _, part := range [][]byte{l.addr, l.time, l.method, l.target, l.agent} {
			if !bytes.Contains(line, part) {
				t.Errorf("%q is not in %q", part, line)
			}
		}
		if n := len(unescapeLog(l.target)); n > len(l.target) {
			t.Errorf("unescaped %q is longer", l.target)
		}
	})
}

func FuzzOwnLog(f *testing.F) {
	f.Add([]byte(`{"time":"2026-03-01T00:00:00.5Z","msg":"request","endpoint":"ip","outcome":"hit","took":1000}`))
	f.Add([]byte(`time=2026-03-01T00:00:00Z level=INFO msg=request endpoint=ip outcome=miss took=1ms cause="a \"b\""`))
	f.Add([]byte(`time=x msg=`))
	f.Fuzz(func(t *testing.T, line []byte) {
		l, err := parseOwn(line)
		if err != nil {
			if l != (ownLine{}) {
				t.Errorf("%q: %+v with %v", line, l, err)
			}
			return
		}
		if l.Message == "" || l.Message == proxy.RequestMessage && (l.Time.IsZero() || l.Endpoint == "" || l.Took < 0) {
			t.Errorf("%q: %+v", line, l)
		}
	})
}

// TestOwnLogIsWhatServeWrites: the parser reads what the logger of serve writes.
func TestOwnLogIsWhatServeWrites(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		w := processOf(t, nil)
		w.stderr = &out
		log, _, lines := newLogger(&config{LogFormat: format, LogLevel: "info"}, w)
		log.Info(proxy.RequestMessage, "id", "1 2", "endpoint", "ip", "outcome", "miss", "took", 1500*time.Microsecond, "source", `a "b"=c`, "key", "00ff", "age", time.Second)
		lines.end()
		l, err := parseOwn(bytes.TrimSpace(out.Bytes()))
		if err != nil || !isOwn(out.Bytes()) || l.Endpoint != "ip" || l.Outcome != "miss" || l.Took != 1500*time.Microsecond || l.Source != `a "b"=c` || l.Key != "00ff" || time.Since(l.Time) > time.Minute {
			t.Errorf("%s: %+v %v", out.String(), l, err)
		}
	}
}

func TestFigures(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.01234: "0.0123", 0.5: "0.500", 1: "1.00", 12.345: "12.3", 99.99: "100.0", 1234.5: "1234", 1e-9: "0.0000"} {
		if got := figure(v); got != want {
			t.Errorf("%v: %s, expected %s", v, got, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "0s", 312 * time.Millisecond: "312ms", 12345 * time.Millisecond: "12.3s", 3*time.Minute + 12345*time.Millisecond: "3m12s", 5*time.Hour + 90*time.Second: "5h2m", 200*time.Hour + time.Minute: "200h"} {
		if got := roughly(d); got != want {
			t.Errorf("%v: %s, expected %s", d, got, want)
		}
	}
}

// TestAdviseHelp has an example that its own parser takes.
func TestAdviseHelp(t *testing.T) {
	out, _, err := call(t, nil, "advise", "--help")
	if err != nil || !regexp.MustCompile(`sundry advise --log \S+ --changes ip=12h`).MatchString(out) {
		t.Errorf("%v %s", err, out)
	}
}

// BenchmarkAdvise is the whole way of a line of nginx's log: 10 million of them have to
// take less than a minute.
func BenchmarkAdvise(b *testing.B) {
	const lines = 200_000
	log := accessLog(lines)
	w := processOf(b, nil)
	var a adviseCmd
	a.TTL = []string{"1h", "2h", "3h", "6h", "12h", "24h", "2d", "3d"}
	a.Changes = []string{"12h"}
	set, cfg, err := a.load(w)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		sim, err := a.simulation(set, cfg)
		if err != nil {
			b.Fatal(err)
		}
		if err := sim.read(w, strings.NewReader(log), "log"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/lines, "ns/line")
}
