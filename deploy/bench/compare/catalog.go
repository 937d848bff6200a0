//go:build linux

package main

import (
	"embed"
	"io/fs"
)

// catalogFiles declare the bench's own endpoints.
//
//go:embed catalog
var catalogFiles embed.FS

func (b *bench) writeCatalog() error {
	return fs.WalkDir(catalogFiles, "catalog", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := catalogFiles.ReadFile(path)
		if err != nil {
			return err
		}
		return writeFile(b.file(path), string(text))
	})
}
