package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"sundry/proxy/site/i18n"
)

// exitTime is how long the process may still run after a second signal.
const exitTime = time.Second

// interrupts makes contexts of the signals to stop: the first signal ends ctx,
// which asks for an orderly stop, the second ends urgent, which asks to stop at
// once. A command that does not stop within exitTime is ended by exit.
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
		case <-time.After(exitTime):
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

// reportUntil prints an error. Once the command is asked to stop, it does not wait for a
// reader for longer than exitTime.
func reportUntil(ctx context.Context, stderr io.Writer, in i18n.Language, err error) {
	reported := make(chan struct{})
	go func() {
		defer close(reported)
		report(stderr, calledAs(os.Args[0]), in, err)
	}()
	select {
	case <-reported:
	case <-ctx.Done():
		select {
		case <-reported:
		case <-time.After(exitTime):
		}
	}
}
