package main

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// image writes sundry_VERSION_image_linux_ARCH.tar: an image that docker load, podman
// load and, as oci-archive, skopeo read.
func (r *release) image(arch string, binary []byte) error {
	img, err := r.imageOf(arch, binary)
	if err != nil {
		return err
	}
	data, err := r.packed(img, v1.Platform{OS: "linux", Architecture: arch})
	if err != nil {
		return err
	}
	return os.WriteFile(r.made("sundry_"+r.version.Name+"_image_linux_"+arch+".tar"), data, 0o644) //nolint:gosec // for others to read
}

// imageOf is the same image as that of deploy/Dockerfile.
func (r *release) imageOf(arch string, binary []byte) (v1.Image, error) {
	license, err := os.ReadFile(filepath.Join(r.source, "LICENSE"))
	if err != nil {
		return nil, err
	}
	files, err := tarred([]entry{
		{"LICENSE", license, 0o644}, {"etc/", nil, 0o755}, {"etc/ssl/", nil, 0o755}, {"etc/ssl/certs/", nil, 0o755},
		{"etc/ssl/certs/ca-certificates.crt", authorities(), 0o644}, {"sundry", binary, 0o755},
	}, r.version.Time)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	created := v1.Time{Time: r.version.Time}
	img, err := mutate.Append(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON),
		mutate.Addendum{Layer: layer, MediaType: types.OCILayer, History: v1.History{Created: created, CreatedBy: "deploy/tools/release"}})
	if err != nil {
		return nil, err
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created, file.Config = "linux", arch, created, r.config()
	return mutate.ConfigFile(img, file)
}

// config says how the image is run. A test compares it with deploy/Dockerfile.
func (r *release) config() v1.Config {
	return v1.Config{
		Entrypoint: []string{"/sundry"}, Cmd: []string{"serve"}, User: "65532:65532", WorkingDir: "/",
		ExposedPorts: map[string]struct{}{"8080/tcp": {}}, StopSignal: "SIGTERM",
		Healthcheck: &v1.HealthConfig{Test: []string{"CMD", "/sundry", "health"}, Interval: 10 * time.Second, Timeout: 3 * time.Second, StartPeriod: 10 * time.Second, Retries: 3},
		Labels: map[string]string{
			"org.opencontainers.image.title":       "Sundry",
			"org.opencontainers.image.description": "A caching reverse-proxy aggregator of public, read-only utility endpoints",
			"org.opencontainers.image.licenses":    "MIT",
			"org.opencontainers.image.version":     r.version.Name,
			"org.opencontainers.image.revision":    r.version.Commit,
			"org.opencontainers.image.created":     r.version.Time.Format(time.RFC3339),
			"org.opencontainers.image.source":      r.version.Source,
		},
	}
}

// authorities are Mozilla's certificate authorities, so that the image does not depend
// on those of the machine that makes it.
func authorities() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer does not fail
		}
	}
	return b.Bytes()
}

// packed is an OCI layout as an archive, with the manifest that docker load of every
// version reads.
func (r *release) packed(img v1.Image, platform v1.Platform) ([]byte, error) {
	dir, err := os.MkdirTemp(r.work, "layout-")
	if err != nil {
		return nil, err
	}
	tag := "sundry:" + r.version.Name
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{
		Platform: &platform, Annotations: map[string]string{"org.opencontainers.image.ref.name": r.version.Name, "io.containerd.image.name": "docker.io/library/" + tag},
	}})
	if _, err := layout.Write(dir, index); err != nil {
		return nil, err
	}
	entries, err := filesOf(dir)
	if err != nil {
		return nil, err
	}
	legacy, err := dockerManifest(img, tag)
	if err != nil {
		return nil, err
	}
	return tarred(append(entries, entry{"manifest.json", legacy, 0o644}), r.version.Time)
}

// filesOf are the files of a directory, by name.
func filesOf(dir string) ([]entry, error) {
	var entries []entry
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // made above
		entries = append(entries, entry{name, data, 0o644})
		return err
	})
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare([]byte(a.name), []byte(b.name)) })
	return entries, err
}

func dockerManifest(img v1.Image, tag string) ([]byte, error) {
	m, err := img.Manifest()
	if err != nil {
		return nil, err
	}
	blob := func(h v1.Hash) string { return path.Join("blobs", h.Algorithm, h.Hex) }
	d := tarball.Descriptor{Config: blob(m.Config.Digest), RepoTags: []string{tag}}
	for _, l := range m.Layers {
		d.Layers = append(d.Layers, blob(l.Digest))
	}
	return json.Marshal(tarball.Manifest{d})
}
