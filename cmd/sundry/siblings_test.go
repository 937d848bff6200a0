package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

// asProgram is the variable with which this test binary is sundry itself, so that an
// instance has a process of its own, which can be killed.
const asProgram = "RUN_AS_SUNDRY"

// fileLimit is the variable with the limit of open files of such a process; 0, or unset: that
// of the test.
const fileLimit = "RUN_WITH_OPEN_FILES"

// isProgram reports whether this process is to be sundry, and runs it.
func isProgram() (status int, ok bool) {
	if os.Getenv(asProgram) == "" {
		return 0, false
	}
	if n, err := strconv.ParseUint(os.Getenv(fileLimit), 10, 64); err == nil && n > 0 {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1, true
		}
	}
	environ := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SUNDRY_") })
	return program(os.Args[1:], append(environ, "SUNDRY_DRAIN_DELAY=0s"), os.Stdout, os.Stderr), true
}

// sibling is one instance of a fleet, in a process of its own.
type sibling struct {
	t             testing.TB
	cmd           *exec.Cmd
	stderr        *output
	public, admin string
}

// newSibling starts an instance with these lines in its configuration, and returns once it
// hears the others. It ends with the test.
func newSibling(t testing.TB, config string, args ...string) *sibling {
	t.Helper()
	m := startSibling(t, config, args...)
	waittest.Until(t, "it hears the others", func() bool { return m.metric("sundry_far_listening") == "1" })
	return m
}

// startSibling is newSibling without the others: Redis may be away, or none be named.
func startSibling(t testing.TB, config string, args ...string) *sibling {
	t.Helper()
	return startLimited(t, 0, config, args...)
}

// startLimited is startSibling with a limit of open files; 0: that of the test.
func startLimited(t testing.TB, files int, config string, args ...string) *sibling {
	t.Helper()
	if !strings.Contains(config, "endpoints:") && slices.Contains(args, "--catalog") {
		config += only()
	}
	file := write(t, t.TempDir(), "sibling.yaml", "cache: {warm: false}\nlimits: {rate: 0, queue_delay: 0s}\n"+config)
	return startProgram(t, []string{fileLimit + "=" + strconv.Itoa(files)}, append([]string{"--config", file}, args...)...)
}

// startProgram starts an instance with these variables, on free ports unless args name others.
func startProgram(t testing.TB, env []string, args ...string) *sibling {
	t.Helper()
	longtest.NotShort(t, "it starts the program")
	stderr := &output{}
	m := &sibling{t: t, stderr: stderr, cmd: exec.Command(os.Args[0], append([]string{
		"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
	}, args...)...)}
	m.cmd.Env, m.cmd.Stderr = append(append(os.Environ(), asProgram+"=1"), env...), stderr
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.kill()
		_ = m.cmd.Wait()
		if strings.Contains(stderr.String(), "WARNING: DATA RACE") {
			t.Error("a data race")
		}
		if t.Failed() { // requests come by the thousand
			t.Logf("%s", regexp.MustCompile(`(?m)^.*level=INFO msg=request .*\n`).ReplaceAllString(stderr.String(), ""))
		}
	})
	waittest.Until(t, "the instance listens", func() bool {
		found := listening.FindStringSubmatch(stderr.String())
		if found == nil {
			return false
		}
		m.public, m.admin = "http://"+found[1], "http://"+found[2]
		return true
	})
	return m
}

// kill ends the process at once, as SIGKILL does.
func (m *sibling) kill() { _ = m.cmd.Process.Kill() }

// metric is the value of a series.
func (m *sibling) metric(series string) string {
	m.t.Helper()
	_, body := mustGet(m.t, m.admin+"/metrics")
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (.*)$`).FindStringSubmatch(body)
	if found == nil {
		m.t.Fatalf("there is no %s", series)
	}
	return found[1]
}

// newFleet is three instances on one Redis, with the endpoint own.
func newFleet(t testing.TB, up *upstream) []*sibling {
	t.Helper()
	dir, redis := catalogDir(t, up, "ttl: 1h, grace: 1h, stale_if_error: 1h"), redistest.Start(t)
	all := make([]*sibling, 3)
	for i := range all {
		all[i] = newSibling(t, "", "--catalog", dir, "--redis", redis.URL())
	}
	return all
}

// crowdOf lets so many callers per instance ask at once for the same, all of whom must
// get it; the result is how long the last one waited.
func crowdOf(t *testing.T, callers int, path string, fleet ...*sibling) (wait func() time.Duration) {
	t.Helper()
	var all sync.WaitGroup
	for _, m := range fleet {
		for range callers {
			all.Go(func() {
				if status, _, body, err := get(m.public + path); status != http.StatusOK || !strings.Contains(body, `"id":`) || err != nil {
					t.Errorf("%s: %d %s %v", m.public, status, body, err)
				}
			})
		}
	}
	return func() time.Duration {
		from := time.Now()
		all.Wait()
		http.DefaultClient.CloseIdleConnections()
		return time.Since(from)
	}
}

// TestALeaseWhoseOwnerIsKilledIsTakenOver: the callers of the others have their answer
// less than two seconds later, from one call.
func TestALeaseWhoseOwnerIsKilledIsTakenOver(t *testing.T) {
	t.Parallel()
	up := newUpstream(t)
	fleet := newFleet(t, up)
	owner, others := fleet[0], fleet[1:]
	up.takes.Store(int64(time.Hour))
	left := make(chan struct{})
	go func() {
		defer close(left)
		if status, _, _, err := get(owner.public + "/api/own?id=7"); err == nil {
			t.Errorf("the owner answered with %d", status)
		}
	}()
	waittest.Until(t, "the owner's call", func() bool { return up.calls.Load() == 1 })
	up.takes.Store(int64(200 * time.Millisecond))
	wait := crowdOf(t, 50, "/api/own?id=7", others...)
	for _, m := range others {
		waittest.Until(t, "its fill", func() bool { return m.metric("sundry_cache_fills_running") == "1" })
	}
	owner.kill()
	if took := wait(); took >= 2*time.Second {
		t.Errorf("they waited for %v", took)
	}
	<-left
	if n := up.calls.Load(); n != 2 {
		t.Errorf("%d calls upstream, the owner's among them", n)
	}
}

// newsUpstream answers with the number of the call.
func newsUpstream(t testing.TB) *upstream {
	t.Helper()
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"id":"call %d"}`, u.calls.Add(1))
	}))
	t.Cleanup(u.Close)
	return u
}
