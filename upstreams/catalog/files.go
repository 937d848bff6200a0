package catalog

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Data are the files that embedded sources name, those of the operator's
// directory over ours.
func Data(dir string) fs.FS {
	if dir == "" {
		return builtin
	}
	return layered{os.DirFS(dir), builtin}
}

// layered opens a file in the first file system that has it.
type layered []fs.FS

// Open implements fs.FS.
func (l layered) Open(name string) (fs.File, error) {
	for _, f := range l[:len(l)-1] {
		if file, err := f.Open(name); err == nil {
			return file, nil
		}
	}
	return l[len(l)-1].Open(name)
}

// source is one file to load.
type source struct {
	path string
	data []byte
}

// collect finds the catalog's files, those of the operator's directory over
// those that come with the program.
func collect(dir string) (map[string]source, error) {
	files := map[string]source{}
	if err := collectFrom(builtin, "", files); err != nil {
		return nil, err
	}
	if dir == "" {
		return files, nil
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return nil, fmt.Errorf("catalog directory %s: not a directory that can be read", dir)
	}
	return files, collectFrom(os.DirFS(dir), dir, files)
}

func collectFrom(from fs.FS, dir string, files map[string]source) error {
	names, err := fs.Glob(from, "*.yaml")
	if err != nil {
		return err
	}
	for _, name := range names {
		b, err := fs.ReadFile(from, name)
		if err != nil {
			return fmt.Errorf("catalog file: %w", err)
		}
		files[strings.TrimSuffix(name, ".yaml")] = source{path.Join(dir, name), b}
	}
	return nil
}
