package main

import (
	"context"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sundry/upstreams/lib/peertest"
	"sundry/upstreams/lib/waittest"
)

// Here and in programs_…_test.go, programs that people run stand behind Sundry, with programs that people use as their clients. Each test
// looks at what the clients have in the end, and at what Sundry has answered by itself.

// runPeer runs a program until the test ends, and returns once it listens at the address.
func runPeer(t *testing.T, address, program string, args ...string) (log *output) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	log = &output{}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s: %s", filepath.Base(program), log)
		}
	})
	waittest.Until(t, filepath.Base(program)+" listens", func() bool {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return false
		}
		return c.Close() == nil
	})
	return log
}

// runClient runs a program to its end, which must be a success, and returns what it has written.
func runClient(t *testing.T, dir string, env []string, program string, args ...string) (out string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "LC_ALL=C", "HOME="+dir), env...)
	b, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", filepath.Base(program), args, err, b)
	}
	return string(b)
}

// apache runs Apache with these modules and directives, and returns its address and its directory, which has the folder www. Where the
// test is root, Apache serves as www-data.
func apache(t *testing.T, modules []string, config string) (url, dir string) {
	t.Helper()
	program := peertest.Program(t, "apache", "apache2-bin", "apache2")
	dir, address := t.TempDir(), freeAddress(t)
	if err := os.Mkdir(filepath.Join(dir, "www"), 0o777); err != nil {
		t.Fatal(err)
	}
	lines := []string{"ServerName localhost", "ServerRoot " + dir, "PidFile pid", "Listen " + address, "ErrorLog /dev/stderr", "DocumentRoot " + dir + "/www", "Mutex pthread"}
	for _, name := range append([]string{"mpm_event", "authz_core"}, modules...) {
		lines = append(lines, "LoadModule "+name+"_module /usr/lib/apache2/modules/mod_"+name+".so")
	}
	if os.Getuid() == 0 {
		lines = append(lines, "User www-data", "Group www-data")
		open(t, dir)
	}
	file := write(t, dir, "apache.conf", strings.Join(lines, "\n")+"\n"+strings.ReplaceAll(config, "$dir", dir)+"\n")
	runPeer(t, address, program, "-DFOREGROUND", "-f", file)
	return "http://" + address, dir
}

// open lets every user read and write a directory of the test.
func open(t *testing.T, dir string) {
	t.Helper()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(path, 0o777)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// behind runs a test with a program behind Sundry, once with all paths and once below a prefix. The program has the same prefix if it says so. start is called for each.
func behind(t *testing.T, start func(t *testing.T, prefix string) (url string), test func(t *testing.T, origin, base string)) {
	t.Helper()
	t.Run("alone", func(t *testing.T) {
		t.Parallel()
		origin := start(t, "")
		test(t, origin, serve(t, "--to", origin, "--ttl", "1m").public)
	})
	t.Run("below a prefix", func(t *testing.T) {
		t.Parallel()
		origin, dir := start(t, "/api/real"), t.TempDir()
		write(t, dir, "real.yaml", "version: 1\nname: real\nproxy: {to: '"+origin+"', cache: {default: 1m}}\n")
		p := serve(t, "--catalog", dir, "--config", write(t, t.TempDir(), "few.yaml", only("sfz")))
		test(t, origin, p.public+"/api/real")
	})
}

// wantHit requires that a second request for a URL is answered from the store.
func wantHit(t *testing.T, url string) (body string) {
	t.Helper()
	mustGet(t, url)
	header, body := mustGet(t, url)
	if status := header.Get("Cache-Status"); !strings.Contains(status, "hit") {
		t.Errorf("%s: %s", url, status)
	}
	return body
}

// TestLitmusOnApache: litmus finds through Sundry what it finds in Apache's WebDAV itself, though all that it reads may be stored.
func TestLitmusOnApache(t *testing.T) {
	t.Parallel()
	litmus := peertest.Program(t, "apache", "litmus", "litmus")
	behind(t, davOnApache, func(t *testing.T, origin, base string) {
		want := runClient(t, t.TempDir(), nil, litmus, origin+"/")
		got := runClient(t, t.TempDir(), nil, litmus, base+"/")
		if n := strings.Count(got, "passed, 0 failed"); n != 5 || got != want {
			t.Errorf("%d of 5 suites have passed:\n%s\nWithout Sundry:\n%s", n, got, want)
		}
	})
}

// davOnApache is the WebDAV of Apache, below a prefix.
func davOnApache(t *testing.T, prefix string) string {
	url, _ := apache(t, []string{"dav", "dav_fs", "alias"}, "Alias \""+prefix+"/\" $dir/www/\nDavLockDB $dir/locks\n<Directory $dir/www>\n  Dav On\n  Require all granted\n</Directory>")
	return url + prefix
}

// TestRcloneOnApache copies files to WebDAV and back, moves, changes and removes them. What others read meanwhile is stored, and never
// what was there before.
func TestRcloneOnApache(t *testing.T) {
	t.Parallel()
	rclone := peertest.Program(t, "apache", "rclone", "rclone")
	behind(t, davOnApache, func(t *testing.T, _, base string) {
		dir := t.TempDir()
		run := func(args ...string) string {
			t.Helper()
			return runClient(t, dir, []string{"RCLONE_CONFIG=" + filepath.Join(dir, "none"), "RCLONE_CONFIG_DAV_TYPE=webdav", "RCLONE_CONFIG_DAV_VENDOR=other", "RCLONE_CONFIG_DAV_URL=" + base + "/"}, rclone, args...)
		}
		for _, name := range []string{"from", "to"} {
			if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		from := filepath.Join(dir, "from")
		write(t, from, "a file.txt", "first")
		write(t, from, "数据.bin", strings.Repeat("0123456789", 1<<19)) // 5 MiB
		run("copy", from, "dav:files")
		if got := wantHit(t, base+"/files/a%20file.txt"); got != "first" {
			t.Errorf("%q is read", got)
		}
		write(t, from, "a file.txt", "second, longer")
		run("sync", from, "dav:files")
		if got := wantHit(t, base+"/files/a%20file.txt"); got != "second, longer" {
			t.Errorf("%q is read after it was changed", got)
		}
		run("copy", "dav:files", filepath.Join(dir, "to"))
		run("check", "--download", from, filepath.Join(dir, "to"))
		run("check", "--download", from, "dav:files")
		run("moveto", "dav:files/a file.txt", "dav:files/moved.txt")
		if got := wantHit(t, base+"/files/moved.txt"); got != "second, longer" {
			t.Errorf("%q is read of what was moved", got)
		}
		for range 2 {
			if status, _, body, err := get(base + "/files/a%20file.txt"); status != http.StatusNotFound || err != nil {
				t.Errorf("what was moved is still there: %d %s %v", status, body, err)
			}
		}
		run("moveto", "dav:files", "dav:other")
		if got := wantHit(t, base+"/other/moved.txt"); got != "second, longer" {
			t.Errorf("%q is read in a folder that was moved", got)
		}
		if status, _, body, err := get(base + "/files/moved.txt"); status != http.StatusNotFound || err != nil {
			t.Errorf("what was in a folder that was moved is still there: %d %s %v", status, body, err)
		}
		run("purge", "dav:other")
		if status, _, body, err := get(base + "/other/moved.txt"); status != http.StatusNotFound || err != nil {
			t.Errorf("what was removed is still there: %d %s %v", status, body, err)
		}
	})
}
