package catalog

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"sundry/metrics/words"
	"sundry/upstreams"
	"sundry/upstreams/declare"
)

// Files are what a catalog is compiled from, as they were read at one time:
// compiled again they are what they were then, even if the disk has changed since.
type Files struct {
	specs     map[string]catalogFile // of endpoints
	shared    map[string]catalogFile // that they may use
	stray     []Mistake              // about files of folders without an endpoint
	variables []catalogFile
	data      *cachedFS
}

// ReadFiles reads the catalog's files, those of the operator's directory over
// those that come with the program; "" for no directory.
func ReadFiles(dir string) (*Files, error) { return readFiles(dir, true) }

// ReadOwnFiles is ReadFiles without the endpoints that come with the program; those of the directory may use its shared files and its data.
func ReadOwnFiles(dir string) (*Files, error) { return readFiles(dir, false) }

func readFiles(dir string, withBuiltin bool) (*Files, error) {
	f := &Files{specs: map[string]catalogFile{}, shared: map[string]catalogFile{}, data: &cachedFS{from: Data(dir), read: map[string]reading{}}}
	if err := f.collect(dir, withBuiltin); err != nil {
		return nil, err
	}
	var err error
	f.variables, err = readVariables(dir)
	return f, err
}

// OneAPI is an API without a file. What is "" or 0 is as in a file that does not say it.
type OneAPI struct {
	Name, To string
	Host     string        // proxy: host
	TTL      time.Duration // proxy: cache: default
	Head     time.Duration // proxy: timeouts: head
}

// ErrAPIName means that a text is no name of an API.
var ErrAPIName = words.NewError("expected a name of lower-case letters and digits, such as shop", "应为由小写字母和数字组成的名称，例如 shop")

// CheckAPIName checks the name of an API. The error is ErrAPIName.
func CheckAPIName(name string) error {
	if !endpointName.MatchString(name) {
		return ErrAPIName
	}
	return nil
}

// file is the API as a catalog file has it.
func (a *OneAPI) file() []byte {
	text := fmt.Sprintf("version: 1\nname: %q\nproxy:\n  to: %q\n", a.Name, a.To)
	if a.Host != "" {
		text += fmt.Sprintf("  host: %q\n", a.Host)
	}
	if a.TTL > 0 {
		text += fmt.Sprintf("  cache: {default: %s}\n", a.TTL)
	}
	if a.Head > 0 {
		text += fmt.Sprintf("  timeouts: {head: %s}\n", a.Head)
	}
	return []byte(text)
}

// FilesOfAPI are those of a catalog that has nothing but one API, of which each path is.
func FilesOfAPI(a *OneAPI) *Files {
	return &Files{
		specs: map[string]catalogFile{a.Name: {path: "--to", data: a.file(), everywhere: true}},
		data:  &cachedFS{from: builtin, read: map[string]reading{}},
	}
}

// HaveAPIs reports whether one of them declares an API.
func (f *Files) HaveAPIs() bool {
	for _, file := range f.specs {
		if file.isAPI() {
			return true
		}
	}
	return false
}

// Data are the files that embedded sources name: each is read when it is first
// asked for, then cached. Compile expects them in its environment.
func (f *Files) Data() fs.FS { return f.data }

// Declaration is the file of an endpoint, as it was read; of a folder, all files.
func (f *Files) Declaration(endpoint string) (yaml []byte, ok bool) {
	spec, ok := f.specs[endpoint]
	yaml = slices.Clip(spec.data)
	for _, name := range slices.Sorted(maps.Keys(spec.parts)) {
		part := spec.parts[name]
		yaml = fmt.Appendf(yaml, "---\n# %s\n%s", part.path, part.data)
	}
	return yaml, ok
}

// BuiltinNames are the names of the endpoints that come with the program.
func BuiltinNames() []string {
	f, _ := ReadFiles("") // what is embedded can be read
	return slices.Sorted(maps.Keys(f.specs))
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
	return layered{os.DirFS(dir)}
}

// layered has the files of a directory over ours.
type layered struct{ own fs.FS }

// Open implements fs.FS.
func (l layered) Open(name string) (fs.File, error) {
	if file, err := l.own.Open(name); err == nil {
		return file, nil
	}
	return builtin.Open(name)
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

// headFile is the file in an endpoint's folder that is about the endpoint as a whole.
const headFile = "endpoint.yaml"

// catalogFile is one file to load.
type catalogFile struct {
	path string
	data []byte
	own  bool // it is the operator's, or one of its parts is
	// everywhere: what it declares has all paths.
	everywhere bool
	// parts are the files beside endpoint.yaml, by their names without .yaml; nil: the
	// endpoint has no folder.
	parts map[string]catalogFile
}

// collect finds the catalog's files, those of the operator's directory over
// those that come with the program.
func (f *Files) collect(dir string, withBuiltin bool) error {
	err := f.collectFrom(builtin, "")
	if !withBuiltin {
		clear(f.specs)
	}
	if err != nil || dir == "" {
		return err
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return fmt.Errorf("catalog directory %s: not a readable directory", dir)
	}
	return f.collectFrom(os.DirFS(dir), dir)
}

// collectFrom adds the files of a directory, shown as dir. One replaces what there is of
// its name: an endpoint, a part of an endpoint that has a folder, a shared file.
func (f *Files) collectFrom(from fs.FS, dir string) error {
	here := map[string]string{}
	err := eachFile(from, dir, func(name string, file catalogFile) error {
		name = strings.TrimSuffix(name, ".yaml")
		here[name] = file.path
		f.specs[name] = file
		return nil
	}, "*.yaml")
	if err != nil {
		return err
	}
	err = eachFile(from, dir, func(name string, file catalogFile) error {
		name = path.Dir(name)
		if other := here[name]; other != "" {
			return Mistake{file.path, 0, declare.Say("expected a file or a folder of an endpoint; there is %s as well", other)}
		}
		file.parts = map[string]catalogFile{}
		f.specs[name] = file
		return nil
	}, "*/"+headFile)
	if err != nil {
		return err
	}
	if err := eachFile(from, dir, f.addPart, "*/*.yaml"); err != nil {
		return err
	}
	misnamed := func(_ string, file catalogFile) error {
		f.stray = append(f.stray, Mistake{file.path, 0, declare.Say("not read: expected a name that ends in .yaml")})
		return nil
	}
	return errors.Join(eachFile(from, dir, misnamed, "*.yml"), eachFile(from, dir, misnamed, "*/*.yml"))
}

// addPart adds a file of a folder.
func (f *Files) addPart(name string, file catalogFile) error {
	folder, part := path.Dir(name), strings.TrimSuffix(path.Base(name), ".yaml")
	head := f.specs[folder]
	switch {
	case !endpointName.MatchString(folder), folder == "data", path.Base(name) == headFile:
	case folder == "shared":
		f.shared[part] = file
	case head.parts == nil:
		f.stray = append(f.stray, Mistake{file.path, 0, declare.Say("not read: there is no %s beside it, the file about the endpoint as a whole", headFile)})
	default:
		head.parts[part] = file
		head.own = head.own || file.own
		f.specs[folder] = head
	}
	return nil
}

// eachFile reads the files of a directory that match and are not hidden, in the order of their names.
func eachFile(from fs.FS, dir string, add func(name string, file catalogFile) error, pattern string) error {
	names, err := fs.Glob(from, pattern)
	if err != nil {
		return err
	}
	for _, name := range names {
		if isHidden(name) {
			continue
		}
		if info, err := fs.Stat(from, name); err == nil && !info.Mode().IsRegular() { // a pipe would be waited for, while no purge is made
			return Mistake{path.Join(dir, name), 0, declare.Say("expected a file, or a link to one")}
		}
		b, err := fs.ReadFile(from, name)
		if err != nil {
			return fmt.Errorf("catalog file: %w", err)
		}
		if err := add(name, catalogFile{path: path.Join(dir, name), data: b, own: dir != ""}); err != nil {
			return err
		}
	}
	return nil
}

// isHidden reports whether a file is none of the catalog, such as one in ..data, by which Kubernetes
// swaps all files, or the link to nowhere by which Emacs locks one.
func isHidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.Contains(name, "/.")
}

//go:embed *.yaml */*.yaml data
var builtin embed.FS
