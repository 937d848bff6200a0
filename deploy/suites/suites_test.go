// Package suites runs public test suites and real clients through Sundry: the program
// as it is built, in front of an origin on loopback. `make suites` has a line for each.
package suites

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"sundry/upstreams/lib/peertest"
)

// suite is a shell script that fails if a client does not get what the origin serves.
// $URL is the address of Sundry, $ORIGIN that of the origin, $DIR the directory of both.
type suite struct {
	name   string
	needs  func(t *testing.T)
	origin func(t *testing.T, dir string) (url string)
	script string
}

// suites returns all of them. SUNDRY_TEST_REQUIRE lists a program by the name of the suite.
func suites() []suite {
	return []suite{
		{"curl", debian("curl", "curl"), files, fetch(`curl -sSfL $URL/moved`)},
		{"wget", debian("wget", "wget"), files, fetch(`wget -qO- $URL/moved`)},
		{"httpie", debian("httpie", "http"), files, httpieOffline + fetch(`http --ignore-stdin --check-status --follow --body $URL/moved`)},
		{"lwp", debian("lwp", "libwww-perl", "lwp-request"), files, fetch(`lwp-request $URL/moved`)},
		{"requests", python("requests"), files, fetch(inPython(`import requests; out(requests.get(url).content)`))},
		{"httpx", python("httpx"), files, fetch(inPython(`import httpx; out(httpx.get(url, follow_redirects=True).content)`))},
		{"aiohttp", python("aiohttp"), files, fetch(inPython(aiohttp))},
		{"undici", npm("undici"), files, fetch(inNode(`import {fetch} from "undici"; out(await (await fetch(url)).text())`))},
		{"axios", npm("axios"), files, fetch(inNode(`import axios from "axios"; out((await axios.get(url)).data)`))},
		{"got", npm("got"), files, fetch(inNode(`import got from "got"; out(await got(url).text())`))},
		{"h2load", debian("h2load", "nghttp2-client", "h2load"), files, `h2load --h1 -n 100 -c 20 $URL/file | grep -a "100 succeeded, 0 failed, 0 errored"`},
		{"aria2", debian("aria2", "aria2", "aria2c"), ranges, `head -c 9M /dev/urandom >parts; aria2c -q -s 4 -x 4 -k 1M -o got $URL/parts; cmp parts got`},
		{"ffmpeg", debian("ffmpeg", "ffmpeg"), ranges, ffmpeg},
		{"rclone", debian("rclone", "rclone"), davs, rclone},
		{"litmus", debian("litmus", "litmus"), davs, litmus},
		{"git", debian("git", "git"), repositories, git},
		{"apt", debian("apt", "apt-get"), ranges, apt},
		{"docker-registry", debian("docker-registry", "docker-registry"), registry, skopeo},
		{"websockets", python("websockets"), sockets, inPython(websockets)},
		{"ws", npm("ws"), sockets, inNode(ws)},
	}
}

func TestSuites(t *testing.T) {
	if os.Getenv("SUNDRY_TEST_SUITES") == "" {
		t.Skip("make suites runs it, for what it needs is not installed everywhere")
	}
	program := filepath.Join(t.TempDir(), "sundry")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "sundry/cmd/sundry").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	bash := peertest.Program(t, "bash", "bash", "bash")
	for _, s := range suites() {
		t.Run(s.name, func(t *testing.T) {
			s.needs(t)
			dir := t.TempDir()
			origin := s.origin(t, dir)
			url := serve(t, program, origin)
			script := exec.CommandContext(t.Context(), bash, "-euo", "pipefail", "-c", s.script)
			script.Dir = dir
			script.Env = append(os.Environ(), "URL="+url, "ORIGIN="+origin, "DIR="+dir, "HOME="+dir, "no_proxy=127.0.0.1")
			if out, err := script.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestMakeRunsAllSuites compares the Makefile with the table.
func TestMakeRunsAllSuites(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var listed, want []string
	for _, m := range regexp.MustCompile(`(?m)^\tsuite-(\S+)`).FindAllStringSubmatch(string(makefile), -1) {
		listed = append(listed, m[1])
	}
	for _, s := range suites() {
		want = append(want, s.name)
	}
	if !slices.Equal(listed, want) {
		t.Errorf("make suites runs %q, want %q", listed, want)
	}
}

// serve starts the program in front of an origin until the test ends, and returns its address.
func serve(t *testing.T, program, origin string) (url string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--to", origin)
	cmd.Dir = t.TempDir() // has no sundry.yaml
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	var reading sync.WaitGroup
	t.Cleanup(func() {
		reading.Wait()
		_ = cmd.Wait() // the test has killed it
		if strings.Contains(said.String(), "a panic was caught") {
			t.Error("Sundry panicked")
		}
		if t.Failed() {
			t.Log(said.String())
		}
	})
	for in := bufio.NewReader(log); ; {
		line, err := in.ReadString('\n')
		said.WriteString(line)
		if err != nil {
			t.Fatalf("Sundry does not listen: %v", err)
		}
		if found := regexp.MustCompile(`serving.* public=(\S+)`).FindStringSubmatch(line); found != nil {
			reading.Go(func() { _, _ = in.WriteTo(&said) })
			return "http://" + found[1]
		}
	}
}

// debian needs a program of a Debian package, by the first of the names.
func debian(peer, debian string, names ...string) func(*testing.T) {
	if names == nil {
		names = []string{debian}
	}
	return func(t *testing.T) { peertest.Program(t, peer, debian, names...) }
}

func python(module string) func(*testing.T) {
	return func(t *testing.T) { peertest.Python(t, module) }
}

func npm(module string) func(*testing.T) {
	return func(t *testing.T) { peertest.Module(t, module) }
}
