//go:build linux

package main

import "embed"

// catalogFiles declare the bench's own endpoints.
//
//go:embed catalog
var catalogFiles embed.FS
