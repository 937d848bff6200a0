package catalog

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"

	"sundry/upstreams"
)

// Files are what a catalog is compiled from, as they were read at one time:
// compiled again they are what they were then, even if the disk has changed since.
type Files struct {
	specs     map[string]catalogFile
	variables []variableFile
	data      *cachedFS
}

// ReadFiles reads the catalog's files, those of the operator's directory over
// those that come with the program; "" for no directory.
func ReadFiles(dir string) (*Files, error) {
	specs, err := collect(dir)
	if err != nil {
		return nil, err
	}
	variables, err := readVariables(dir)
	if err != nil {
		return nil, fmt.Errorf("catalog file: %w", err)
	}
	return &Files{specs: specs, variables: variables, data: &cachedFS{from: Data(dir), read: map[string]reading{}}}, nil
}

// Data are the files that embedded sources name: each is read when it is first
// asked for, then cached. Compile expects them in its environment.
func (f *Files) Data() fs.FS { return f.data }

// Declaration is the file of an endpoint, as it was read.
func (f *Files) Declaration(endpoint string) (yaml []byte, ok bool) {
	spec, ok := f.specs[endpoint]
	return spec.data, ok
}

// BuiltinNames are the names of the endpoints that come with the program.
func BuiltinNames() []string {
	files, _ := fs.Glob(builtin, "*.yaml") // the pattern is right
	for i, file := range files {
		files[i] = strings.TrimSuffix(file, ".yaml")
	}
	return files
}

// Load reads and compiles everything. The error joins all Mistakes.
func Load(opts Options, env *upstreams.Environment) (*Catalog, error) {
	f, err := ReadFiles(opts.Dir)
	if err != nil {
		return nil, err
	}
	return f.Compile(opts, env)
}

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

// cachedFS remembers the content of each file, or why it could not be read.
type cachedFS struct {
	from fs.FS
	mu   sync.Mutex
	read map[string]reading
}

type reading struct {
	data []byte
	err  error
}

// ReadFile implements fs.ReadFileFS. Callers must not change what it returns.
func (c *cachedFS) ReadFile(name string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.read[name]
	if !ok {
		r.data, r.err = fs.ReadFile(c.from, name)
		c.read[name] = r
	}
	return r.data, r.err
}

// Open implements fs.FS. A file that is read in pieces would not be cached.
func (c *cachedFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: errors.ErrUnsupported}
}

// catalogFile is one file to load.
type catalogFile struct {
	path string
	data []byte
	own  bool // it is the operator's
}

// collect finds the catalog's files, those of the operator's directory over
// those that come with the program.
func collect(dir string) (map[string]catalogFile, error) {
	files := map[string]catalogFile{}
	if err := collectFrom(builtin, "", files); err != nil {
		return nil, err
	}
	if dir == "" {
		return files, nil
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return nil, fmt.Errorf("catalog directory %s: not a readable directory", dir)
	}
	return files, collectFrom(os.DirFS(dir), dir, files)
}

func collectFrom(from fs.FS, dir string, files map[string]catalogFile) error {
	names, err := fs.Glob(from, "*.yaml")
	if err != nil {
		return err
	}
	for _, name := range names {
		b, err := fs.ReadFile(from, name)
		if err != nil {
			return fmt.Errorf("catalog file: %w", err)
		}
		files[strings.TrimSuffix(name, ".yaml")] = catalogFile{path.Join(dir, name), b, dir != ""}
	}
	return nil
}

//go:embed *.yaml data
var builtin embed.FS
