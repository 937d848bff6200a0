// Sundry serves public, read-only utility endpoints from cached upstreams.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // calendars need zones, and small images have none
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	getenv, err := secretFiles(os.Environ())
	if err == nil {
		err = run(ctx, os.Args[1:], getenv, os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sundry:", err)
		os.Exit(1)
	}
}
