package main

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"sundry/cache/jitter"
	"sundry/cache/web"
	"sundry/metrics/panics"
	"sundry/proxy/logmarks"
)

const (
	// marksWait bounds how long a start waits for the secret of the marks in Redis, and
	// marksPause is the time between two later tries, about. Until one succeeds, this instance does not find the variants that
	// others have stored of APIs.
	marksWait  = 500 * time.Millisecond
	marksPause = time.Second
	// passwordRounds make it slow to guess the password of Redis by a digest.
	passwordRounds = 200_000
)

// startMarks has the log mark with the secret that is kept: in Redis, or in the data
// directory. Where nothing is kept, marks are others after each start. While Redis cannot be read, the copy in the file counts. The digests of request
// fields are made with a key that is derived from the same secret.
func (s *server) startMarks(ctx context.Context, loops *sync.WaitGroup) {
	file := s.config.InData("marks")
	switch {
	case s.far != nil:
		first, cancel := context.WithTimeout(ctx, marksWait)
		defer cancel()
		if !s.markByFleet(first) {
			if secret, err := logmarks.OfCopy(file); err == nil { // which is most probably that of the fleet
				s.mark(secret, nil)
			}
			loops.Go(s.panics.Loop(ctx, panics.Settings, s.markByFleetAtLast))
		}
	case file != "":
		s.mark(logmarks.OfFile(file))
	}
}

func (s *server) markByFleetAtLast(ctx context.Context) {
	for jitter.Pause(ctx, marksPause, 0.2) == nil && !s.markByFleet(ctx) {
	}
}

// markByFleet reports whether there is no use in trying again.
func (s *server) markByFleet(ctx context.Context) bool {
	secret, err := logmarks.OfFleet(ctx, s.far, s.config.InData("marks"))
	if err != nil && !errors.Is(err, logmarks.ErrDamaged) {
		return false
	}
	s.mark(secret, err)
	return true
}

func (s *server) mark(secret logmarks.Secret, err error) {
	password := ""
	if s.far != nil {
		password = s.far.Password()
	}
	var key [web.KeyBytes]byte
	if err == nil {
		key, err = digestKey(secret, password)
	}
	if err != nil {
		s.log.Warn("marks in the log, and digests of request fields, are for this process alone", "error", err)
		return
	}
	s.front.MarkWith(secret)
	s.store.DigestWith(key)
}

// digestKey derives the key of digests. A client of Redis that has the secret, but not the password of the service, cannot test guesses
// of what digests stand for.
func digestKey(secret logmarks.Secret, password string) (key [web.KeyBytes]byte, err error) {
	rounds := 1
	if password != "" {
		rounds = passwordRounds
	}
	b, err := pbkdf2.Key(sha256.New, password, append([]byte("digests of request fields "), secret[:]...), rounds, len(key))
	if err != nil {
		return key, fmt.Errorf("key of digests: %w", err)
	}
	return [web.KeyBytes]byte(b), nil
}
