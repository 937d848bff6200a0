// Sundry serves public, read-only utility endpoints from cached upstreams.
package main

import (
	"context"
	"io"
	"os"
	_ "time/tzdata" // calendars need zones, and small images have none
)

func main() {
	os.Exit(program(os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// program runs the command and returns the exit status, with which main ends the
// process.
func program(args, environ []string, stdout, stderr io.Writer) int {
	ctx, urgent, stop := interrupts(os.Exit)
	defer stop()
	getenv, err := secretFiles(environ)
	if err == nil {
		err = execute(&process{program: os.Args[0], ctx: ctx, urgent: urgent, getenv: getenv, variables: ownVariables(environ), stdin: os.Stdin, stdout: stdout, stderr: stderr}, args)
	}
	if err != nil {
		reportUntil(ctx, stderr, err)
	}
	return statusOf(err)
}

// reportUntil prints an error. Once the command is asked to stop, it does not wait for a
// reader for longer than exitTime.
func reportUntil(ctx context.Context, stderr io.Writer, err error) {
	reported := make(chan struct{})
	go func() {
		defer close(reported)
		report(stderr, calledAs(os.Args[0]), err)
	}()
	select {
	case <-reported:
	case <-ctx.Done():
		await(reported, exitTime)
	}
}
