// Package logmarks keeps the secret that the marks of keys in the log are made with. It promises
// that the lines before a restart, and those of the other instances, are about the same keys.
package logmarks

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"sundry/cache/durable"
	"sundry/cache/far"
	"sundry/proxy"
)

// Secret is what marks are made with.
type Secret = [proxy.MarkSecretBytes]byte

// ErrDamaged is returned for a secret that is none, and is left as it is.
var ErrDamaged = fmt.Errorf("expected a secret of %d hexadecimal digits", 2*proxy.MarkSecretBytes)

// OfFleet returns the secret that the first instance has written to Redis, and keeps a copy in a file, from which it comes if Redis has
// lost it; "" for no file.
func OfFleet(ctx context.Context, tier *far.Tier, file string) (Secret, error) {
	shared := tier.SharedValue("marks")
	text, err := shared.Load(ctx)
	if err == nil && text == nil {
		if _, err = shared.CompareAndSwap(ctx, nil, copied(file)); err == nil {
			text, err = shared.Load(ctx) // another instance may have been faster
		}
	}
	if err != nil {
		return Secret{}, err
	}
	secret, err := parse(text)
	if err != nil {
		return secret, fmt.Errorf("marks in Redis: %w; remove it", err)
	}
	if file != "" && !bytes.Equal(copied(file), text) {
		err = durable.WriteFile(file, text)
	}
	return secret, err
}

// copied returns the secret of a file, or else a new one, as text.
func copied(file string) []byte {
	secret, err := OfCopy(file)
	if err != nil {
		secret = proxy.RandomSecret()
	}
	return textOf(secret)
}

// OfCopy returns the secret that OfFleet has last copied to a file.
func OfCopy(file string) (Secret, error) {
	text, err := durable.ReadFile(file, maxFile)
	if err != nil {
		return Secret{}, err
	}
	return parse(text)
}

// maxFile is the size in bytes of the largest file that is read, which says of a longer text that it is no secret.
const maxFile = 1 << 10

// OfFile returns the secret in a file, which is written unless it is there.
func OfFile(file string) (Secret, error) {
	secret, err := OfCopy(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		secret = proxy.RandomSecret()
		err = durable.WriteFile(file, textOf(secret))
	case errors.Is(err, ErrDamaged):
		err = fmt.Errorf("%s: %w; remove the file", file, err)
	}
	return secret, err
}

func textOf(secret Secret) []byte { return hex.AppendEncode(nil, secret[:]) }

func parse(text []byte) (secret Secret, err error) {
	if len(text) != hex.EncodedLen(len(secret)) {
		return secret, ErrDamaged
	}
	if _, err := hex.Decode(secret[:], text); err != nil {
		return Secret{}, ErrDamaged
	}
	return secret, nil
}
