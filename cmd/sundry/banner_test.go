package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"

	"sundry/upstreams/fixtures"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

func TestAddressesForABrowser(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"[::]:8080": "http://localhost:8080", "0.0.0.0:80": "http://localhost:80", "127.0.0.1:9090": "http://127.0.0.1:9090",
		"[::1]:9090": "http://[::1]:9090", "192.0.2.7:8080": "http://192.0.2.7:8080",
	} {
		a, err := net.ResolveTCPAddr("tcp", listen)
		if err != nil {
			t.Fatal(err)
		}
		if got := browserURL("http", a); got != want {
			t.Errorf("%s: %s, want %s", listen, got, want)
		}
	}
	if got := browserURL("http", &net.UnixAddr{Name: "/run/sundry"}); got != "/run/sundry" {
		t.Error(got)
	}
}

func TestBannerSpeaksTheLanguageOfTheTerminal(t *testing.T) {
	t.Parallel()
	all := []address{{"Home", "首页", "http://localhost:8080/"}, {"Console", "控制台", "http://127.0.0.1:9090/admin/"}}
	en := banner(all, false, true, languageOf(env("LANG", "de_DE.UTF-8")))
	zh := banner(all, false, false, languageOf(env("LANG", "zh_CN.UTF-8")))
	for _, want := range []string{"Sundry " + version() + ", replaying", "  Home     http://localhost:8080/\n", "  Console  http://127.0.0.1:9090/admin/\n", "Ctrl-C stops it.\n"} {
		if !strings.Contains(en, want) {
			t.Errorf("no %q in\n%s", want, en)
		}
	}
	for _, want := range []string{"Sundry " + version() + "\n", "  首页    http://localhost:8080/\n", "  控制台  http://127.0.0.1:9090/admin/\n", "按 Ctrl-C 停止。\n"} {
		if !strings.Contains(zh, want) {
			t.Errorf("no %q in\n%s", want, zh)
		}
	}
	if strings.Contains(en+zh, "\x1b") {
		t.Error("colours that nobody asked for")
	}
}

// TestServeAnnouncesItselfOnATerminal, and nowhere else: a log stays what programs
// read, and the standard output empty.
func TestServeAnnouncesItselfOnATerminal(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	few := onlyIn(t, "ip")["SUNDRY_CONFIG"]
	for _, c := range []struct {
		format   string
		terminal bool
		banner   bool
	}{{"text", true, true}, {"text", false, false}, {"json", true, false}} {
		var out bytes.Buffer
		w := &process{getenv: uncoloured, stdout: &out, terminal: func(io.Writer) bool { return c.terminal }}
		p := launch(t, w, "--replay", "--log-format", c.format, "--config", few)
		p.end()
		log := p.stderr.String()
		if got := strings.Contains(log, "\n  Docs     "); got != c.banner {
			t.Errorf("%+v: banner %v:\n%s", c, got, log)
		}
		if got := strings.Contains(log, "\n  Try      curl '"+p.public+"/api/ip?ip=8.8.8.8&type=text'\n"); got != c.banner || strings.Contains(log, "doctor") {
			t.Errorf("%+v: a call %v, and no doctor in replay:\n%s", c, got, log)
		}
		if out.Len() > 0 {
			t.Errorf("%+v: printed %s", c, &out)
		}
		if !strings.Contains(log, "home") || !strings.Contains(log, p.public+"/") || !strings.Contains(log, p.admin+"/admin/") {
			t.Errorf("%+v: no addresses in\n%s", c, log)
		}
		for line := range strings.Lines(log) {
			if c.format == "json" && !json.Valid([]byte(line)) {
				t.Errorf("not JSON: %s", line)
			}
			if !c.banner && c.format == "text" && !strings.HasPrefix(line, "time=") {
				t.Errorf("not a line of the log: %s", line)
			}
		}
	}
}

func uncoloured(name string) (string, bool) {
	return map[string]string{"NO_COLOR": "1"}[name], name == "NO_COLOR"
}

// TestTheFirstStartSuggestsTheDoctor with a network, and a later one does not.
func TestTheFirstStartSuggestsTheDoctor(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	config := write(t, t.TempDir(), "few.yaml", "cache: {warm: false}\ndata: "+data+"\n"+only("qrcode"))
	for _, first := range []bool{true, false} {
		p := launch(t, &process{getenv: uncoloured, terminal: func(io.Writer) bool { return true }}, "--config", config)
		waittest.Until(t, "the banner", func() bool { return strings.Contains(p.stderr.String(), "Ctrl-C") })
		if log := p.stderr.String(); strings.Contains(log, "  Doctor   sundry doctor\n") != first || !strings.Contains(log, "/api/qrcode?text=") {
			t.Errorf("first %v:\n%s", first, log)
		}
		p.end()
		write(t, data, "settings", "{}")
	}
}

// TestColoursAreForTerminals that want them.
func TestColoursAreForTerminals(t *testing.T) {
	t.Parallel()
	few := onlyIn(t)["SUNDRY_CONFIG"]
	for _, c := range []struct {
		env      map[string]string
		terminal bool
		want     bool
	}{
		{nil, true, true}, {nil, false, false}, {map[string]string{"NO_COLOR": "1"}, true, false},
		{map[string]string{"NO_COLOR": ""}, true, true}, {map[string]string{"TERM": "dumb"}, true, false},
	} {
		w := processOf(t, c.env)
		w.variables = nil // these are nobody's settings
		var out, errs bytes.Buffer
		w.stdout, w.stderr, w.terminal = &out, &errs, func(io.Writer) bool { return c.terminal }
		if err := execute(w, []string{"check", "--config", few}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "\x1b[32mok:\x1b[0m"); got != c.want || !c.want && strings.Contains(out.String(), "\x1b") {
			t.Errorf("%+v: %s", c, &out)
		}
	}
}

// TestTheDoctorRedrawsItsProgress on a terminal, clears it, and leaves its findings
// aligned.
func TestTheDoctorRedrawsItsProgress(t *testing.T) {
	t.Parallel()
	w := processOf(t, nil)
	var out, errs bytes.Buffer
	w.stdout, w.stderr, w.terminal = &out, &errs, func(io.Writer) bool { return true }
	if err := execute(w, []string{"doctor", "--catalog", presence(t), "status", "spare"}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(errs.String(), "\r\x1b[K")
	if len(lines) != 8 || lines[0] != "" || lines[7] != "" || strings.Contains(errs.String(), "\n") || !strings.Contains(lines[6], "[6/6] 3 not well  ") {
		t.Errorf("%q", lines)
	}
	table, summary, _ := strings.Cut(out.String(), "\n\n")
	column := -1
	for line := range strings.Lines(table) {
		at := strings.Index(line, "\x1b[0m")
		end := strings.IndexAny(line[at+4:], "T0123456789") + at
		if column < 0 {
			column = end
		}
		if end != column {
			t.Errorf("not aligned: %q", line)
		}
	}
	if !strings.Contains(table, "\x1b[31m"+string(fixtures.Unreachable)) || !strings.Contains(summary, "\x1b[32m0 without a working source\x1b[0m") {
		t.Errorf("%s\n%s", table, summary)
	}
}
