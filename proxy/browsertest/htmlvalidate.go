package browsertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sundry/upstreams/lib/peertest"
)

// validate is a program for Node: it holds the files that it is given against the
// recommended rules.
const validate = `
const { HtmlValidate, FileSystemConfigLoader, formatterFactory } = require(process.argv[1] + "/html-validate");
const validator = new HtmlValidate({ root: true, extends: ["html-validate:recommended"] });
(async () => {
	for (const file of process.argv.slice(2)) {
		const report = await validator.validateFile(file);
		if (!report.valid) {
			process.stdout.write(formatterFactory("text")(report.results));
			process.exitCode = 1;
		}
	}
})();`

// ValidHTML holds documents, by their names, against html-validate's recommended rules. It
// is skipped where the npm package is missing; see package peertest.
func ValidHTML(t testing.TB, documents map[string]string) {
	t.Helper()
	node, folder := peertest.Module(t, "html-validate")
	args, dir := []string{"-e", validate, folder}, t.TempDir()
	for name, document := range documents {
		file := filepath.Join(dir, filepath.Base(name)+".html")
		if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	if out, err := exec.CommandContext(t.Context(), node, args...).CombinedOutput(); err != nil { //nolint:gosec // the program is the constant above
		t.Errorf("html-validate: %v\n%s", err, out)
	}
}
