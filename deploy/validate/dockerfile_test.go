package validate

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerfile/shell"
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
	for _, name := range []string{"title", "licenses", "version", "revision", "created", "source"} {
		if !labels["org.opencontainers.image."+name] {
			t.Errorf("no label %s in %v", name, labels)
		}
	}
}

// TestDockerfileTellsItsVersion: that of a tag, where no file that is there differs from it.
func TestDockerfileTellsItsVersion(t *testing.T) {
	script := ""
	for _, c := range dockerfile(t)[0].Commands {
		if run, ok := c.(*instructions.RunCommand); ok && strings.Contains(strings.Join(run.CmdLine, " "), "go build") {
			script = "go() { echo \"$@\"; }; " + strings.Join(run.CmdLine, " ")
		}
	}
	dir := t.TempDir()
	sh := func(script string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "sh", "-euc", script)
		c.Dir, c.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "TARGETOS=linux", "TARGETARCH=amd64")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v %s", script, err, out)
		}
		return string(out)
	}
	build := func(want string) {
		t.Helper()
		if got := sh("VERSION= REVISION= CREATED=; " + script); !strings.Contains(got, want) {
			t.Errorf("%s: no %s", got, want)
		}
	}
	build("stampedVersion= -X main.stampedCommit= -X main.stampedDate=")
	sh("git init -q; git config user.email a@example.org; git config user.name a; echo a > a.go; echo b > README.md; git add .; git commit -qm a; git tag v1.2.3; rm README.md")
	build("stampedVersion=1.2.3 -X main.stampedCommit=" + strings.TrimSpace(sh("git rev-parse HEAD")))
	sh("echo c > a.go")
	build("stampedVersion=1.2.3+dirty ")
	sh("git commit -qam c")
	build("stampedVersion=devel ")
}

func TestDockerfileTakesCertificatesAndPinsItsBase(t *testing.T) {
	stages := dockerfile(t)
	base := baseFrom(t, stages[0], "")
	if mirrored := baseFrom(t, stages[0], "mirror.example.org"); mirrored != "mirror.example.org/"+base {
		t.Errorf("built with %s, of a mirror with %s", base, mirrored)
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
	if !regexp.MustCompile(`^library/golang:` + regexp.QuoteMeta(string(version[1])) + `\.\d+-`).MatchString(base) {
		t.Errorf("go.mod wants a patch release of %s, the image has %s", version[1], base)
	}
}

// baseFrom is the image that a stage begins with, as the builder reads it with a mirror.
func baseFrom(t *testing.T, s instructions.Stage, mirror string) string {
	t.Helper()
	read, err := shell.NewLex('\\').ProcessWordWithMatches(s.BaseName, shell.EnvsFromSlice([]string{"IMAGE_MIRROR=" + mirror}))
	if err != nil {
		t.Fatal(err)
	}
	return read.Result
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
