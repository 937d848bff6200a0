package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// bench is one run.
type bench struct {
	rounds, seconds int // seconds of each measurement
	rows            []*row
	ctx             context.Context //nolint:containedctx // it is that of the program
	dir             string          // of settings and logs
	transport       *http.Transport // of the bench's own questions
	servers         map[string]*server
	results         results
	item            int // the last that was asked for
}

// setUp makes a directory for the run, and builds Sundry.
func (b *bench) setUp(ctx context.Context) (err error) {
	b.ctx = ctx
	if b.dir, err = os.MkdirTemp("", "sundry-bench-"); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", b.file(sundryProgram), "sundry/cmd/sundry") //nolint:gosec // it
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building sundry: %w: %s", err, out)
	}
	for name, spec := range specs() {
		b.servers[name] = &server{spec: spec, name: name}
	}
	return errors.Join(os.CopyFS(b.dir, files), b.writeLarge(), b.writePair())
}

// writeLarge makes what the upstream has in files.
func (b *bench) writeLarge() error {
	if err := os.MkdirAll(b.file(largePath), 0o755); err != nil { //nolint:gosec // nginx may be another user
		return err
	}
	var all []error
	for _, size := range []int{100_000, 1_000_000} {
		text := bytes.Repeat([]byte("0 7919 15"), size/9+1)[:size]
		all = append(all, os.WriteFile(b.file(largePath+fmt.Sprint(size)), text, 0o644)) //nolint:gosec // as above
	}
	return errors.Join(all...)
}

// writePair writes a certificate that nobody trusts, and its key.
func (b *bench) writePair() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().AddDate(0, 0, 1)}
	cert, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(b.file("cert.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600),  //nolint:gosec // in a directory of its own
		os.WriteFile(b.file("key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600), //nolint:gosec // as above
	)
}

// stop ends all servers.
func (b *bench) stop() {
	for _, s := range b.servers {
		s.stop()
	}
}

func (b *bench) file(name string) string { return filepath.Join(b.dir, name) }

// span is how long a measurement takes.
func (b *bench) span() time.Duration { return time.Duration(b.seconds) * time.Second }

// measure gets ready what the rows need, and goes through the rounds.
func (b *bench) measure(ctx context.Context) error {
	if err := b.setUp(ctx); err != nil {
		return err
	}
	for _, r := range b.rows {
		if err := b.prepare(r); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	for round := range b.rounds {
		for _, r := range b.rows {
			if err := b.round(r, round); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	return nil
}

// attempts are how often a measurement may fail before the run does. A busy machine
// makes requests time out; whatever the reason, only one that passes its checks counts.
const attempts = 3

// round measures each server of a row, every time beginning with another, or all at once.
func (b *bench) round(r *row, round int) error {
	if r.once != nil && round == 0 {
		return r.once(b, r)
	}
	for i := range r.servers {
		s := b.servers[r.servers[(i+round)%len(r.servers)]]
		var err error
		for range attempts {
			if err = r.each(b, r, s); err == nil {
				break
			}
			log.Printf("%-12s %-14s does not count: %v", r.name, s.name, err) //nolint:gosec // names of this program
		}
		if err = errors.Join(err, b.ctx.Err()); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// note keeps a figure.
func (b *bench) note(row, column string, v float64) {
	b.results[figure{row, column}] = append(b.results[figure{row, column}], v)
	log.Printf("%-28s %-14s %8.2f", row, column, v) //nolint:gosec // names of this program
}

// cost measures the CPU of one request, in µs.
func cost(b *bench, r *row, s *server) error {
	done, used, err := b.during(r.counted, []*server{s}, func() (outcome, error) { return b.load(r, s, r.paths(b, s)) })
	if err = errors.Join(err, r.check(s, done, used)); err != nil {
		return err
	}
	b.note(r.name, s.column, used.cpu/float64(done.answers))
	return nil
}
