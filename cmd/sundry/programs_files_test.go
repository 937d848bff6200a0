package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sundry/upstreams/lib/peertest"
)

// TestNotesInPython: reads of an API in Python are stored. Changes are seen at once, also in the lists that the API puts into groups.
func TestNotesInPython(t *testing.T) {
	t.Parallel()
	python := peertest.Program(t, "python", "python3", "python3")
	start := func(t *testing.T, prefix string) string {
		address := freeAddress(t)
		runPeer(t, address, python, "-u", "testdata/notes.py", address, prefix)
		return "http://" + address + prefix
	}
	behind(t, start, func(t *testing.T, _, base string) {
		change := func(method, path, body string) {
			t.Helper()
			r, _ := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if resp.Body.Close(); resp.StatusCode != http.StatusNoContent {
				t.Errorf("%s %s: %s", method, path, resp.Status)
			}
		}
		want := func(path, body string) {
			t.Helper()
			if got := wantHit(t, base+path); got != body {
				t.Errorf("%s: %s, want %s", path, got, body)
			}
		}
		want("/notes", "[]")
		for i, name := range []string{"a", "b"} {
			if status, _, _, _ := get(base + "/notes/" + name); status != http.StatusNotFound {
				t.Errorf("%s is there before it was written: %d", name, status)
			}
			change(http.MethodPut, "/notes/"+name, fmt.Sprintf(`{"n": %d}`, i))
			want("/notes/"+name, fmt.Sprintf(`{"n": %d}`, i))
		}
		want("/notes", `["a", "b"]`)
		change(http.MethodPut, "/notes/a", `{"n": "中文"}`)
		want("/notes/a", `{"n": "中文"}`)
		change(http.MethodDelete, "/notes/b", "")
		want("/notes", `["a"]`)
		change(http.MethodPost, "/notes", "")
		want("/notes", "[]")
		if status, _, _, _ := get(base + "/notes/a"); status != http.StatusNotFound {
			t.Errorf("a note is there after all were removed: %d", status)
		}
	})
}

// nginxFiles serves a folder by nginx, below a prefix.
func nginxFiles(t *testing.T, prefix string, files map[string]string) (url string, log func() string) {
	t.Helper()
	nginx, address, dir := peertest.Program(t, "nginx", "nginx-light", "nginx"), freeAddress(t), folder(t, files)
	var temporary strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&temporary, "  %s_temp_path %s/%s;\n", kind, dir, kind)
	}
	config := write(t, dir, "nginx.conf", "daemon off;\nmaster_process off;\npid "+dir+"/pid;\nerror_log stderr;\nevents {}\nhttp {\n"+temporary.String()+
		"  access_log "+dir+"/access.log;\n  gzip on;\n  gzip_proxied any;\n  gzip_types text/plain;\n  types { text/plain txt; video/mp4 mp4; }\n"+
		"  server {\n    listen "+address+";\n    location "+prefix+"/ { alias "+dir+"/; expires 10m; }\n  }\n}\n")
	runPeer(t, address, nginx, "-p", dir, "-e", "stderr", "-c", config)
	return "http://" + address + prefix, func() string { return readFile(t, filepath.Join(dir, "access.log")) }
}

// TestFfmpegReadsRanges: ffmpeg decodes each frame of a film whose index is at its end, for which it jumps: what it gives up then may not be stored. A third ffmpeg reads from the store.
func TestFfmpegReadsRanges(t *testing.T) {
	t.Parallel()
	ffmpeg, ffprobe := peertest.Program(t, "ffmpeg", "ffmpeg", "ffmpeg"), peertest.Program(t, "ffmpeg", "ffmpeg", "ffprobe")
	dir := t.TempDir()
	runClient(t, dir, nil, ffmpeg, "-v", "error", "-f", "lavfi", "-i", "testsrc=duration=4:size=640x360:rate=25", "-f", "lavfi", "-i", "sine=duration=4", "-c:v", "mpeg4", "-q:v", "2", "film.mp4")
	film := readFile(t, filepath.Join(dir, "film.mp4"))
	var logs sync.Map // by origin
	start := func(t *testing.T, prefix string) string {
		url, log := nginxFiles(t, prefix, map[string]string{"film.mp4": film})
		logs.Store(url, log)
		return url
	}
	behind(t, start, func(t *testing.T, origin, base string) {
		frames := func(url string) string {
			return runClient(t, dir, nil, ffprobe, "-v", "error", "-count_frames", "-select_streams", "v", "-show_entries", "stream=nb_read_frames", "-of", "csv=p=0", url)
		}
		sums := func(url string) string {
			return runClient(t, dir, nil, ffmpeg, "-v", "error", "-i", url, "-f", "framemd5", "-")
		}
		want := sums(filepath.Join(dir, "film.mp4"))
		log, _ := logs.Load(origin)
		asked := func() int { return strings.Count(log.(func() string)(), "GET ") }
		most := 0
		for i := range 3 {
			if got := strings.TrimSpace(frames(base + "/film.mp4")); got != "100" {
				t.Errorf("%s frames are decoded of 100", got)
			}
			if got := sums(base + "/film.mp4"); got != want {
				t.Errorf("other frames are decoded:\n%s\nwant\n%s", got, want)
			}
			if n := asked(); i < 2 {
				most = n
			} else if n > most {
				t.Errorf("nginx was asked %d times, and %d times when all had been read twice", n, most)
			}
		}
		if got := wantHit(t, base+"/film.mp4"); got != film {
			t.Errorf("%d bytes are read of %d", len(got), len(film))
		}
	})
}

// TestAria2ReadsInParts: a file that is fetched by sixteen connections at once, a part by each, is the same in the end, whether or not it is
// small enough to be stored. aria2 completes a file after it was interrupted.
func TestAria2ReadsInParts(t *testing.T) {
	t.Parallel()
	aria2 := peertest.Program(t, "aria2", "aria2", "aria2c")
	random := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rand.Uint32())
		}
		return string(b)
	}
	files := map[string]string{"small.bin": random(5 << 20), "large.bin": random(20 << 20)}
	start := func(t *testing.T, prefix string) string {
		url, _ := nginxFiles(t, prefix, files)
		return url
	}
	behind(t, start, func(t *testing.T, _, base string) {
		for name, want := range files {
			for range 2 {
				dir := t.TempDir()
				fetch := func(args ...string) {
					t.Helper()
					// A busy machine sheds requests; without a time to wait, aria2 takes a 503 for the end.
					runClient(t, dir, nil, aria2, append(args, "--no-conf", "--quiet", "--retry-wait=1", "--max-connection-per-server=16", "--split=16", "--min-split-size=1M", "--file-allocation=none", "--out="+name, base+"/"+name)...)
				}
				write(t, dir, name, want[:1<<20])
				fetch("--continue=true")
				if got := readFile(t, filepath.Join(dir, name)); got != want {
					t.Errorf("%s: after its beginning, %d bytes are read of %d, or others", name, len(got), len(want))
				}
				fetch("--allow-overwrite=true")
				if got := readFile(t, filepath.Join(dir, name)); got != want {
					t.Errorf("%s: %d bytes are read of %d, or others", name, len(got), len(want))
				}
			}
		}
		if got := wantHit(t, base+"/small.bin"); got != files["small.bin"] {
			t.Errorf("%d bytes are read", len(got))
		}
	})
}

// TestWebSocketsInPython: what a client sends through Sundry comes back, of any size, and so does the code with which the server closes.
func TestWebSocketsInPython(t *testing.T) {
	t.Parallel()
	python := peertest.Python(t, "websockets")
	start := func(t *testing.T, prefix string) string {
		address := freeAddress(t)
		runPeer(t, address, python, "testdata/echo.py", address)
		return "http://" + address + prefix
	}
	script, err := filepath.Abs("testdata/echo.py")
	if err != nil {
		t.Fatal(err)
	}
	behind(t, start, func(t *testing.T, _, base string) {
		if out := runClient(t, t.TempDir(), nil, python, script, "--client", "ws"+strings.TrimPrefix(base, "http")+"/echo"); !strings.Contains(out, "all came back") {
			t.Error(out)
		}
	})
}
