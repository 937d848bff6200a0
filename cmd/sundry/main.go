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
	err := run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sundry:", err)
		os.Exit(1)
	}
}
