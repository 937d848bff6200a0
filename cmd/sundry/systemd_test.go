package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sundry/upstreams/peertest"
)

// units copies ours into a directory where the program and what they want exist.
func units(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"sundry.service", "sundry.socket"} {
		unit := readFile(t, filepath.Join(samples, "systemd", name))
		write(t, dir, name, strings.ReplaceAll(unit, "/usr/local/bin/sundry", self))
	}
	return dir
}

func TestSystemdAcceptsTheUnits(t *testing.T) {
	analyze := peertest.Program(t, "systemd", "systemd", "systemd-analyze")
	dir := units(t)
	verify := func() (string, error) {
		out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no",
			filepath.Join(dir, "sundry.socket"), filepath.Join(dir, "sundry.service")).CombinedOutput()
		return string(bytes.TrimSpace(out)), err
	}
	if out, err := verify(); err != nil || out != "" {
		t.Errorf("%v: %s", err, out)
	}
	write(t, dir, "sundry.service", strings.Replace(readFile(t, filepath.Join(dir, "sundry.service")), "ProtectSystem", "ProtectSytem", 1))
	if out, _ := verify(); !strings.Contains(out, "ProtectSytem") {
		t.Errorf("nothing is said of an unknown setting: %s", out)
	}
}

// TestSystemdServiceIsHardened takes systemd's own measure, of 0 to 10: most
// services that come with it have above 5.
func TestSystemdServiceIsHardened(t *testing.T) {
	analyze := peertest.Program(t, "systemd", "systemd", "systemd-analyze")
	out, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--no-pager", "--threshold=15",
		filepath.Join(samples, "systemd/sundry.service")).CombinedOutput()
	if err != nil {
		t.Errorf("exposure above 1.5: %v\n%s", err, out)
	}
}

// TestSystemdPassesItsSocketOn has systemd's own program open the socket.
func TestSystemdPassesItsSocketOn(t *testing.T) {
	activate := peertest.Program(t, "systemd", "systemd", "systemd-socket-activate")
	addr := freeAddress(t)
	cmd, log := start(t, "serve --replay --listen 192.0.2.1:1 --admin 127.0.0.1:0", activate, "--listen="+addr, "--setenv=SUNDRY_TEST_PROGRAM")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "an answer", func() bool {
		status, _, _, err := get("http://" + addr + "/readyz")
		return err == nil && status == 200
	})
	terminate(t, cmd, log)
	if !strings.Contains(log.String(), "public="+addr) {
		t.Errorf("served elsewhere:\n%s", log)
	}
}

// TestSystemdUnitsHoldWhatMatters is what can be said without systemd.
func TestSystemdUnitsHoldWhatMatters(t *testing.T) {
	service := "\n" + readFile(t, filepath.Join(samples, "systemd/sundry.service"))
	for _, want := range []string{
		"Type=notify", "DynamicUser=yes", "ProtectSystem=strict", "NoNewPrivileges=yes", "CapabilityBoundingSet=", "SystemCallFilter=@system-service",
		"MemoryMax=768M", "Requires=sundry.socket", "ExecReload=/bin/kill -HUP $MAINPID", "EnvironmentFile=-/etc/sundry/sundry.env",
	} {
		if !strings.Contains(service, "\n"+want+"\n") {
			t.Errorf("no line %q", want)
		}
	}
	if socket := "\n" + readFile(t, filepath.Join(samples, "systemd/sundry.socket")); strings.Count(socket, "\nListen") != 1 || !strings.Contains(socket, "\nAccept=no\n") {
		t.Error("want one socket, passed on whole")
	}
}
