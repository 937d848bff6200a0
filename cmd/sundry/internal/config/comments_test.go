package config

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"sundry/upstreams/declare"
)

// Comments are those on the types and fields of a module: what schemas and pages say of a key
// is the comment on the Go field that the key is decoded into.
type Comments struct {
	root, module string
	packages     map[string]map[string]string // by package, then by type, or type and field with a dot between
}

// NewComments reads the packages of a module, whose root directory is given, as
// they are asked for.
func NewComments(root, module string) *Comments {
	return &Comments{root: root, module: module, packages: map[string]map[string]string{}}
}

// on is the comment on a type, or on a field as in Type.Field. Without one, it is an error.
func (c *Comments) on(pkg, name string) (string, error) {
	if c.packages[pkg] == nil {
		read, err := c.read(filepath.Join(c.root, strings.TrimPrefix(strings.TrimPrefix(pkg, c.module), "/")))
		if err != nil {
			return "", fmt.Errorf("package %s: %w", pkg, err)
		}
		c.packages[pkg] = read
	}
	if text := c.packages[pkg][name]; text != "" {
		return text, nil
	}
	return "", fmt.Errorf("%s of %s: what catalog files have needs a comment that describes it", name, pkg)
}

// read collects the comments of the package in a directory.
func (c *Comments) read(dir string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no files in %s", dir)
	}
	all := map[string]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if decl, ok := d.(*ast.GenDecl); ok && decl.Tok == token.TYPE {
				collect(decl, all)
			}
		}
	}
	return all, nil
}

func collect(decl *ast.GenDecl, all map[string]string) {
	for _, spec := range decl.Specs {
		t := spec.(*ast.TypeSpec)
		all[t.Name.Name] = paragraph(decl.Doc)
		structure, ok := t.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, field := range structure.Fields.List {
			for _, name := range field.Names {
				all[t.Name.Name+"."+name.Name] = paragraph(field.Doc)
			}
		}
	}
}

// paragraph is a comment in one line.
func paragraph(doc *ast.CommentGroup) string { return strings.Join(strings.Fields(doc.Text()), " ") }

// word is a Go name in a comment.
var word = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*`)

// Key describes a key of a mapping in the words of a file: fields of the same Go type
// that the comment mentions are keys there.
func (c *Comments) Key(k *declare.Key, of *declare.Shape) (string, error) {
	if k.Owner == nil {
		return c.Type(k.Shape)
	}
	text, err := c.on(k.Owner.PkgPath(), k.Owner.Name()+"."+k.Field)
	return beginning(mention(text, k.Field, keysOf(of))), err
}

// keysOf are the keys of a mapping by the Go fields that they are decoded into.
func keysOf(s *declare.Shape) map[string]string {
	keys := map[string]string{}
	for i := range s.Keys {
		if s.Keys[i].Field != "" {
			keys[s.Keys[i].Field] = "`" + s.Keys[i].Name + "`"
		}
	}
	return keys
}

// mention replaces the Go names of fields by keys. In the midst of a sentence, only a
// name in capitals can be told from a word.
func mention(text, field string, keys map[string]string) string {
	var b strings.Builder
	last := 0
	for _, at := range word.FindAllStringIndex(text, -1) {
		name := text[at[0]:at[1]]
		key, known := keys[name]
		begins := at[0] == 0 || strings.HasSuffix(text[:at[0]], ". ")
		if !known || begins && name != field {
			continue
		}
		b.WriteString(text[last:at[0]] + key)
		last = at[1]
	}
	return b.String() + text[last:]
}

var (
	// predicate is how a comment says that the key is something.
	predicate = regexp.MustCompile("^(`[a-z_]+`|It) (is|are|declares) (an? |the )?")
	// noun is how a comment begins where the key itself is the word.
	noun = regexp.MustCompile("^`([a-z_]+)` (of|in|that) ")
)

// beginning shortens the beginning of a description: the key stands before it.
func beginning(text string) string {
	if m := predicate.FindStringSubmatch(text); m != nil {
		return capital(m[3] + strings.TrimPrefix(text, m[0]))
	}
	if m := noun.FindStringSubmatch(text); m != nil {
		return capital(strings.ReplaceAll(m[1], "_", " ")) + strings.TrimPrefix(text, "`"+m[1]+"`")
	}
	return text
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Type describes the type of a shape.
func (c *Comments) Type(s *declare.Shape) (string, error) {
	t := s.Type
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	text, err := c.on(t.PkgPath(), t.Name())
	return beginning(mention(strings.Replace(text, t.Name(), "It", 1), "", keysOf(s))), err
}
