package pages

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/klauspost/compress/zstd"

	"sundry/cache/entry"
)

// Document is a page or file ready to be sent.
type Document struct {
	Type string // its Content-Type
	ETag string // a weak one: it is the same for all codings
	// CSP is the Content-Security-Policy of what browsers show, else "".
	CSP string
	// Immutable: what is at this path never changes, so that nobody has to ask again.
	Immutable bool
	// Passing: what is at this path changes within the minute.
	Passing bool
	body    []byte
	// compressed makes the body in a coding, once.
	compressed map[entry.Coding]func() []byte
}

const (
	typeHTML = "text/html; charset=utf-8"
	typeJSON = "application/json; charset=utf-8"
	typeText = "text/plain; charset=utf-8"
)

// pageCSP allows what the pages use, all of it of this service itself: the script, the
// style sheet, pictures (also such as the script holds: blob), calls of endpoints, and
// forms that call them.
const pageCSP = commonCSP + "form-action 'self'"

const commonCSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; "

// redirectingCSP is that of a page whose form calls an endpoint that may redirect to other
// sites: browsers hold the redirect, too, against form-action.
const redirectingCSP = commonCSP + "form-action 'self' https: http:"

// pictureCSP is for pictures that could hold a script.
const pictureCSP = "default-src 'none'"

// newDocument makes a document that is kept: it is compressed as far as possible, in each
// coding when somebody first accepts it. A reload makes many that nobody asks for, and a
// compressor costs more than all the rest of a page.
func newDocument(typ string, body []byte) *Document {
	d := newPlain(typ, body)
	d.compressed = map[entry.Coding]func() []byte{
		entry.Gzip: sync.OnceValue(func() []byte { return gzipped(body, gzip.BestCompression) }),
		entry.Zstd: sync.OnceValue(func() []byte { return zstandard(body) }),
	}
	return d
}

// newPassing makes a document that is shown for some seconds only. It is compressed in
// one coding, and in little time.
func newPassing(typ string, body []byte) *Document {
	d := newPlain(typ, body)
	d.Passing = true
	d.compressed = map[entry.Coding]func() []byte{
		entry.Gzip: sync.OnceValue(func() []byte { return gzipped(body, gzip.DefaultCompression) }),
	}
	return d
}

// newPlain makes a document without codings, which take time to make.
func newPlain(typ string, body []byte) *Document {
	d := &Document{Type: typ, ETag: `W/"` + hashOf(body) + `"`, body: body}
	switch typ {
	case typeHTML:
		d.CSP = pageCSP
	case typeSVG:
		d.CSP = pictureCSP
	}
	return d
}

// gzipped is the body in gzip.
func gzipped(body []byte, level int) []byte {
	var compressed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&compressed, level) // a constant of package gzip
	_, _ = z.Write(body)                            // a Buffer takes everything
	_ = z.Close()
	return compressed.Bytes()
}

// zstandard is the body in zstd.
func zstandard(body []byte) []byte {
	enc, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBestCompression)) // sound options
	defer func() { _ = enc.Close() }()                                                                              // it has written nothing
	return enc.EncodeAll(body, nil)
}

// hashOf names a content, in 20 hexadecimal digits.
func hashOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:10])
}

// Body returns the body in the best of the accepted codings that makes it shorter.
func (d *Document) Body(accepted entry.Codings) ([]byte, entry.Coding) {
	for _, c := range []entry.Coding{entry.Zstd, entry.Gzip} {
		if of := d.compressed[c]; of != nil && accepted.Has(c) {
			if body := of(); len(body) < len(d.body) {
				return body, c
			}
		}
	}
	return d.body, entry.Identity
}
