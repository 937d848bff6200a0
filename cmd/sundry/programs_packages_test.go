package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sundry/upstreams/lib/peertest"
)

// tarball is one with these files, compressed.
func tarball(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func inJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// folder makes a folder with these files in a directory of its own.
func folder(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, dir, name, text)
	}
	return dir
}

// pythonFiles serves the files of a directory by Python.
func pythonFiles(t *testing.T, dir string) (url string, log *output) {
	t.Helper()
	python, address := peertest.Program(t, "python", "python3", "python3"), freeAddress(t)
	host, port, _ := net.SplitHostPort(address)
	return "http://" + address, runPeer(t, address, python, "-u", "-m", "http.server", "--bind", host, "--directory", dir, port)
}

// TestNpm installs a package with a dependency from a registry of files. For a second project, with nothing in npm's own cache, the
// registry is not asked again.
func TestNpm(t *testing.T) {
	t.Parallel()
	npm, address := peertest.Program(t, "npm", "npm", "npm"), freeAddress(t)
	registry := "http://" + address + "/"
	files := map[string]string{}
	for name, needs := range map[string]map[string]string{"left": {"right": "^1.0.0"}, "right": {}} {
		manifest := map[string]any{"name": name, "version": "1.2.3", "main": "index.js", "dependencies": needs}
		packed := tarball(t, map[string]string{"package/package.json": inJSON(t, manifest), "package/index.js": "module.exports = '" + name + "';"})
		sum := sha512.Sum512(packed)
		manifest["dist"] = map[string]string{"tarball": registry + name + "-1.2.3.tgz", "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
		files[name] = inJSON(t, map[string]any{"name": name, "dist-tags": map[string]string{"latest": "1.2.3"}, "versions": map[string]any{"1.2.3": manifest}})
		files[name+"-1.2.3.tgz"] = string(packed)
	}
	origin, log := pythonFiles(t, folder(t, files))
	serve(t, "--to", origin, "--ttl", "1m", "--listen", address)
	for i := range 2 {
		dir := folder(t, map[string]string{"package.json": `{"name": "project", "version": "1.0.0", "private": true}`})
		runClient(t, dir, nil, npm, "install", "left", "--registry", registry, "--cache", filepath.Join(dir, "cache"), "--no-audit", "--no-fund", "--no-update-notifier")
		if got := readFile(t, filepath.Join(dir, "node_modules/right/index.js")); got != "module.exports = 'right';" {
			t.Errorf("project %d: %q is installed", i, got)
		}
		if n := strings.Count(log.String(), "GET /"); n != len(files) {
			t.Errorf("project %d: the registry was asked %d times for %d files:\n%s", i, n, len(files), log)
		}
	}
}

// ociImage writes an image of one layer with this text as a folder of the Open Container Initiative, and returns its digest and that of
// the layer.
func ociImage(t *testing.T, text string) (dir, digest, ofLayer string) {
	t.Helper()
	files := map[string]string{"oci-layout": `{"imageLayoutVersion": "1.0.0"}`}
	blob := func(mediaType string, content []byte) map[string]any {
		sum := sha256.Sum256(content)
		digest = "sha256:" + hex.EncodeToString(sum[:])
		files["blobs/sha256/"+hex.EncodeToString(sum[:])] = string(content)
		return map[string]any{"mediaType": mediaType, "digest": digest, "size": len(content)}
	}
	const media = "application/vnd.oci.image."
	layer := blob(media+"layer.v1.tar+gzip", tarball(t, map[string]string{"file": text}))
	ofLayer = digest
	config := blob(media+"config.v1+json", []byte(`{"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": ["`+layer["digest"].(string)+`"]}}`))
	manifest := blob(media+"manifest.v1+json", []byte(inJSON(t, map[string]any{"schemaVersion": 2, "mediaType": media + "manifest.v1+json", "config": config, "layers": []any{layer}})))
	manifest["annotations"] = map[string]string{"org.opencontainers.image.ref.name": "latest"}
	files["index.json"] = inJSON(t, map[string]any{"schemaVersion": 2, "manifests": []any{manifest}})
	return folder(t, files), digest, ofLayer
}

// TestDockerRegistry pushes images through Sundry and pulls them: the digests are the same, also where another image takes over a name, and
// the layer of a second pull is stored.
func TestDockerRegistry(t *testing.T) {
	t.Parallel()
	registry, skopeo := peertest.Program(t, "docker-registry", "docker-registry", "docker-registry"), peertest.Program(t, "docker-registry", "skopeo", "skopeo")
	dir, address := t.TempDir(), freeAddress(t)
	config := write(t, dir, "registry.yml", fmt.Sprintf("version: 0.1\nlog: {level: warn}\nstorage: {filesystem: {rootdirectory: %s/images}, delete: {enabled: true}}\nhttp: {addr: %s}\n", dir, address))
	log := runPeer(t, address, registry, "serve", config)
	at := "docker://" + strings.TrimPrefix(serve(t, "--to", "http://"+address).public, "http://") + "/team/image:latest"
	run := func(args ...string) string {
		t.Helper()
		return runClient(t, dir, nil, skopeo, append([]string{"--insecure-policy"}, args...)...)
	}
	for _, text := range []string{"first", strings.Repeat("second ", 1<<20)} {
		image, digest, layer := ociImage(t, text)
		run("copy", "--dest-tls-verify=false", "oci:"+image+":latest", at)
		for range 2 {
			if got := run("inspect", "--tls-verify=false", "--format", "{{.Digest}}", at); strings.TrimSpace(got) != digest {
				t.Errorf("the digest in the registry is %s, not %s", got, digest)
			}
			to := t.TempDir()
			run("copy", "--src-tls-verify=false", at, "oci:"+to+":latest")
			if got := readFile(t, filepath.Join(to, "index.json")); !strings.Contains(got, digest) {
				t.Errorf("%s is pulled, not %s", got, digest)
			}
		}
		if n := strings.Count(log.String(), `"GET /v2/team/image/blobs/`+layer); n != 1 {
			t.Errorf("the registry was asked for the layer %d times", n)
		}
	}
}

// TestGoModules: the go command downloads a module through Sundry as its proxy. With nothing in its own cache, another one does, and the
// server of the files is not asked again.
func TestGoModules(t *testing.T) {
	t.Parallel()
	run := func(dir, proxy string, args ...string) {
		t.Helper()
		env := []string{"GOPROXY=" + proxy, "GOFLAGS=-modcacherw", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOWORK=off", "GOMODCACHE=" + filepath.Join(dir, "modules"), "GOCACHE=" + filepath.Join(dir, "built")}
		runClient(t, dir, env, "go", args...)
	}
	const module = "github.com/dunglas/httpsfv"
	all, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}} {{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	version, downloaded, _ := strings.Cut(strings.TrimSpace(string(all)), " ")
	files, found := strings.CutSuffix(filepath.ToSlash(downloaded), "/"+module+"@"+version)
	if !found {
		t.Skipf("%s is not in the cache of modules: %s", module, downloaded)
	}
	var logs sync.Map // by origin
	start := func(t *testing.T, prefix string) string {
		if prefix != "" {
			prefix = "/cache/download"
		}
		url, log := pythonFiles(t, strings.TrimSuffix(files+"/cache/download", prefix))
		logs.Store(url+prefix, log)
		return url + prefix
	}
	behind(t, start, func(t *testing.T, origin, base string) {
		log, _ := logs.Load(origin)
		asked := 0
		for i := range 2 {
			dir := folder(t, map[string]string{"go.mod": "module example.org/a\n"})
			run(dir, base, "mod", "download", module+"@"+version)
			if n := strings.Count(log.(*output).String(), "GET /"); i == 0 {
				asked = n
			} else if n != asked || n == 0 {
				t.Errorf("the server of the files was asked %d times, and %d times when all had been read", asked, n)
			}
			if zip := "cache/download/" + module + "/@v/" + version + ".zip"; readFile(t, filepath.Join(dir, "modules", zip)) != readFile(t, filepath.Join(files, zip)) {
				t.Error("another module is downloaded")
			}
		}
	})
}
