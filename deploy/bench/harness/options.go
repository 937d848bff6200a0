//go:build linux

package harness

import "flag"

// Options are those that all benchmarks have.
type Options struct {
	Keep    bool   // the directory with logs and settings
	Write   bool   // the figures into the documents
	Program string // the Sundry to measure; "": one that is built now
}

// Flags declares them; documents name where figures are written.
func (o *Options) Flags(f *flag.FlagSet, documents string) {
	f.BoolVar(&o.Keep, "keep", false, "keep the directory with logs and settings")
	f.BoolVar(&o.Write, "write", false, "write the figures into "+documents)
	f.StringVar(&o.Program, "sundry", "", "program to measure instead of one that is built now")
}
