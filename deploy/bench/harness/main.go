//go:build linux

package harness

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Main runs a benchmark with the arguments of this process until it ends or a signal asks
// for that, so that what it has started ends too. It returns the status to exit with, after
// it has said under the benchmark's name what went wrong.
func Main(name string, run func(ctx context.Context, args []string, out, messages io.Writer) error) (status int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err == nil {
		return 0
	}
	if !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, name+":", err)
	}
	return 1
}
