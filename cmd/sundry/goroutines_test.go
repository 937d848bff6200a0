package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unguarded are the functions that start goroutines whose panics nothing catches, or
// recover from panics that are not counted, and why.
func unguarded() map[string]string {
	return map[string]string{
		"cache/far/redistest/redistest.go run":          "of tests",
		"upstreams/fixtures/examination.go Examine":     "of a command, which is to end with its stack",
		"proxy/through/suitetest/run.go Hold":           "of tests",
		"proxy/through/suitetest/origin.go startOrigin": "of tests",
		"cmd/sundry/signals.go interrupts":              "only waits for signals, before there is a log",
		"proxy/logwriter/writer.go add":                 "writes the log, to which a catcher tells panics: each would have it panic again, without end",
		"cmd/sundry/signals.go reportUntil":             "of a command that ends",
		"metrics/panics/panics.go Go":                   "the function that it starts catches them",
		"proxy/disconnect.go newWaitState":              "only waits and cancels",
		"proxy/mcp/answer.go ask":                       "what it calls has counted its panic, and aborts as net/http has it",
		"upstreams/lib/costtest/heap.go PeakHeap":       "of tests",
		"upstreams/lib/geoip/mmdb.go Lookup":            "a fault is that of the file, which is an error; all else panics on",
		"upstreams/lib/minecraft/ping.go converse":      "only sets the deadline of a connection",
	}
}

// TestPanicsOfGoroutinesAreCaught: whatever starts a goroutine gives it a function of
// metrics/panics, and whoever recovers from a panic tells it.
func TestPanicsOfGoroutinesAreCaught(t *testing.T) {
	t.Parallel()
	exceptions, found := unguarded(), map[string]bool{}
	for path, file := range serviceFiles(t) {
		for _, d := range file.Decls {
			where := path
			if f, ok := d.(*ast.FuncDecl); ok {
				where += " " + f.Name.Name
			}
			for _, what := range mistakes(d) {
				if found[where] = true; exceptions[where] == "" {
					t.Errorf("%s: %s", where, what)
				}
			}
		}
	}
	for where := range exceptions {
		if !found[where] {
			t.Errorf("%s: is no exception any more", where)
		}
	}
}

// TestUncaughtPanicsAreFound: the test above can fail.
func TestUncaughtPanicsAreFound(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		code string
		want int
	}{
		{"go f()", 1},
		{"go func() { defer panics.Catch(panics.Fill, &err) }()", 1},
		{"wg.Go(f)", 1},
		{"wg.Go(func() { f() })", 1},
		{"group.TryGo(func() error { return nil })", 1},
		{"time.AfterFunc(d, f)", 1},
		{"context.AfterFunc(ctx, other.Func(panics.Fill, f))", 1},
		{"srv.RegisterOnShutdown(f)", 1},
		{"defer func() { _ = recover() }()", 1},
		{"wg.Go(c.panics.Func(panics.Fill, func() { go f() }))", 1},
		{"c.panics.Go(panics.Fill, f)", 0},
		{"wg.Go(cfg.Panics.Loop(ctx, panics.Fill, f))", 0},
		{"group.Go(s.panics.FuncErr(panics.Fill, f))", 0},
		{"time.AfterFunc(d, h.panics().Func(panics.Fill, f))", 0},
		{"defer func() { if v := recover(); v != nil { _ = c.Caught(t, v) } }()", 0},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() { "+row.code+" }", parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := mistakes(file.Decls[0]); len(got) != row.want {
			t.Errorf("%s: %q, want %d mistakes", row.code, got, row.want)
		}
	}
}

// serviceFiles are the files of the service but its tests, by their paths.
func serviceFiles(t *testing.T) map[string]*ast.File {
	t.Helper()
	root, files := "../..", map[string]*ast.File{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "testdata" || rel == "deploy" || rel == "bin" || rel == "cmd/sundry/internal/simulation"):
			return filepath.SkipDir // the last is for tests: its panics end them
		case d.IsDir() || !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go"):
			return nil
		}
		files[rel], err = parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// mistakes says what a declaration has of goroutines whose panics are not caught, and of
// panics that are not counted.
func mistakes(d ast.Node) (all []string) {
	recovers, tells := false, false
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			all = append(all, "a go statement: call Go of metrics/panics, or the panic ends the process")
		case *ast.CallExpr:
			switch on, name := called(n); {
			case name == "recover" && on == nil:
				recovers = true
			case name == "Caught":
				tells = true
			case startsGoroutine(name) && !isCatcher(on) && !isGuarded(n.Args[len(n.Args)-1]):
				all = append(all, name+" without a function of metrics/panics: its panic ends the process")
			}
		}
		return true
	})
	if recovers && !tells {
		all = append(all, "recovers from a panic that is not counted")
	}
	return all
}

// called is the name of what is called, and the expression that it is called on; nil: none.
func called(c *ast.CallExpr) (on ast.Expr, name string) {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return nil, f.Name
	case *ast.SelectorExpr:
		return f.X, f.Sel.Name
	}
	return nil, ""
}

// startsGoroutine reports whether methods and functions of that name, in the standard
// library and in errgroup, call their last argument in a goroutine of its own.
func startsGoroutine(name string) bool {
	return slices.Contains([]string{"Go", "TryGo", "AfterFunc", "RegisterOnShutdown"}, name)
}

// isGuarded reports whether an expression is a function made by a catcher.
func isGuarded(e ast.Expr) bool {
	c, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	on, name := called(c)
	return slices.Contains([]string{"Func", "FuncErr", "Loop"}, name) && isCatcher(on)
}

// isCatcher goes by the name that catchers have everywhere.
func isCatcher(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "panics"
	case *ast.SelectorExpr:
		return strings.EqualFold(e.Sel.Name, "panics")
	case *ast.CallExpr:
		_, name := called(e)
		return name == "panics"
	}
	return false
}
