package validate

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// lint parses as the builder does, and returns its warnings.
func lint(t *testing.T, text []byte) ([]instructions.Stage, []string, error) {
	t.Helper()
	tree, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	var warnings []string
	for _, w := range tree.Warnings {
		warnings = append(warnings, w.Short)
	}
	l := linter.New(&linter.Config{Warn: func(rule, _, _, message string, _ []parser.Range) {
		warnings = append(warnings, rule+": "+message)
	}})
	stages, _, err := instructions.Parse(tree.AST, l)
	return stages, warnings, err
}

func dockerfile(t *testing.T) []instructions.Stage {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, "deploy/Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	stages, warnings, err := lint(t, text)
	if err != nil || len(warnings) > 0 || len(stages) != 2 {
		t.Fatalf("%d stages, %v, warnings %q", len(stages), err, warnings)
	}
	return stages
}

func TestDockerfileLintCatchesMistakes(t *testing.T) {
	for _, text := range []string{"FROM a\nENTRYPIONT x\n", "FROM a\nCOPY --form=b x y\n", "FROM a\nHEALTHCHECK --intervall=1s CMD x\n"} {
		if _, _, err := lint(t, []byte(text)); err == nil {
			t.Errorf("%q was parsed", text)
		}
	}
	if _, warnings, _ := lint(t, []byte("from a as b\nMAINTAINER x\n")); len(warnings) == 0 {
		t.Error("no warnings")
	}
}

// last is the instruction of a kind that counts.
func last[T any](t *testing.T, s instructions.Stage) T {
	t.Helper()
	for _, c := range slices.Backward(s.Commands) {
		if found, ok := c.(T); ok {
			return found
		}
	}
	var none T
	t.Fatalf("the final stage has no %T", none)
	return none
}

func TestDockerfileFinalStage(t *testing.T) {
	stages := dockerfile(t)
	final := stages[len(stages)-1]
	if final.BaseName != "scratch" {
		t.Errorf("based on %s", final.BaseName)
	}
	if user := last[*instructions.UserCommand](t, final).User; !regexp.MustCompile(`^[1-9][0-9]*:[1-9][0-9]*$`).MatchString(user) {
		t.Errorf("user %s: want numbers, and not root", user)
	}
	if got := last[*instructions.ExposeCommand](t, final).Ports; !slices.Equal(got, []string{"8080"}) {
		t.Errorf("exposes %q", got)
	}
	// Without a shell, only the exec form runs.
	health := last[*instructions.HealthCheckCommand](t, final).Health
	if !slices.Equal(health.Test, []string{"CMD", "/sundry", "health"}) || health.Timeout <= 2e9 {
		t.Errorf("health %+v", health)
	}
	entry := last[*instructions.EntrypointCommand](t, final)
	command := last[*instructions.CmdCommand](t, final)
	if entry.PrependShell || command.PrependShell || !slices.Equal(append(entry.CmdLine, command.CmdLine...), []string{"/sundry", "serve"}) {
		t.Errorf("runs %q %q", entry.CmdLine, command.CmdLine)
	}
	labels := map[string]bool{}
	for _, l := range last[*instructions.LabelCommand](t, final).Labels {
		labels[l.Key] = true
	}
	if !labels["org.opencontainers.image.title"] || !labels["org.opencontainers.image.licenses"] {
		t.Errorf("labels %v", labels)
	}
}

func TestDockerfileTakesCertificatesAndPinsItsBase(t *testing.T) {
	stages := dockerfile(t)
	if !regexp.MustCompile(`^golang:1\.\d+`).MatchString(stages[0].BaseName) {
		t.Errorf("built with %s", stages[0].BaseName)
	}
	copied := map[string]bool{}
	for _, c := range stages[1].Commands {
		if from, ok := c.(*instructions.CopyCommand); ok {
			if from.From != stages[0].Name {
				t.Errorf("%s copies from %q", c, from.From)
			}
			copied[from.DestPath] = true
		}
	}
	if !copied["/sundry"] || !copied["/etc/ssl/certs/ca-certificates.crt"] {
		t.Errorf("copied: %v", copied)
	}
	mod, err := os.ReadFile(filepath.Join(top, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`\ngo (\d+\.\d+)`).FindSubmatch(mod)
	if !strings.HasPrefix(stages[0].BaseName, "golang:"+string(version[1])) {
		t.Errorf("go.mod wants %s, the image has %s", version[1], stages[0].BaseName)
	}
}

// TestDockerfileTakesAModuleProxy, before it downloads, and none by default.
func TestDockerfileTakesAModuleProxy(t *testing.T) {
	known, downloads := false, false
	for _, c := range dockerfile(t)[0].Commands {
		switch c := c.(type) {
		case *instructions.ArgCommand:
			for _, a := range c.Args {
				known = known || a.Key == "GOPROXY" && a.Value == nil
			}
		case *instructions.RunCommand:
			if downloads = downloads || strings.Contains(strings.Join(c.CmdLine, " "), "go mod download"); !known {
				t.Errorf("before GOPROXY is known: %s", c)
			}
		}
	}
	if !known || !downloads {
		t.Errorf("GOPROXY known: %v; modules downloaded: %v", known, downloads)
	}
}
