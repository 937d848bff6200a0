package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/alecthomas/kong"

	"sundry/upstreams"
)

// process is what a command uses of the process it runs in, apart from its
// arguments. Tests pass their own.
type process struct {
	ctx    context.Context // ends when the command is asked to stop
	urgent context.Context // ends when it must stop at once
	getenv func(string) (string, bool)
	// variables are the names of environment variables that begin with SUNDRY_.
	variables []string
	stdout    io.Writer
	stderr    io.Writer
	// onEnvironment, unless nil, is called with the environment of the sources
	// before serve compiles them.
	onEnvironment func(*upstreams.Environment)
}

// cli is the command line.
type cli struct {
	Serve   serveCmd   `cmd:"" help:"Serve the endpoints."`
	Check   checkCmd   `cmd:"" help:"Load and compile configuration and catalog; print every mistake with its file and line."`
	Try     tryCmd     `cmd:"" help:"Call one endpoint once and show each stage."`
	Doctor  doctorCmd  `cmd:"" help:"Call every source once and compare its answer with the recorded one; exit 1 if an endpoint has no working source."`
	Health  healthCmd  `cmd:"" help:"Check that the server on this machine is alive; exit 1 if it is not. For container health checks."`
	New     newCmd     `cmd:"" help:"Draft an endpoint: call an address, and write a catalog file with a recorded exchange."`
	Schema  schemaCmd  `cmd:"" help:"Print the JSON Schema of catalog files, or of sundry.yaml, for editors."`
	Docs    docsCmd    `cmd:"" help:"Print the endpoints as a Markdown table."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

// errUsage is returned for a wrong command line, after kong has printed the usage and
// what is wrong.
var errUsage = errors.New("see sundry --help")

// execute carries out a command line. It returns when the command is done or,
// for serve, when ctx of the process ends and everything is drained.
func execute(w *process, args []string) error {
	var c cli
	exited := false
	parser, err := kong.New(&c, kong.Name("sundry"),
		kong.Description("A caching reverse-proxy aggregator: public, read-only utility endpoints from many upstreams."),
		kong.Writers(w.stdout, w.stderr), kong.Exit(func(int) { exited = true }), kong.UsageOnError())
	if err != nil {
		return err
	}
	k, err := parser.Parse(args)
	if exited {
		return nil // --help was printed
	}
	if err != nil {
		parser.FatalIfErrorf(err)
		return errUsage
	}
	return k.Run(w)
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(w *process) error {
	_, err := fmt.Fprintln(w.stdout, "sundry", version())
	return err
}

// version returns the revision that the program was built from, or else the version
// of its module.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return info.Main.Version
}
