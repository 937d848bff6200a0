// Sundry serves public, read-only utility endpoints from cached upstreams.
package main

import (
	"io"
	"log"
	"os"
	_ "time/tzdata" // calendars need zones, and small images have none

	"sundry/cmd/sundry/internal/config"
)

func main() {
	log.SetOutput(io.Discard) // net/http writes there the bytes of origins that no request has asked for
	os.Exit(program(os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// program runs the command and returns the exit status, with which main ends the
// process.
func program(args, environ []string, stdout, stderr io.Writer) int {
	ctx, urgent, stop := interrupts(os.Exit)
	defer stop()
	getenv, err := config.Secrets(environ)
	w := (&process{program: os.Args[0], ctx: ctx, urgent: urgent, getenv: getenv, variables: config.OwnVariables(environ), stdin: os.Stdin, stdout: stdout, stderr: stderr}).onScreens()
	log.SetOutput(w.stderr)
	if err == nil {
		err = execute(w, args)
	}
	if err != nil {
		reportUntil(ctx, w.errorsOut(), languageOf(getenv), err)
	}
	return statusOf(err)
}
