// Package describe makes JSON Schemas and reference pages of shapes. What it says of
// a key is the comment on the Go field that the key is decoded into. It reads the
// source of the program, and is for generators and tests alone.
package describe

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"sundry/upstreams/declare"
)

// Comments are those on the types and fields of a module.
type Comments struct {
	root, module string
	packages     map[string]comments
}

// comments of a package, by type, and by type and field.
type comments struct {
	types  map[string]string
	fields map[[2]string]string
}

// NewComments reads the packages of a module, whose root directory is given, as
// they are asked for.
func NewComments(root, module string) *Comments {
	return &Comments{root: root, module: module, packages: map[string]comments{}}
}

// of returns the comments of a package.
func (c *Comments) of(pkg string) (comments, error) {
	if known, ok := c.packages[pkg]; ok {
		return known, nil
	}
	out := comments{types: map[string]string{}, fields: map[[2]string]string{}}
	dir := filepath.Join(c.root, strings.TrimPrefix(strings.TrimPrefix(pkg, c.module), "/"))
	files, err := fs.Glob(os.DirFS(dir), "*.go")
	if err != nil || len(files) == 0 {
		return out, fmt.Errorf("package %s: no files in %s", pkg, dir)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return out, err
		}
		out.collect(file)
	}
	c.packages[pkg] = out
	return out, nil
}

func (c *comments) collect(file *ast.File) {
	for _, d := range file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.TYPE {
			continue
		}
		for _, spec := range decl.Specs {
			t := spec.(*ast.TypeSpec)
			c.types[t.Name.Name] = paragraph(decl.Doc)
			if structure, ok := t.Type.(*ast.StructType); ok {
				c.collectFields(t.Name.Name, structure)
			}
		}
	}
}

func (c *comments) collectFields(of string, structure *ast.StructType) {
	for _, field := range structure.Fields.List {
		for _, name := range field.Names {
			c.fields[[2]string{of, name.Name}] = paragraph(field.Doc)
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
	all, err := c.of(k.Owner.PkgPath())
	if err != nil {
		return "", err
	}
	text := all.fields[[2]string{k.Owner.Name(), k.Field}]
	if text == "" {
		return "", fmt.Errorf("%s.%s: a key of catalog files needs a comment that describes it", k.Owner, k.Field)
	}
	return beginning(mention(text, k.Field, keysOf(of))), nil
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
	all, err := c.of(t.PkgPath())
	if err != nil {
		return "", err
	}
	text := all.types[t.Name()]
	if text == "" {
		return "", fmt.Errorf("%s: a type of catalog files needs a comment that describes it", t)
	}
	return beginning(mention(strings.Replace(text, t.Name(), "It", 1), "", keysOf(s))), nil
}
