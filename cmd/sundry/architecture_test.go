package main

import (
	"go/build"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestArchitecturePageNamesWhatExists: its table has every package and no other,
// and each file that it names is there.
func TestArchitecturePageNamesWhatExists(t *testing.T) {
	t.Parallel()
	packages, files := tree(t)
	text := readFile(t, filepath.Join(samples, "architecture.md"))
	var listed []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]+) \\|").FindAllStringSubmatch(text, -1) {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			listed = append(listed, name[1])
		}
	}
	for _, p := range packages {
		if !slices.Contains(listed, p) {
			t.Errorf("package %s is not in the table", p)
		}
	}
	for _, p := range listed {
		if !slices.Contains(packages, p) {
			t.Errorf("%s is in the table, and not a package", p)
		}
	}
	for _, m := range regexp.MustCompile("`([\\w/.]+\\.(?:go|txt|yaml))`").FindAllStringSubmatch(text, -1) {
		named := func(file string) bool { return file == m[1] || strings.HasSuffix(file, "/"+m[1]) }
		if !slices.ContainsFunc(files, named) {
			t.Errorf("there is no file %s", m[1])
		}
	}
}

// tree lists the packages and files of the repository, without deploy's own Go
// modules.
func tree(t *testing.T) (packages, files []string) {
	t.Helper()
	root := "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		if !d.IsDir() {
			files = append(files, rel)
			return nil
		}
		if strings.HasPrefix(d.Name(), ".") && rel != "." || rel == "bin" {
			return filepath.SkipDir
		}
		if _, err := build.ImportDir(path, 0); err == nil && !strings.HasPrefix(rel, "deploy/") && d.Name() != "testdata" {
			packages = append(packages, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return packages, files
}
