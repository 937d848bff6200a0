package pages

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"sundry/cache"
)

// Document is a page ready to be sent, with its compressed forms.
type Document struct {
	Type string // its Content-Type
	ETag string // a weak one: it is the same for all codings
	// CSP is the Content-Security-Policy of a page for browsers, else "".
	CSP    string
	bodies map[cache.Coding][]byte
}

const (
	typeHTML = "text/html; charset=utf-8"
	typeJSON = "application/json; charset=utf-8"
)

// pageCSP allows what the templates use: styles of their own, no script.
const pageCSP = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'"

func newDocument(typ string, body []byte) (*Document, error) {
	sum := sha256.Sum256(body)
	d := &Document{Type: typ, ETag: `W/"` + hex.EncodeToString(sum[:10]) + `"`, bodies: map[cache.Coding][]byte{cache.Identity: body}}
	if typ == typeHTML {
		d.CSP = pageCSP
	}
	var compressed bytes.Buffer
	z, err := gzip.NewWriterLevel(&compressed, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	_, _ = z.Write(body) // a Buffer takes everything
	_ = z.Close()
	d.bodies[cache.Gzip] = compressed.Bytes()
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	d.bodies[cache.Zstd] = enc.EncodeAll(body, nil)
	return d, enc.Close()
}

// Body returns the body in the best of the accepted codings.
func (d *Document) Body(accepted cache.Codings) ([]byte, cache.Coding) {
	for _, c := range []cache.Coding{cache.Zstd, cache.Gzip} {
		if accepted.Has(c) && len(d.bodies[c]) < len(d.bodies[cache.Identity]) {
			return d.bodies[c], c
		}
	}
	return d.bodies[cache.Identity], cache.Identity
}
