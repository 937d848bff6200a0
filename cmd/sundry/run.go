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

// world is what a command may touch: everything of the process that is not an
// argument.
type world struct {
	ctx    context.Context // ends when the command should
	urgent context.Context // ends when it must, at once
	getenv func(string) (string, bool)
	// variables are the names of those of the environment that are meant for
	// this program.
	variables []string
	stdout    io.Writer
	stderr    io.Writer
	// made sees what serve compiles sources into, before it does; nil: nobody
	// looks.
	made func(*upstreams.Environment)
}

// cli is the command line.
type cli struct {
	Serve   serveCmd   `cmd:"" help:"Serve the endpoints."`
	Check   checkCmd   `cmd:"" help:"Load and compile configuration and catalog; print every mistake with file and line."`
	Try     tryCmd     `cmd:"" help:"Call one endpoint once and show each stage."`
	Doctor  doctorCmd  `cmd:"" help:"Call every source once and compare its answer to what was recorded; exit 1 if an endpoint has none that works."`
	Health  healthCmd  `cmd:"" help:"Ask the server on this machine whether it lives; exit 1 if not. For health checks of containers."`
	Docs    docsCmd    `cmd:"" help:"Print the table of endpoints as Markdown."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

// errUsage carries the message that kong has printed already.
var errUsage = errors.New("see sundry --help")

// run is execute without anybody who could be in a hurry.
func run(ctx context.Context, args []string, getenv func(string) (string, bool), stdout, stderr io.Writer) error {
	return execute(&world{ctx: ctx, urgent: context.Background(), getenv: getenv, stdout: stdout, stderr: stderr}, args)
}

// execute carries out a command line. It returns when the command is done or,
// for serve, when the world's context ends and everything is drained.
func execute(w *world, args []string) error {
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
func (versionCmd) Run(w *world) error {
	_, err := fmt.Fprintln(w.stdout, "sundry", version())
	return err
}

// version is the module's, or the revision it was built from.
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
