package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"sundry/cache/durable"
	"sundry/cache/jitter"
	"sundry/metrics/panics"
	"sundry/proxy"
)

const (
	// marksWait bounds how long a start waits for the secret of the marks in Redis, and
	// marksPause is the time between two later tries, about.
	marksWait   = 500 * time.Millisecond
	marksPause  = 10 * time.Second
	marksSpread = 0.2
)

// markSecret is what the marks in the log are made with. It outlives the process, so that
// the lines before a restart, and those of the other instances, are about the same keys.
type markSecret = [proxy.MarkSecretBytes]byte

// startMarks has the log mark with the secret that is kept: in Redis, or beside the state or
// the snapshot. Where nothing is kept, marks are others after each start.
func (s *server) startMarks(ctx context.Context, loops *sync.WaitGroup) {
	beside := cmp.Or(s.config.Cache.Snapshot, s.config.State)
	switch {
	case s.far != nil:
		first, cancel := context.WithTimeout(ctx, marksWait)
		defer cancel()
		if s.markByFleet(first) != nil {
			loops.Go(s.panics.Loop(ctx, panics.Settings, s.markByFleetAtLast))
		}
	case beside != "":
		if err := s.markByFile(beside + ".marks"); err != nil {
			s.log.Warn("marks in the log are for this process alone", "error", err)
		}
	}
}

func (s *server) markByFleetAtLast(ctx context.Context) {
	for jitter.Pause(ctx, marksPause, marksSpread) == nil && s.markByFleet(ctx) != nil {
	}
}

// markByFleet takes the secret that the first instance has written.
func (s *server) markByFleet(ctx context.Context) error {
	shared := s.far.SharedValue("marks")
	text, err := shared.Load(ctx)
	if err == nil && text == nil {
		if _, err = shared.Swap(ctx, nil, newMarkSecret()); err == nil {
			text, err = shared.Load(ctx) // another instance may have been faster
		}
	}
	if err != nil {
		return err
	}
	secret, err := readMarkSecret(text)
	if err != nil {
		s.log.Warn("marks in the log are for this process alone", "error", fmt.Errorf("marks in Redis: %w; remove it", err))
		return nil
	}
	s.front.MarkWith(secret)
	return nil
}

// markByFile takes the secret in a file, which is written unless it is there.
func (s *server) markByFile(file string) error {
	text, err := os.ReadFile(file) //nolint:gosec // beside one that the operator names
	if errors.Is(err, fs.ErrNotExist) {
		text = newMarkSecret()
		err = durable.WriteFile(file, text)
	}
	if err != nil {
		return err
	}
	secret, err := readMarkSecret(text)
	if err != nil {
		return fmt.Errorf("%s: %w; remove the file", file, err)
	}
	s.front.MarkWith(secret)
	return nil
}

func newMarkSecret() []byte {
	secret := proxy.RandomSecret()
	return hex.AppendEncode(nil, secret[:])
}

var errSecret = fmt.Errorf("expected a secret of %d hexadecimal digits", 2*proxy.MarkSecretBytes)

func readMarkSecret(text []byte) (secret markSecret, err error) {
	if len(text) != hex.EncodedLen(len(secret)) {
		return secret, errSecret
	}
	if _, err := hex.Decode(secret[:], text); err != nil {
		return markSecret{}, errSecret
	}
	return secret, nil
}
