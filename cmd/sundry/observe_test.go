package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/peertest"

	"go.yaml.in/yaml/v4"
)

func promtool(t *testing.T, stdin string, args ...string) {
	t.Helper()
	cmd := exec.Command(peertest.Program(t, "prometheus", "prometheus", "promtool"), args...)
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestPromtool(t *testing.T) {
	t.Parallel()
	t.Run("metrics", func(t *testing.T) {
		peertest.Program(t, "prometheus", "prometheus", "promtool")
		p := serve(t, "--replay", "--redis", "redis://127.0.0.1:1")
		_, text := mustGet(t, p.admin+"/metrics")
		promtool(t, text, "check", "metrics")
	})
	t.Run("rules", func(t *testing.T) {
		promtool(t, "", "check", "rules", "--lint=all", "--lint-fatal", "../../deploy/prometheus/rules/sundry.yml")
	})
	t.Run("rule tests", func(t *testing.T) {
		longtest.Story(t)
		files := glob(t, "../../deploy/prometheus/rules/tests/*.yml")
		promtool(t, "", append([]string{"test", "rules"}, files...)...)
	})
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files, %v", pattern, err)
	}
	return files
}

// alertRule is an alert as rules/sundry.yml has it.
type alertRule struct {
	Alert       string            `yaml:"alert"`
	Record      string            `yaml:"record"`
	Expr        string            `yaml:"expr"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func rules(t *testing.T) []alertRule {
	t.Helper()
	b, err := os.ReadFile("../../deploy/prometheus/rules/sundry.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []alertRule `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.Load(b, &file); err != nil {
		t.Fatal(err)
	}
	var all []alertRule
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) < 10 {
		t.Fatalf("%d rules", len(all))
	}
	return all
}

// TestPrometheusRuleGolden gives the operator of Prometheus the same rules.
func TestPrometheusRuleGolden(t *testing.T) {
	t.Parallel()
	const head = `# The rules of deploy/prometheus/rules/sundry.yml, made by ` + "`make golden`" + `.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: sundry
  labels: {app.kubernetes.io/name: sundry}
spec:
`
	groups := regexp.MustCompile(`(?m)^groups:\n(?s:.*)`).FindString(readSample(t, "rules/sundry.yml"))
	golden(t, filepath.Join(samples, "kubernetes/components/prometheus-operator/prometheusrule.yaml"), head+regexp.MustCompile(`(?m)^.`).ReplaceAllString(groups, "  $0"))
}

// runbook gives its sections by anchor, as they are made of headings.
func runbook(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("../../deploy/runbook.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, part := range strings.Split(string(b), "\n## ")[1:] {
		title, text, _ := strings.Cut(part, "\n")
		anchor := strings.ReplaceAll(strings.ToLower(title), " ", "-")
		if _, twice := sections[anchor]; twice {
			t.Errorf("runbook: two sections #%s", anchor)
		}
		sections[anchor] = text
	}
	return sections
}

// runbookURL is where the admin listener has the runbook: on its own machine, through ssh -L, or by kubectl port-forward.
const runbookURL = "http://localhost:9090/admin/runbook.html"

// alertsRunbook is where alerts lead: an external label of Prometheus says it.
const alertsRunbook = `{{ or $externalLabels.sundry_runbook "` + runbookURL + `" }}`

// TestEveryAlertHasARunbookEntry: what it means, how to look, what to do.
func TestEveryAlertHasARunbookEntry(t *testing.T) {
	t.Parallel()
	sections, tested := runbook(t), ""
	for _, f := range glob(t, "../../deploy/prometheus/rules/tests/*.yml") {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		tested += string(b)
	}
	for _, r := range rules(t) {
		if r.Alert == "" {
			continue
		}
		if !slices.Contains([]string{"critical", "warning", "info"}, r.Labels["severity"]) {
			t.Errorf("%s: severity %q", r.Alert, r.Labels["severity"])
		}
		if r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
			t.Errorf("%s: wants a summary and a description", r.Alert)
		}
		anchor, ok := strings.CutPrefix(r.Annotations["runbook_url"], alertsRunbook+"#")
		section := sections[anchor]
		if !ok || !strings.Contains(section, r.Alert) && anchor != strings.ToLower(r.Alert) {
			t.Errorf("%s: runbook_url %q leads to no section of its own", r.Alert, r.Annotations["runbook_url"])
		}
		for _, part := range []string{"**Means.**", "**Look.**", "**Do.**"} {
			if !strings.Contains(section, part) {
				t.Errorf("%s: its section lacks %s", r.Alert, part)
			}
		}
		if !regexp.MustCompile(`alertname: ` + r.Alert + `\n +exp_alerts:`).MatchString(tested) {
			t.Errorf("%s: no rule test makes it fire", r.Alert)
		}
	}
}

func TestRunbookLinksWithinItself(t *testing.T) {
	t.Parallel()
	sections := runbook(t)
	for anchor, text := range sections {
		for _, m := range regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(text, -1) {
			if _, ok := sections[m[1]]; !ok {
				t.Errorf("#%s links to #%s, which is not there", anchor, m[1])
			}
		}
	}
}

// dashboard is what Grafana needs of a file.
type dashboard struct {
	file          string
	UID           string `json:"uid"`
	Title         string `json:"title"`
	SchemaVersion int    `json:"schemaVersion"`
	Panels        []panel
	Templating    struct {
		List []struct {
			Name       string     `json:"name"`
			Type       string     `json:"type"`
			Datasource datasource `json:"datasource"`
			Definition string     `json:"definition"`
			Query      any        `json:"query"`
		} `json:"list"`
	} `json:"templating"`
	Annotations struct {
		List []struct {
			Expr string `json:"expr"`
		} `json:"list"`
	} `json:"annotations"`
}

type datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

type panel struct {
	ID          int        `json:"id"`
	Type        string     `json:"type"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Datasource  datasource `json:"datasource"`
	GridPos     struct{ X, Y, W, H int }
	Links       []struct {
		URL string `json:"url"`
	} `json:"links"`
	FieldConfig struct {
		Defaults struct {
			Unit       string `json:"unit"`
			Thresholds struct {
				Steps []struct {
					Color string   `json:"color"`
					Value *float64 `json:"value"`
				} `json:"steps"`
			} `json:"thresholds"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
	Targets []target `json:"targets"`
}

type target struct {
	RefID      string     `json:"refId"`
	Expr       string     `json:"expr"`
	Instant    bool       `json:"instant"`
	Datasource datasource `json:"datasource"`
}

func dashboards(t *testing.T) []dashboard {
	t.Helper()
	var all []dashboard
	for _, file := range glob(t, "../../deploy/grafana/dashboards/*.json") {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := dashboard{file: filepath.Base(file)}
		if err := json.Unmarshal(b, &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, d)
	}
	return all
}

func TestDashboards(t *testing.T) {
	t.Parallel()
	boards, sections, seen := dashboards(t), runbook(t), map[string]string{}
	if len(boards) != 3 {
		t.Errorf("%d dashboards", len(boards))
	}
	for _, d := range boards {
		for _, once := range []string{d.UID, d.Title} {
			if once == "" || seen[once] != "" {
				t.Errorf("%s: uid or title %q is that of %q", d.file, once, seen[once])
			}
			seen[once] = d.file
		}
		if d.SchemaVersion < 39 {
			t.Errorf("%s: schema %d", d.file, d.SchemaVersion)
		}
		var variables []string
		for _, v := range d.Templating.List {
			variables = append(variables, v.Name)
			if v.Name == "runbook" && v.Query != runbookURL {
				t.Errorf("%s: the runbook is at %v, want %s", d.file, v.Query, runbookURL)
			}
			if v.Type == "query" && v.Datasource.UID != chosenSource {
				t.Errorf("%s: variable %s: datasource %q", d.file, v.Name, v.Datasource.UID)
			}
		}
		if want := []string{"datasource", "job", "instance", "endpoint"}; len(variables) < len(want) || !slices.Equal(variables[:len(want)], want) {
			t.Errorf("%s: variables %v, want %v first", d.file, variables, want)
		}
		checkLayout(t, d)
		for _, p := range d.Panels {
			if p.Type != "row" {
				checkPanel(t, d.file, &p, sections)
			}
		}
	}
}

// chosenSource is the data source that the reader of a dashboard has chosen: that of another Grafana has another uid.
const chosenSource = "${datasource}"

// checkPanel wants what makes a panel readable by someone who has not made it.
func checkPanel(t *testing.T, file string, p *panel, sections map[string]string) {
	t.Helper()
	bad := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s: panel %d %q: %s", file, p.ID, p.Title, fmt.Sprintf(format, args...))
	}
	if p.Title == "" || len(p.Description) < 30 {
		bad("wants a title, and a description that says something")
	}
	if p.FieldConfig.Defaults.Unit == "" {
		bad("no unit")
	}
	steps := p.FieldConfig.Defaults.Thresholds.Steps
	if len(steps) == 0 || steps[0].Value != nil {
		bad("thresholds begin with a step without a value")
	}
	for i, s := range steps {
		if i > 0 && s.Value == nil || i > 1 && *s.Value < *steps[i-1].Value {
			bad("thresholds do not rise")
		}
	}
	if len(p.Links) == 0 {
		bad("no link to the runbook")
	}
	for _, l := range p.Links {
		if anchor, ok := strings.CutPrefix(l.URL, "${runbook}#"); !ok || sections[anchor] == "" {
			bad("link %s leads nowhere", l.URL)
		}
	}
	refs := map[string]bool{}
	for _, q := range p.Targets {
		if q.Expr == "" || refs[q.RefID] || q.Datasource.UID != chosenSource || p.Datasource.UID != chosenSource {
			bad("query %q: empty, twice, or of another datasource", q.RefID)
		}
		refs[q.RefID] = true
		for _, metric := range unselected(q.Expr) {
			bad("query %q: %s of all jobs", q.RefID, metric)
		}
	}
	if len(refs) == 0 {
		bad("no query")
	}
}

// selected is a metric of Sundry with its selector, if it has one.
var selected = regexp.MustCompile(`\b(job:)?sundry_[\w:]+(\{[^}]*\})?`)

// unselected returns the metrics of an expression that are not those of the job that the reader of a dashboard has chosen.
func unselected(expr string) (metrics []string) {
	for _, m := range selected.FindAllString(expr, -1) {
		if !strings.Contains(m, `job=~"$job"`) {
			metrics = append(metrics, m)
		}
	}
	return metrics
}

// checkLayout wants ids that are unique, and panels side by side on the grid of
// 24 columns.
func checkLayout(t *testing.T, d dashboard) {
	t.Helper()
	ids, cells := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if p.ID == 0 || ids[p.ID] {
			t.Errorf("%s: id %d twice", d.file, p.ID)
		}
		ids[p.ID] = true
		g := p.GridPos
		if g.X < 0 || g.Y < 0 || g.W < 1 || g.H < 1 || g.X+g.W > 24 {
			t.Errorf("%s: %q is off the grid: %+v", d.file, p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other, taken := cells[[2]int{x, y}]; taken {
					t.Fatalf("%s: %q lies over %q", d.file, p.Title, other)
				}
				cells[[2]int{x, y}] = p.Title
			}
		}
	}
}

// TestGrafanaFindsTheDashboards in the folder where docker-compose.yml puts them, and a data source for them.
func TestGrafanaFindsTheDashboards(t *testing.T) {
	t.Parallel()
	var sources struct {
		Datasources []struct {
			UID  string `yaml:"uid"`
			Type string `yaml:"type"`
		} `yaml:"datasources"`
	}
	var providers struct {
		Providers []struct {
			Options struct {
				Path string `yaml:"path"`
			} `yaml:"options"`
		} `yaml:"providers"`
	}
	for file, into := range map[string]any{"datasources/prometheus.yml": &sources, "dashboards/sundry.yml": &providers} {
		b, err := os.ReadFile("../../deploy/grafana/provisioning/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Load(b, into); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	if len(sources.Datasources) != 1 || sources.Datasources[0].Type != "prometheus" {
		t.Errorf("%+v", sources)
	}
	compose, err := os.ReadFile("../../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	if len(providers.Providers) != 1 || !strings.Contains(string(compose), "./deploy/grafana/dashboards:"+providers.Providers[0].Options.Path+":") {
		t.Errorf("dashboards are read from %+v, and not mounted there", providers)
	}
}

// TestRulesAndDashboardsNameMetricsThatExist, by the list of them.
func TestRulesAndDashboardsNameMetricsThatExist(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\|").FindAllStringSubmatch(readFile(t, metricsPage), -1) {
		known[m[1]] = true
		if m[2] == "histogram" {
			known[m[1]+"_bucket"], known[m[1]+"_sum"], known[m[1]+"_count"] = true, true, true
		}
	}
	all := rules(t)
	for _, r := range all {
		if r.Record != "" {
			known[r.Record] = true
		}
	}
	names := regexp.MustCompile(`(?:job:)?sundry_[a-z0-9_]+(?::[a-z0-9_]+)?`)
	check := func(where, expr string) {
		for _, name := range names.FindAllString(expr, -1) {
			if !known[name] {
				t.Errorf("%s: there is no metric %s", where, name)
			}
		}
	}
	for _, r := range all {
		check(r.Alert+r.Record, r.Expr)
	}
	for _, d := range dashboards(t) {
		for _, v := range d.Templating.List {
			check(d.file+": variable "+v.Name, v.Definition)
		}
		for _, a := range d.Annotations.List {
			check(d.file+": annotation", a.Expr)
		}
		for _, p := range d.Panels {
			for _, q := range p.Targets {
				check(fmt.Sprintf("%s: %q", d.file, p.Title), q.Expr)
			}
		}
	}
}
