package main

import (
	"bytes"
	"strings"
	"testing"

	"sundry/proxy/site/i18n"
)

// TestExitStatuses: a script tells by the status what is wrong, a person by the first
// line, which is followed by what is allowed.
func TestExitStatuses(t *testing.T) {
	t.Parallel()
	clinic, _ := clinic(t)
	few := onlyIn(t, "60s", "ip", "kd")
	for _, c := range []struct {
		line   string
		status int
		says   string // what is reported begins with this
		also   string
	}{
		{"version", statusOK, "", ""},
		{"--version", statusOK, "", ""},
		{"check", statusOK, "", ""},
		{"", statusMisused, "sundry: missing command\n", "Example:  sundry serve --replay\n"},
		{"serv", statusMisused, `sundry: unknown command serv; did you mean "serve"?` + "\n", "Commands: serve, check, try, "},
		{"serve --to", statusMisused, "sundry serve: --to: expected a value after it\n", "Example: sundry serve --to http://127.0.0.1:3000\n"},
		{"serve --to nowhere", statusMisused, "sundry serve: --to nowhere: expected the address of an API ", "Example: sundry serve --to http://127.0.0.1:3000\n"},
		{"serve --lisen :80", statusMisused, `sundry serve: unknown flag --lisen; did you mean "--listen"?` + "\n", "More:    sundry help serve\n"},
		{"check --nonsense", statusMisused, "sundry check: unknown flag --nonsense\n", "Flags:   --help, --version, --config, --catalog, "},
		{"try", statusMisused, "sundry try: missing <endpoint>\n", "Example: sundry try ip ip=8.8.8.8\n"},
		{"try --replay ipp", statusMisused, `sundry try: unknown endpoint "ipp"; did you mean ip? Expected one of `, "Usage:   sundry try <endpoint> "},
		{"try --replay ip ipp=1", statusMisused, `sundry try: unknown parameter "ipp" of ip; did you mean ip? Expected one of ip, type, callback` + "\n", "Usage:   sundry try <endpoint> "},
		{"try --replay ip ip=zz", statusMisused, "sundry try: parameter ip: ", "for example ip=8.8.8.8\n"},
		{"schema nonsense", statusMisused, `sundry schema: [<of>] must be one of "catalog","part","config" but got "nonsense"` + "\n", ""},
		{"completion tcsh", statusMisused, `sundry completion: <shell> must be one of "bash","zsh","fish" but got "tcsh"` + "\n", ""},
		{"help nonsense", statusMisused, `sundry help: unknown command "nonsense"; expected one of serve, `, ""},
		{"doctor --replay nonsense", statusMisused, `sundry doctor: unknown endpoint "nonsense"`, ""},
		{"doctor --replay ip ip=abc", statusMisused, "sundry doctor: parameter ip: the value is not an IP address", ""},
		{"doctor --replay ip ipx=1", statusMisused, `sundry doctor: unknown parameter "ipx" of ip; did you mean ip?`, ""},
		{"doctor --replay --record", statusMisused, "sundry doctor: --record and --replay exclude each other", ""},
		{"new x --url http://127.0.0.1:1/ --param x", statusMisused, `sundry new: --param "x": expected name=value, for example id=7` + "\n", ""},
		{"advise /does/not/exist --ttl x", statusMisused, "sundry advise: --ttl: ", ""},
		{"check --catalog /does/not/exist", statusMisconfigured, "sundry: check failed\n", ""},
		{"check --config /does/not/exist", statusMisconfigured, "sundry: check failed\n", ""},
		{"serve --listen nowhere", statusMisconfigured, `sundry: --listen: "nowhere": expected an address and a port, such as :8080` + "\n", ""},
		{"serve --replay --replay-fault kd", statusMisconfigured, "sundry: ", ""},
		{"try --catalog /does/not/exist ip", statusMisconfigured, `sundry: --catalog: "/does/not/exist": no such file or directory; expected a directory, such as /etc/sundry/catalog` + "\n", ""},
		{"try --catalog exit_test.go ip", statusMisconfigured, "sundry: --catalog: \"", "/exit_test.go\": expected a directory, such as /etc/sundry/catalog\n"},
		{"health --listen 127.0.0.1:1", statusFailed, "sundry: health: ", ""},
		{"health --listen nowhere", statusFailed, `sundry: health: listen address "nowhere": expected an address and a port`, ""},
		{"advise /does/not/exist", statusFailed, "sundry: ", ""},
		{"doctor --catalog " + clinic + " clinic", statusOK, "", ""},
		{"doctor --replay 60s --replay-fault 60s=status:503", statusUnserved, "sundry: no working source: 60s\n", ""},
	} {
		t.Run(c.line, func(t *testing.T) {
			_, _, err := call(t, few, strings.Fields(c.line)...)
			if got := statusOf(err); got != c.status {
				t.Fatalf("status %d, want %d: %v", got, c.status, err)
			}
			var said bytes.Buffer
			if err != nil {
				report(&said, "sundry", i18n.English, err)
			}
			if !strings.HasPrefix(said.String(), c.says) || !strings.Contains(said.String(), c.also) {
				t.Errorf("said:\n%s", &said)
			}
		})
	}
}

// TestTheProgramEndsWithItsStatus, and prints an error once.
func TestTheProgramEndsWithItsStatus(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if status := program([]string{"serv"}, nil, &out, &errs); status != statusMisused {
		t.Errorf("status %d", status)
	}
	if out.Len() > 0 || strings.Count(errs.String(), "unknown command serv") != 1 || strings.Contains(errs.String(), "Usage:") {
		t.Errorf("%s%s", &out, &errs)
	}
}

// TestHelp: of a command it is the same however it is asked for, and goes where it can
// be piped from.
func TestHelp(t *testing.T) {
	t.Parallel()
	list, errs, err := call(t, nil, "help")
	if err != nil || errs != "" {
		t.Fatal(err, errs)
	}
	if other, _, _ := call(t, nil, "--help"); other != list {
		t.Error("help and --help differ")
	}
	parser, _, err := newParser(processOf(t, nil), &cli{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range parser.Model.Children {
		one, _, err := call(t, nil, "help", n.Name)
		two, _, err2 := call(t, nil, n.Name, "--help")
		if err != nil || err2 != nil || one != two || !strings.HasPrefix(one, "Usage: sundry "+n.Name) {
			t.Errorf("%s: %v %v\n%s", n.Name, err, err2, one)
		}
		if !strings.Contains(list, "\n  "+n.Name+" ") {
			t.Errorf("not listed: %s", n.Name)
		}
		if !strings.Contains(n.Tag.Get("example"), "sundry "+n.Name) {
			t.Errorf("%s: no example of it", n.Name)
		}
	}
	if !strings.Contains(list, "Exit status: 0 done; 1 failed; 2 ") {
		t.Error("no exit statuses")
	}
}
