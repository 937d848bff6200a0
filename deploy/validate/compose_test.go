package validate

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// top is the repository's top, from this directory.
const top = "../.."

// project loads as `docker compose` does: schema, interpolation, consistency.
func project(t *testing.T, files ...string) (*types.Project, error) {
	t.Helper()
	return projectWith(t, nil, files...)
}

// projectWith loads with variables of the caller's.
func projectWith(t *testing.T, env []string, files ...string) (*types.Project, error) {
	t.Helper()
	options, err := cli.NewProjectOptions(files, cli.WithEnv(env), cli.WithWorkingDirectory(filepath.Dir(files[0])), cli.WithResolvedPaths(true))
	if err != nil {
		t.Fatal(err)
	}
	return options.LoadProject(t.Context())
}

func compose(t *testing.T) *types.Project {
	t.Helper()
	p, err := project(t, filepath.Join(top, "docker-compose.yml"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestDemo: it replays, and its callers reach it and nothing else is theirs.
func TestDemo(t *testing.T) {
	p, err := project(t, filepath.Join(top, "docker-compose.yml"), filepath.Join(top, "deploy/demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	sundry, callers := p.Services["sundry"], p.Services["callers"]
	if !slices.Equal(sundry.Command, []string{"serve", "--replay"}) || len(sundry.Ports) != 2 {
		t.Errorf("%q %v", sundry.Command, sundry.Ports)
	}
	_, reaches := callers.Networks["outside"]
	if _, shared := sundry.Networks["outside"]; !reaches || !shared || len(callers.Networks) != 1 || len(callers.Volumes) > 0 || !callers.ReadOnly || callers.Image != p.Services["redis"].Image {
		t.Errorf("%+v", callers)
	}
	if out, err := exec.CommandContext(t.Context(), "sh", "-nc", callers.Command[0]).CombinedOutput(); err != nil {
		t.Errorf("%v %s", err, out)
	}
}

func TestComposeSchemaCatchesAMisspeltField(t *testing.T) {
	file := filepath.Join(t.TempDir(), "docker-compose.yml")
	if err := os.WriteFile(file, []byte("name: x\nservices: {a: {image: a, helthcheck: {}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := project(t, file); err == nil || !strings.Contains(err.Error(), "helthcheck") {
		t.Errorf("loaded, with %v", err)
	}
}

func TestComposeHasAllServices(t *testing.T) {
	got := compose(t).ServiceNames()
	slices.Sort(got)
	if want := []string{"grafana", "prometheus", "redis", "secrets", "sundry"}; !slices.Equal(got, want) {
		t.Errorf("services %q, want %q", got, want)
	}
}

// TestComposeIsHardened holds every service to the same rules.
func TestComposeIsHardened(t *testing.T) {
	for name, s := range compose(t).Services {
		for rule, kept := range map[string]bool{
			"read-only file system":  s.ReadOnly,
			"no capabilities":        slices.Equal(s.CapDrop, []string{"ALL"}) && len(s.CapAdd) == 0 && !s.Privileged,
			"no new privileges":      slices.Contains(s.SecurityOpt, "no-new-privileges:true"),
			"a bound on memory":      s.MemLimit > 0,
			"a bound on processors":  s.CPUS > 0,
			"a bound on processes":   s.PidsLimit > 0,
			"logs that rotate":       s.Logging != nil && s.Logging.Options["max-size"] != "",
			"a pinned image":         strings.Contains(s.Image, ":") && !strings.HasSuffix(s.Image, ":latest"),
			"health, unless it ends": endsByItself(s) || s.HealthCheck != nil && len(s.HealthCheck.Test) > 1 && !s.HealthCheck.Disable,
			"restarts, likewise":     endsByItself(s) || s.Restart == types.RestartPolicyUnlessStopped,
		} {
			if !kept {
				t.Errorf("%s lacks %s", name, rule)
			}
		}
	}
}

// endsByItself tells of a service that others wait to be done.
func endsByItself(s types.ServiceConfig) bool { return s.Restart == types.RestartPolicyNo }

// TestComposeTakesImagesOfAMirror: all that are not built here, and the base of the one that is.
func TestComposeTakesImagesOfAMirror(t *testing.T) {
	const mirror = "mirror.example.org"
	p, err := projectWith(t, []string{"IMAGE_MIRROR=" + mirror}, filepath.Join(top, "docker-compose.yml"), filepath.Join(top, "deploy/demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range p.Services {
		switch {
		case s.Build == nil && !strings.HasPrefix(s.Image, mirror+"/"):
			t.Errorf("%s is %s", name, s.Image)
		case s.Build != nil && *s.Build.Args["IMAGE_MIRROR"] != mirror:
			t.Errorf("%s is built with %v", name, s.Build.Args)
		}
	}
}

// TestComposeTakesSettingsOfTheOperators in place of the repository's, which git pull changes; and the bounds of a
// small server, where Docker refuses more processors than there are.
func TestComposeTakesSettingsOfTheOperators(t *testing.T) {
	p, err := projectWith(t, []string{"SETTINGS_FILE=/etc/mine.yaml", "CPUS=1", "GOMEMLIMIT=400MiB", "REDIS_MEMORY=64mb"}, filepath.Join(top, "docker-compose.yml"))
	if err != nil {
		t.Fatal(err)
	}
	sundry := p.Services["sundry"]
	if !slices.ContainsFunc(sundry.Volumes, func(v types.ServiceVolumeConfig) bool {
		return v.Source == "/etc/mine.yaml" && v.Target == *sundry.Environment["SUNDRY_CONFIG"] && v.ReadOnly
	}) {
		t.Errorf("%+v", sundry.Volumes)
	}
	if limit := sundry.Environment["GOMEMLIMIT"]; sundry.CPUS != 1 || limit == nil || *limit != "400MiB" {
		t.Errorf("%v processors, %v", sundry.CPUS, limit)
	}
	if redis := p.Services["redis"].Command; !slices.Contains(redis, "64mb") {
		t.Errorf("%q", redis)
	}
}

// TestComposeTellsItsSecrets by the commands at its top, whatever else runs.
func TestComposeTellsItsSecrets(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(top, "docker-compose.yml"))
	if err != nil {
		t.Fatal(err)
	}
	secrets := compose(t).Services["secrets"]
	commands := regexp.MustCompile(`docker compose run --rm secrets 'cat (\S+)'`).FindAllStringSubmatch(string(text), -1)
	if len(commands) != 2 || !slices.Equal(secrets.Entrypoint, []string{"/bin/sh", "-euc"}) || len(secrets.DependsOn) > 0 {
		t.Fatalf("%q of %+v", commands, secrets)
	}
	for _, command := range commands {
		if !strings.Contains(secrets.Command[0], "make "+command[1]+"\n") {
			t.Errorf("%s: nothing makes it", command[0])
		}
	}
}

func TestComposePublishesOnLoopbackOnly(t *testing.T) {
	published := map[string]bool{}
	for name, s := range compose(t).Services {
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s publishes %s on %q", name, port.Published, port.HostIP)
			}
			published[name+":"+port.Published] = true
		}
		if s.NetworkMode == "host" {
			t.Errorf("%s is in the host's network", name)
		}
	}
	if !published["sundry:8080"] || published["redis:6379"] {
		t.Errorf("published: %v", published)
	}
}

// TestComposeMountsExist also keeps the repository's files from being written.
func TestComposeMountsExist(t *testing.T) {
	p := compose(t)
	for name, s := range p.Services {
		for _, v := range s.Volumes {
			if v.Type == types.VolumeTypeVolume {
				if _, ok := p.Volumes[v.Source]; !ok {
					t.Errorf("%s: the volume %s is not declared", name, v.Source)
				}
				continue
			}
			// Docker makes what is missing of a mount like this one, which is the operator's.
			if _, err := os.Stat(v.Source); err != nil && v.Target != "/catalog" {
				t.Errorf("%s: %v", name, err)
			}
			if !v.ReadOnly {
				t.Errorf("%s may write %s", name, v.Source)
			}
		}
	}
	for _, build := range []string{p.Services["sundry"].Build.Dockerfile} {
		if _, err := os.Stat(filepath.Join(top, build)); err != nil {
			t.Error(err)
		}
	}
}

// TestComposeNeedsEachOtherInTheRightState: who waits for health waits for
// somebody who has a check, and who waits for the end for somebody who ends.
func TestComposeNeedsEachOtherInTheRightState(t *testing.T) {
	p := compose(t)
	for name, s := range p.Services {
		for on, how := range s.DependsOn {
			switch other := p.Services[on]; how.Condition {
			case types.ServiceConditionHealthy:
				if other.HealthCheck == nil {
					t.Errorf("%s waits for the health of %s, which has no check", name, on)
				}
			case types.ServiceConditionCompletedSuccessfully:
				if !endsByItself(other) {
					t.Errorf("%s waits for the end of %s, which restarts", name, on)
				}
			default:
				t.Errorf("%s waits for %s, in no particular state", name, on)
			}
		}
	}
}

func TestComposeRedisKeepsSettings(t *testing.T) {
	p := compose(t)
	command := strings.Join(p.Services["redis"].Command, " ")
	for _, want := range []string{"--save  ", "--appendonly yes", "--maxmemory 256mb", "--maxmemory-policy volatile-lru"} {
		if !strings.Contains(command, want) {
			t.Errorf("no %q in %q", want, command)
		}
	}
	if v := p.Services["redis"].Volumes; len(v) != 1 || v[0].Type != "volume" || v[0].Target != "/data" {
		t.Errorf("the log of writes is lost with the container: %v", v)
	}
	if net := p.Networks["store"]; !net.Internal {
		t.Error("Redis has a way out")
	}
	for name, s := range p.Services {
		if _, in := s.Networks["store"]; in && name != "redis" && name != "sundry" {
			t.Errorf("%s reaches Redis", name)
		}
	}
}

// TestComposeGivesSecretsByFileOnly: none stands in the file, and those who
// read one have its volume.
func TestComposeGivesSecretsByFileOnly(t *testing.T) {
	for name, s := range compose(t).Services {
		for variable, value := range s.Environment {
			secret := strings.Contains(variable, "TOKEN") || strings.Contains(variable, "PASSWORD")
			if secret && !strings.HasSuffix(variable, "_FILE") {
				t.Errorf("%s: %s is given as such", name, variable)
			}
			if secret && value != nil && !slices.ContainsFunc(s.Volumes, func(v types.ServiceVolumeConfig) bool {
				return v.Target == filepath.Dir(*value) && v.ReadOnly
			}) {
				t.Errorf("%s: nothing is mounted for %s=%s", name, variable, *value)
			}
		}
	}
}

// TestDocumentsNameTheVersionOfCompose that reads env_file with paths.
func TestDocumentsNameTheVersionOfCompose(t *testing.T) {
	for _, file := range []string{"docker-compose.yml", "README.md", "README.zh-CN.md", "deploy/deploy.md", "deploy/deploy.zh-CN.md"} {
		b, err := os.ReadFile(filepath.Join(top, file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), "Compose 2.24") {
			t.Errorf("%s does not name the version", file)
		}
	}
}
