package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// haste is how long after a second signal the process may still run.
const haste = time.Second

// interrupts makes contexts of signals to end: the first one ends ctx, which
// asks for an orderly end, the second urgent, which asks for one at once. A
// command that does not heed that in time is ended by exit.
func interrupts(exit func(status int)) (ctx, urgent context.Context, stop func()) {
	ctx, orderly := context.WithCancel(context.Background())
	urgent, now := context.WithCancel(context.Background())
	signals, done := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for _, end := range []func(){orderly, now} {
			select {
			case <-signals:
				end()
			case <-done:
				return
			}
		}
		select {
		case <-time.After(haste):
			exit(1)
		case <-done:
		}
	}()
	return ctx, urgent, func() {
		signal.Stop(signals)
		close(done)
		orderly()
		now()
	}
}
