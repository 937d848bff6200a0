//go:build linux

package harness

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		all  []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{5, 1, 2}, 2}, {[]float64{4, 1, 2, 10}, 3}} {
		if got := Median(c.all); got != c.want {
			t.Errorf("median of %v: %v, expected %v", c.all, got, c.want)
		}
	}
}

func TestReplaceFigures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	for _, c := range []struct{ before, want string }{
		{"text\n<begin>\nold\n<end>\nmore\n", "text\n<begin>\nnew\n<end>\nmore\n"},
		{"<begin>\n<end>\n", "<begin>\nnew\n<end>\n"},
		{"<begin>\nold\n", ""}, {"<end>\n<begin>\n", ""}, {"text\n", ""},
	} {
		if err := WriteFile(file, c.before); err != nil {
			t.Fatal(err)
		}
		err := ReplaceFigures(file, "<begin>\n", "new\n", "<end>\n")
		got, _ := os.ReadFile(file)
		if c.want == "" && (err == nil || string(got) != c.before) || c.want != "" && (err != nil || string(got) != c.want) {
			t.Errorf("%q: %q, %v", c.before, got, err)
		}
	}
}

func TestWhatASundrySays(t *testing.T) {
	log := "level=INFO msg=starting public=no\nlevel=INFO msg=serving public=127.0.0.1:1 admin=127.0.0.1:2\n"
	if p, a := field(log, "public"), field(log, "admin"); p != "127.0.0.1:1" || a != "127.0.0.1:2" {
		t.Errorf("public %q, admin %q", p, a)
	}
	if p := field(strings.TrimSuffix(log, "2\n"), "public"); p != "" {
		t.Errorf("%q of a line that is not complete", p)
	}
	profile := "# HeapIdle = 100\n# HeapReleased = 40\n"
	if n, err := heapStatistic(profile, "HeapReleased"); n != 40 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := heapStatistic(profile, "HeapObjects"); err == nil {
		t.Error("no error for a statistic that is not there")
	}
}

func TestOthers(t *testing.T) {
	const stat = "cpu  100 10 50 10000 500 7 3 2 40 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n"
	if got := busyOf(stat); got != 1720*time.Millisecond {
		t.Errorf("%v, expected 172 ticks", got)
	}
	if got := busyOf(""); got != 0 {
		t.Errorf("%v of nothing", got)
	}
	if o := WatchOthers(); o.Share() < 0 {
		t.Error("less than nothing")
	}
}

func TestMetrics(t *testing.T) {
	b, err := New(t.Context(), &strings.Builder{}, &Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("# TYPE a counter\na{x=\"1\",y=\"1\"} 2\na{x=\"1\",y=\"2\"} 3\na{x=\"2\",y=\"1\"} 0\n# TYPE g gauge\ng 7\n"))
	}))
	defer s.Close()
	f, err := b.Metrics(strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Counts("a", "x"); len(got) != 1 || got["1"] != 5 || f.Gauge("g") != 7 || f.Gauge("none") != 0 {
		t.Errorf("%v, %v", got, f.Gauge("g"))
	}
}
