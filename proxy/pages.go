package proxy

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"sundry/cache"
)

// document is a page or a description: made once for a catalog, with what is
// sent in place of it to those who can decode that.
type document struct {
	typ  string
	tag  string // a weak one: it is the same for all codings
	data map[cache.Coding][]byte
}

// Content types of documents.
const (
	contentHTML = "text/html; charset=utf-8"
	contentJSON = "application/json; charset=utf-8"
	contentText = "text/plain; charset=utf-8"
)

func newDocument(typ string, body []byte) (*document, error) {
	sum := sha256.Sum256(body)
	d := &document{typ: typ, tag: `W/"` + hex.EncodeToString(sum[:10]) + `"`, data: map[cache.Coding][]byte{cache.Identity: body}}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	_, _ = z.Write(body) // a Buffer takes everything
	_ = z.Close()
	d.data[cache.Gzip] = packed.Bytes()
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	d.data[cache.Zstd] = enc.EncodeAll(body, nil)
	return d, enc.Close()
}

// best is the coding to send.
func (d *document) best(accepted cache.Codings) cache.Coding {
	for _, c := range []cache.Coding{cache.Zstd, cache.Gzip} {
		if accepted.Has(c) && len(d.data[c]) < len(d.data[cache.Identity]) {
			return c
		}
	}
	return cache.Identity
}

// made sends a document that may have to be made first.
func (s *Server) made(w http.ResponseWriter, r *http.Request, make func() (*document, error)) {
	if make == nil {
		s.refuse(w, r, notFound("there is no catalog yet"))
		return
	}
	d, err := make()
	if err != nil {
		s.cfg.Log.Error("make a page", "path", r.URL.Path, "error", err)
		s.refuse(w, r, &failure{status: http.StatusInternalServerError, kind: typeInternal, message: "this page cannot be made"})
		return
	}
	s.document(w, r, d)
}

// refuse sends a failure that is no endpoint's.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, f *failure) {
	s.fail(&exchange{w: w, r: r, id: requestID(r)}, outcomeError, f)
}

func (s *Server) document(w http.ResponseWriter, r *http.Request, d *document) {
	h := w.Header()
	s.common(h, requestID(r))
	h.Set("Cache-Control", "public, max-age=60")
	h["Vary"] = s.fixed.vary
	h.Set("Etag", d.tag)
	if matches(r.Header["If-None-Match"], d.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	coding := d.best(acceptedCodings(r.Header["Accept-Encoding"]))
	body := d.data[coding]
	if coding != cache.Identity {
		h.Set("Content-Encoding", coding.String())
	}
	if d.typ == contentHTML {
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'")
	}
	h.Set("Content-Type", d.typ)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a caller who left needs no page
	}
}

// common sets what every answer carries.
func (s *Server) common(h http.Header, id string) {
	h["X-Request-Id"], h["X-Content-Type-Options"] = []string{id}, s.fixed.nosniff
	h["Access-Control-Allow-Origin"] = s.fixed.anyone
}

func (s *Server) probe(w http.ResponseWriter, r *http.Request, ok bool) {
	h, status, word := w.Header(), http.StatusOK, "ok\n"
	if !ok {
		status, word = http.StatusServiceUnavailable, "draining\n"
	}
	s.common(h, requestID(r))
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", contentText)
	h.Set("Content-Length", strconv.Itoa(len(word)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write([]byte(word)) // as above
	}
}
