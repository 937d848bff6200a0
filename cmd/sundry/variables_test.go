package main

import (
	"regexp"
	"strings"
	"testing"
)

// TestCheckSaysWhichVariablesAreSet, and never their values.
func TestCheckSaysWhichVariablesAreSet(t *testing.T) {
	t.Parallel()
	out, errs, err := call(t, map[string]string{"SUNDRY_PEXELS_KEY": "geheim", "SUNDRY_PIXABAY_KEY": ""}, "check")
	if err != nil || strings.Contains(out+errs, "geheim") {
		t.Fatalf("%s %s %v", out, errs, err)
	}
	for _, want := range []string{`SUNDRY_PEXELS_KEY +set +used by sjsp/pexels\n`, `SUNDRY_PIXABAY_KEY +not set +left out: sjsp/pixabay\n`, `SUNDRY_KDNIAO_ID +not set +left out: kd/kdniao\n`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

// TestSourcesLeftOutAreLoggedOnce: when an instance starts, and not at each reload.
func TestSourcesLeftOutAreLoggedOnce(t *testing.T) {
	t.Parallel()
	file := write(t, t.TempDir(), "sundry.yaml", "cache: {warm: false}\n"+only("kd"))
	p := serve(t, "--config", file)
	p.reloaded(t, file, "cache: {warm: false}\nlog_level: warn\n"+only("kd"))
	log := p.stderr.String()
	if n := strings.Count(log, "left out"); n != 1 || !strings.Contains(log, "kd/kdniao (SUNDRY_KDNIAO_ID), ") {
		t.Errorf("logged %d times:\n%s", n, log)
	}
}

// TestAddressesOfTheOperator: a variable may hold the address of a service, and a file
// the variable's value.
func TestAddressesOfTheOperator(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "own.yaml", `version: 1
name: own
group: text
summary: {en: Own., zh: 自有}
cache: {class: shared, ttl: 1h}
forms:
  - {name: json, json: .}
sources:
  - name: hosted
    secrets: {base: SUNDRY_OWN_URL}
    options: {cookie: SUNDRY_OWN_COOKIE}
    http: {url: "{base}/hot", headers: {Cookie: "{cookie}"}}
`)
	few := onlyIn(t)["SUNDRY_CONFIG"]
	const mistake = "own.yaml:12: SUNDRY_OWN_URL: expected an http or https address without a user, a password and a query"
	for value, want := range map[string]string{"https://own.example.org/a/": "", "": "", "own.example.org": mistake, "https://u:geheim@own.example.org": mistake} {
		out, errs, err := call(t, map[string]string{"SUNDRY_OWN_URL": value, "SUNDRY_CONFIG": few}, "check", "--catalog", dir)
		if (err == nil) != (want == "") || !strings.Contains(errs, want) || strings.Contains(out+errs, "geheim") {
			t.Errorf("%s: %v\n%s\n%s", value, err, out, errs)
		}
		if !strings.Contains(errs, "warning: ") && want == "" {
			t.Errorf("%s: no warning of variables that nothing describes: %s", value, errs)
		}
	}
	if _, errs, err := call(t, map[string]string{"SUNDRY_OWN_ULR": "x", "SUNDRY_CONFIG": few}, "check", "--catalog", dir); err == nil || !strings.Contains(errs, "SUNDRY_OWN_ULR: unknown variable; did you mean SUNDRY_OWN_URL?") {
		t.Errorf("%v %s", err, errs)
	}
}
