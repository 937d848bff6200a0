package main

import (
	_ "embed"

	"sundry/upstreams/catalog"
)

type schemaCmd struct {
	Of string `arg:"" optional:"" enum:"catalog,part,config" default:"catalog" help:"catalog for catalog files, part for the other files of an endpoint's folder, config for sundry.yaml." zh:"catalog 为接口文件，part 为接口文件夹中的其他文件，config 为 sundry.yaml。"`
}

// configSchema is the JSON Schema of sundry.yaml. A test makes it of the settings.
//
//go:embed sundry.schema.json
var configSchema []byte

// Run prints a JSON Schema, for editors.
func (s *schemaCmd) Run(w *process) error {
	text := catalog.Schema()
	switch s.Of {
	case "part":
		text = catalog.PartSchema()
	case "config":
		text = configSchema
	}
	_, err := w.stdout.Write(text)
	return err
}
