package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is a file of an archive.
type entry struct {
	name string
	data []byte
	mode int64
}

// archive puts the binary and the papers into sundry_VERSION_SYSTEM_ARCH.tar.gz, or
// .zip for Windows.
func (r *release) archive(system, arch string, binary []byte) error {
	folder := strings.Join([]string{"sundry", r.version.Name, system, arch}, "_")
	program, pack, suffix := "sundry", targz, ".tar.gz"
	if system == "windows" {
		program, pack, suffix = "sundry.exe", zipped, ".zip"
	}
	entries := []entry{{folder + "/" + program, binary, 0o755}}
	for _, name := range papers {
		data, err := os.ReadFile(filepath.Join(r.source, name)) //nolint:gosec // of this repository
		if err != nil {
			return err
		}
		entries = append(entries, entry{folder + "/" + name, data, 0o644})
	}
	data, err := pack(entries, r.version.Time)
	if err != nil {
		return err
	}
	return os.WriteFile(r.made(folder+suffix), data, 0o644) //nolint:gosec // for others to read
}

// tarred is an archive of files that belong to root, all of the same time.
func tarred(entries []entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: tar.TypeReg, Mode: e.mode, Size: int64(len(e.data)), ModTime: at, Format: tar.FormatUSTAR}
		if strings.HasSuffix(e.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func targz(entries []entry, at time.Time) ([]byte, error) {
	plain, err := tarred(entries, at)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

func zipped(entries []entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: at}
		h.SetMode(os.FileMode(e.mode))
		file, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := file.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// checksums writes the file that sha256sum -c reads.
func (r *release) checksums() error {
	slices.Sort(r.files)
	var b bytes.Buffer
	for _, name := range r.files {
		data, err := os.ReadFile(filepath.Join(r.out, name)) //nolint:gosec // made above
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), name)
	}
	return os.WriteFile(r.made("sundry_"+r.version.Name+"_checksums.txt"), b.Bytes(), 0o644) //nolint:gosec // for others to read
}
