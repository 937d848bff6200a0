package validate

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
	"sigs.k8s.io/yaml"
)

// prometheus is what of its configuration has to agree with the compose file.
type prometheus struct {
	RuleFiles     []string `json:"rule_files"`
	ScrapeConfigs []struct {
		JobName       string `json:"job_name"`
		Authorization struct {
			CredentialsFile string `json:"credentials_file"`
		} `json:"authorization"`
		StaticConfigs []struct {
			Targets []string `json:"targets"`
		} `json:"static_configs"`
	} `json:"scrape_configs"`
}

func prometheusConfig(t *testing.T) prometheus {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(top, "deploy/prometheus/prometheus.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var c prometheus
	if err := yaml.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPrometheusShowsTheTokenThatSundryReads, at the path where it is mounted. It has no token that permits changes.
func TestPrometheusShowsTheTokenThatSundryReads(t *testing.T) {
	p := compose(t)
	token := *p.Services["sundry"].Environment["SUNDRY_ADMIN_READ_TOKEN_FILE"]
	scraped := false
	for _, job := range prometheusConfig(t).ScrapeConfigs {
		for _, c := range job.StaticConfigs {
			if !slices.Contains(c.Targets, "sundry:9090") {
				continue
			}
			scraped = true
			if got := job.Authorization.CredentialsFile; got != token {
				t.Errorf("job %s shows %q, and Sundry reads %s", job.JobName, got, token)
			}
		}
	}
	if !scraped {
		t.Error("no job scrapes sundry:9090")
	}
	source := func(name string) string {
		for _, v := range p.Services[name].Volumes {
			if v.Target == filepath.Dir(token) && v.Type == types.VolumeTypeVolume {
				return v.Source
			}
		}
		return ""
	}
	if s := source("secrets"); s == "" || s != source("sundry") || s != source("prometheus") {
		t.Errorf("the token of sundry is in %q, of prometheus in %q, made in %q", source("sundry"), source("prometheus"), s)
	}
	for _, v := range p.Services["prometheus"].Volumes {
		if v.Source == "admin-token" {
			t.Error("Prometheus has the token that permits changes")
		}
	}
}

// TestPrometheusFindsItsRules under the directory that is mounted for it.
func TestPrometheusFindsItsRules(t *testing.T) {
	files := prometheusConfig(t).RuleFiles
	if len(files) == 0 {
		t.Error("no rules")
	}
	for _, pattern := range files {
		if filepath.IsAbs(pattern) {
			rel, err := filepath.Rel("/etc/prometheus", pattern)
			if err != nil {
				t.Fatal(err)
			}
			pattern = rel
		}
		if found, err := filepath.Glob(filepath.Join(top, "deploy/prometheus", pattern)); err != nil || len(found) == 0 {
			t.Errorf("%s names nothing: %v", pattern, err)
		}
	}
}

// TestGrafanaFindsItsDashboards where they are mounted, and its data at a service.
func TestGrafanaFindsItsDashboards(t *testing.T) {
	var dashboards struct {
		Providers []struct {
			Options struct{ Path string } `json:"options"`
		} `json:"providers"`
	}
	var sources struct {
		Datasources []struct{ URL string } `json:"datasources"`
	}
	for file, into := range map[string]any{"dashboards/sundry.yml": &dashboards, "datasources/prometheus.yml": &sources} {
		b, err := os.ReadFile(filepath.Join(top, "deploy/grafana/provisioning", file))
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(b, into); err != nil {
			t.Fatal(err)
		}
	}
	p := compose(t)
	for _, provider := range dashboards.Providers {
		if !slices.ContainsFunc(p.Services["grafana"].Volumes, func(v types.ServiceVolumeConfig) bool {
			return v.Target == provider.Options.Path && v.Type == types.VolumeTypeBind
		}) {
			t.Errorf("nothing is mounted at %s", provider.Options.Path)
		}
	}
	if len(dashboards.Providers) != 1 || len(sources.Datasources) != 1 || sources.Datasources[0].URL != "http://prometheus:9090" {
		t.Errorf("%+v %+v", dashboards, sources)
	}
}

// TestKubernetesHasTheDashboards, all of them as they are, and none larger than kubectl apply can note down in the
// annotation that holds what was last applied.
func TestKubernetesHasTheDashboards(t *testing.T) {
	const annotations = 256 << 10
	files, err := filepath.Glob(filepath.Join(top, "deploy/grafana/dashboards/*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%q: %v", files, err)
	}
	made := map[string]string{}
	for _, d := range build(t, filepath.Join(top, "deploy/kubernetes/overlays/example")).dashboards {
		maps.Copy(made, d.Data)
		if text, err := json.Marshal(d); err != nil || len(text) > annotations {
			t.Errorf("%s has %d bytes: %v", d.Name, len(text), err)
		}
	}
	for _, f := range files {
		if text, err := os.ReadFile(f); err != nil || made[filepath.Base(f)] != string(text) {
			t.Errorf("%s is not among them: %v", f, err)
		}
	}
}
