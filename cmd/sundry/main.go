// Sundry serves public, read-only utility endpoints from cached upstreams.
package main

import (
	"fmt"
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
		err = execute(&process{ctx: ctx, urgent: urgent, getenv: getenv, variables: ownVariables(environ), stdout: stdout, stderr: stderr}, args)
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "sundry:", err)
		return 1
	}
	return 0
}
