//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"
)

// alertWatch is a real Prometheus with the alerts of Sundry, whose targets may change. Each job has its own.
type alertWatch struct {
	*scraper
	targets string // the file of them
	pace    time.Duration
}

// newAlertWatch starts Prometheus with these rules. It scrapes and evaluates at this pace.
func newAlertWatch(t *testing.T, rules string, pace time.Duration) *alertWatch {
	t.Helper()
	dir, own := t.TempDir(), freeAddress(t)
	w := &alertWatch{targets: filepath.Join(dir, "targets.json"), pace: pace}
	w.scrape(t, nil)
	text := readSample(t, "prometheus.yml")
	for from, to := range map[string]string{
		"/run/prometheus/read-token":                                write(t, dir, "token", adminToken),
		"    static_configs:\n      - targets: [\"sundry:9090\"]\n": fmt.Sprintf("    file_sd_configs:\n      - files: [%q]\n", w.targets),
		"\"localhost:9090\"":                                        fmt.Sprintf("%q", own),
		"scrape_interval: 15s":                                      fmt.Sprintf("scrape_interval: %dms\n  scrape_timeout: %dms", pace.Milliseconds(), pace.Milliseconds()),
		"evaluation_interval: 15s":                                  fmt.Sprintf("evaluation_interval: %dms", pace.Milliseconds()),
	} {
		if strings.Count(text, from) != 1 {
			t.Fatalf("prometheus.yml does not have %q once", from)
		}
		text = strings.Replace(text, from, to, 1)
	}
	if err := os.Mkdir(filepath.Join(dir, "rules"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "rules"), "sundry.yml", rules)
	w.scraper = runPrometheus(t, dir, write(t, dir, "prometheus.yml", text), own)
	return w
}

// scrape replaces the targets, which are addresses of admin listeners, by those of these jobs.
func (w *alertWatch) scrape(t *testing.T, jobs map[string][]string) {
	t.Helper()
	type group struct {
		Targets []string          `json:"targets"`
		Labels  map[string]string `json:"labels"`
	}
	groups := []group{}
	for job, targets := range jobs {
		groups = append(groups, group{targets, map[string]string{"job": job}})
	}
	b, err := json.Marshal(groups)
	if err != nil {
		t.Fatal(err)
	}
	next := write(t, filepath.Dir(w.targets), "targets.next", string(b))
	if err := os.Rename(next, w.targets); err != nil {
		t.Fatal(err)
	}
}

// untilScraped waits until each target has been scraped a few times, so that all counters were seen before they rise.
func (w *alertWatch) untilScraped(t *testing.T, targets int) {
	t.Helper()
	seen := fmt.Sprintf(`count(sum_over_time(up{job!="prometheus"}[%ds]) >= 3) and count(up{job!="prometheus"}) == %d`, max(10, int(4*w.pace.Seconds())), targets)
	waittest.Until(t, fmt.Sprintf("%d targets are scraped", targets), func() bool {
		n, ok := w.number(seen)
		return ok && int(n) >= targets
	})
}

// number is the one that a query comes to now; false where it comes to none.
func (w *alertWatch) number(expr string) (float64, bool) {
	var data struct {
		Result []struct {
			Value [2]any `json:"value"`
		} `json:"result"`
	}
	if err := w.ask("query", url.Values{"query": {expr}}, &data); err != nil || len(data.Result) != 1 {
		return 0, false
	}
	text, _ := data.Result[0].Value[1].(string)
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}

// firing are the names of the alerts that fire now, by job.
func (w *alertWatch) firing() (map[string][]string, error) {
	var data struct {
		Alerts []struct {
			Labels map[string]string `json:"labels"`
			State  string            `json:"state"`
		} `json:"alerts"`
	}
	if err := w.ask("alerts", nil, &data); err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for _, a := range data.Alerts {
		if name, job := a.Labels["alertname"], a.Labels["job"]; a.State == "firing" && !slices.Contains(all[job], name) {
			all[job] = append(all[job], name)
		}
	}
	return all, nil
}

// fired are the names of the alerts of a job that fired at any evaluation in a time.
func (w *alertWatch) fired(t *testing.T, job string, from, to time.Time) (names []string) {
	t.Helper()
	at := func(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64) }
	var data struct {
		Result []struct {
			Metric map[string]string `json:"metric"`
		} `json:"result"`
	}
	query := url.Values{"query": {fmt.Sprintf(`count by (alertname) (last_over_time(ALERTS{alertstate="firing", job=~%q}[%dms]))`, job, 2*w.pace.Milliseconds())},
		"start": {at(from)}, "end": {at(to)}, "step": {strconv.FormatFloat(w.pace.Seconds(), 'f', 3, 64)}}
	if err := w.ask("query_range", query, &data); err != nil {
		t.Fatal(err)
	}
	for _, series := range data.Result {
		names = append(names, series.Metric["alertname"])
	}
	slices.Sort(names)
	return names
}
