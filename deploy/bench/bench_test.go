package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/peertest"
)

// TestATableComesOut runs the bench itself, so briefly that its figures mean nothing.
func TestATableComesOut(t *testing.T) {
	longtest.Story(t)
	for peer, names := range map[string][2]string{
		"nginx": {"nginx-light", "nginx"}, "varnish": {"varnish", "varnishd"}, "redis": {"redis-server", "redis-server"},
		"wrk": {"wrk", "wrk"}, "taskset": {"util-linux", "taskset"},
	} {
		peertest.Program(t, peer, names[0], names[1])
	}
	for _, core := range []string{"0", "1"} {
		if err := exec.Command("taskset", "-c", core, "true").Run(); err != nil {
			t.Skip("two cores are needed:", err)
		}
	}
	program := t.TempDir() + "/bench"
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command("taskset", "-c", "1", program, "--rounds", "1", "--seconds", "1", "--only", "hit-1k,head,miss")
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	var messages strings.Builder
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, &messages)
	}
	for _, want := range []string{
		"| hit, 1 kB, to nginx | ", "| HEAD, to nginx | ", "| miss, 1 kB, to `httputil.ReverseProxy` | ",
		"| hit, 1 kB (`60s`) | ", "| HEAD (`60s`) | ", "| miss, 1 kB, one HTTP source",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
}

// TestWhatIsNotWhatItSeemsIsNoFigure has a Sundry that counts one thing while the load
// got another.
func TestWhatIsNotWhatItSeemsIsNoFigure(t *testing.T) {
	hits, misses := &row{counted: "hit", size: 1000}, &row{counted: "miss"}
	for name, c := range map[string]struct {
		row  *row
		by   server
		got  outcome
		used usage
		want string // "" is no error
	}{
		"hits":                 {hits, server{name: sundryReplay}, outcome{100, 0, 200_000}, usage{requests: 110, good: 110}, ""},
		"a failed request":     {hits, server{name: sundryReplay}, outcome{100, 1, 200_000}, usage{requests: 110, good: 110}, "1 of 100"},
		"no answers":           {hits, server{name: sundryReplay}, outcome{0, 0, 0}, usage{}, "0 of 0"},
		"short answers":        {hits, server{name: sundryReplay}, outcome{100, 0, 100}, usage{requests: 110, good: 110}, "1 bytes"},
		"a miss among hits":    {hits, server{name: sundryReplay}, outcome{100, 0, 200_000}, usage{requests: 111, good: 110}, "counted 111, 110"},
		"hits that nobody saw": {hits, server{name: sundryReplay}, outcome{100, 0, 200_000}, usage{requests: 50, good: 50}, "counted 50"},
		"a cache":              {hits, server{name: nginxCache, spec: spec{asks: []string{sundryReplay}}}, outcome{100, 0, 200_000}, usage{}, ""},
		"a cache that asks": {hits, server{name: nginxCache, spec: spec{asks: []string{sundryReplay}}}, outcome{100, 0, 200_000},
			usage{requests: 1, good: 1}, "it asked Sundry"},
		"misses":                      {misses, server{name: sundryFetches}, outcome{100, 0, 100_000}, usage{requests: 100, good: 100}, ""},
		"misses that are asked again": {misses, server{name: sundryFetches}, outcome{300, 0, 300_000}, usage{requests: 300, good: 200}, "200 as miss"},
		"hits of Redis":               {hits, server{name: sundryRedis}, outcome{100, 0, 200_000}, usage{requests: 100, good: 100, stored: 100}, ""},
		"hits of the near tier": {hits, server{name: sundryRedis}, outcome{100, 0, 200_000}, usage{requests: 100, good: 100, stored: 50},
			"only 50 came from Redis"},
	} {
		judge(t, name, c.row.check(&c.by, c.got, c.used), c.want)
	}
	for _, c := range []struct {
		kind kind
		used usage
		want string
	}{
		{kinds()[0], usage{requests: 100, good: 100}, ""},
		{kinds()[0], usage{requests: 100, good: 99}, "of 100"},
		{kinds()[1], usage{requests: 100, good: 100, stored: 100}, ""},
		{kinds()[1], usage{requests: 100, good: 100, stored: 99}, "of 100"},
		{kinds()[2], usage{requests: 100, good: 100, stored: 1}, "of 100"},
	} {
		judge(t, c.kind.name, c.kind.check(c.used, outcome{answers: 100}), c.want)
	}
}

func judge(t *testing.T, name string, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: %v, expected %q", name, err, want)
	}
}

// TestAnswersAreLookedAt has servers that answer something else than Sundry does.
func TestAnswersAreLookedAt(t *testing.T) {
	for name, c := range map[string]struct {
		row  *row
		got  reply
		want string
	}{
		"the same":       {&row{}, reply{200, nil, "body"}, ""},
		"another body":   {&row{}, reply{200, nil, "else"}, "expected the 4 bytes"},
		"another pick":   {&row{varies: true}, reply{200, nil, "else"}, ""},
		"a longer pick":  {&row{varies: true}, reply{200, nil, strings.Repeat("else", 100)}, "got 400"},
		"an error":       {&row{}, reply{502, nil, "body"}, "expected status 200"},
		"no 304":         {&row{status: 304}, reply{200, nil, "body"}, "expected status 304"},
		"another status": {&row{}, reply{304, nil, ""}, "expected status 200"},
	} {
		first := reply{c.row.good(), nil, "body"}
		if err := c.row.right("/", first); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		judge(t, name, c.row.right("/", c.got), c.want)
	}
}

// TestUsageIsWhatSundryCounts reads the counters of one, and of one behind a cache.
func TestUsageIsWhatSundryCounts(t *testing.T) {
	text := "# TYPE sundry_requests_total counter\n" +
		"sundry_requests_total{class=\"2xx\",endpoint=\"a\",outcome=\"hit\"} 5\nsundry_requests_total{outcome=\"stale\"} 2\n" +
		"sundry_requests_total{outcome=\"miss\"} 1\nsundry_requests_total_of_others{outcome=\"hit\"} 9\n" +
		"sundry_far_reads_total{result=\"hit\"} 3\nsundry_upstream_attempts_total{source=\"a b\"} 4\n"
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }))
	defer admin.Close()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(admin.URL, "http://"))
	n, _ := strconv.Atoi(port)
	sundry := &server{name: sundryReplay, spec: spec{port: n - 100}}
	b := &bench{ctx: t.Context(), transport: &http.Transport{}, servers: map[string]*server{sundryReplay: sundry}}
	defer b.transport.CloseIdleConnections()
	for _, s := range []*server{sundry, {name: nginxCache, spec: spec{asks: []string{sundryReplay}}}} {
		var u usage
		if err := b.counted(&u, "hit", s); err != nil || u != (usage{requests: 8, good: 7, stored: 3, calls: 4}) {
			t.Errorf("%s: %+v, %v", s.name, u, err)
		}
	}
	if u := (usage{cpu: 5, trips: 3}).since(usage{cpu: 2, trips: 1}); u != (usage{cpu: 3, trips: 2}) {
		t.Errorf("%+v", u)
	}
}

// TestLoadsMakeTheirRequests has vegeta make a number of requests, and some for a span.
func TestLoadsMakeTheirRequests(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.UserAgent() != "" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		_, _ = fmt.Fprint(w, "0123456789")
	}))
	defer s.Close()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
	n, _ := strconv.Atoi(port)
	r, by := &row{}, &server{spec: spec{port: n}}
	if got := r.came(attack{times(1001), 0, 4}.summary(r.targets(by, []string{"/a", "/b"}))); got != (outcome{1001, 0, 10_010}) {
		t.Errorf("%+v", got)
	}
}

func TestZipf(t *testing.T) {
	asked := map[string]int{}
	for _, path := range zipf(nil, nil) {
		asked[path]++
	}
	// The first has a share of 1/H(10000) = 0.102, the tenth a tenth of that.
	first, tenth := asked[keyPath+"1"], asked[keyPath+"10"]
	if first < zipfRequests/12 || first > zipfRequests/8 || tenth < first/15 || tenth > first/7 || asked[keyPath+"10001"] > 0 {
		t.Errorf("of %d requests %d for the first key, %d for the tenth", zipfRequests, first, tenth)
	}
}

func TestReport(t *testing.T) {
	b, err := readOptions([]string{"--only", "hit-1k,memory"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []float64{10, 30, 20} {
		b.note("hit-1k", withExpress, v)
		b.note("hit-1k", nginx, 40)
	}
	b.note("memory", withExpress, 1.6)
	text := b.report()
	for _, want := range []string{
		"| hit, 1 kB, to nginx | 0.50 (0.25–0.75) | ≤ 0.80 | met |", "| 1.60 (1.60–1.60) | ≤ 1.50 | **missed** |",
		"| hit, 1 kB (`60s`) | 20.0 | – | – | 40.0 | – |",
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is not once in:\n%s", want, text)
		}
	}
	if strings.Contains(text, "requests a second") {
		t.Errorf("an empty table:\n%s", text)
	}
}

func TestGoalsAreAboutRows(t *testing.T) {
	names := append(rowNames(), "p50", "p99", "p99.9")
	for _, g := range goals() {
		if !slices.Contains(names, g.of.row) || g.to != (figure{}) && !slices.Contains(names, g.to.row) {
			t.Errorf("%s: no such row", g.what)
		}
	}
	all := specs()
	for _, r := range allRows() {
		for _, name := range r.servers {
			if all[name].column == "" {
				t.Errorf("%s: no column for %s", r.name, name)
			}
		}
	}
}

func TestMistakesInOptions(t *testing.T) {
	for _, args := range []string{"--rounds 0", "--seconds 1.5", "--seconds 0", "--only hits", "more"} {
		if _, err := readOptions(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}
