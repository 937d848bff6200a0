package through

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/net/http/httpguts"
)

// leastCompressed is the size in bytes of the smallest body that is compressed. Smaller ones do not shrink.
const leastCompressed = 256

// compress compresses the body of a compressible response with gzip if that is one of the codings that the client accepts. In either case, it
// adds Accept-Encoding to Vary. A strong ETag becomes weak, because the bytes differ (RFC 9110, section 8.8.1).
func compress(resp *http.Response, method, codings string) {
	if !isCompressible(resp) {
		return
	}
	h := resp.Header
	if !httpguts.HeaderValuesContainsToken(h["Vary"], "Accept-Encoding") {
		h["Vary"] = append(slices.Clip(h["Vary"]), "Accept-Encoding")
	}
	if !strings.Contains(codings, "gzip") {
		return
	}
	for _, name := range [...]string{"Content-Length", "Accept-Ranges", "Content-Md5", "Digest", "Content-Digest", "Repr-Digest"} {
		delete(h, name) // of the uncompressed bytes
	}
	h["Content-Encoding"] = []string{"gzip"}
	if tag := h.Get("Etag"); strings.HasPrefix(tag, `"`) {
		h["Etag"] = []string{"W/" + tag}
	}
	if method != http.MethodHead {
		resp.Body = newCompressed(resp.Body, resp.ContentLength)
	}
	resp.ContentLength = -1
}

// expectedLength returns the length that a body has, about: half of it as a rule where it is compressed; -1 means that it is not known.
func expectedLength(resp *http.Response) int64 {
	if c, ok := resp.Body.(*compressed); ok && c.length > 0 {
		return c.length / 2
	}
	return resp.ContentLength
}

// isCompressible reports whether a response has an uncompressed body of a type that shrinks. Event streams are not: each event is small.
func isCompressible(resp *http.Response) bool {
	h := resp.Header
	switch status := resp.StatusCode; {
	case status < http.StatusOK, status == http.StatusNoContent, status == http.StatusPartialContent, status == http.StatusNotModified:
		return false
	case h["Content-Encoding"] != nil, h["Content-Range"] != nil, resp.ContentLength >= 0 && resp.ContentLength < leastCompressed:
		return false
	case httpguts.HeaderValuesContainsToken(h["Cache-Control"], "no-transform"):
		return false
	}
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	switch {
	case err != nil, kind == "text/event-stream":
		return false
	case strings.HasPrefix(kind, "text/"), strings.HasSuffix(kind, "+json"), strings.HasSuffix(kind, "+xml"):
		return true
	}
	return slices.Contains([]string{
		"application/json", "application/javascript", "application/xml", "application/x-ndjson", "application/wasm", "application/vnd.ms-fontobject", "font/ttf", "font/otf", "image/bmp", "image/x-icon",
	}, kind)
}

// compressed is a body that is compressed while it is read. Bytes that have arrived are passed on before Read waits for more. The compression
// keeps no state in memory meanwhile, so a slow client takes no more memory than without it.
type compressed struct {
	io.ReadCloser       // uncompressed
	length        int64 // of it; -1 means that it is not known
	writer        *gzip.Writer
	out           bytes.Buffer
	chunk         []byte
	err           error
}

func newCompressed(body io.ReadCloser, length int64) *compressed {
	c := &compressed{ReadCloser: body, length: length}
	c.writer, _ = gzip.NewWriterLevel(&c.out, gzip.StatelessCompression) // fails only for an unknown level
	return c
}

// Read implements io.Reader.
func (c *compressed) Read(p []byte) (int, error) {
	for c.out.Len() == 0 && c.err == nil {
		c.fill()
	}
	if c.out.Len() == 0 {
		return 0, c.err
	}
	return c.out.Read(p)
}

// fill reads once from the body, and compresses what it gets. Writing to a buffer cannot fail.
func (c *compressed) fill() {
	if c.chunk == nil {
		c.chunk = make([]byte, 32<<10)
	}
	var n int
	n, c.err = c.ReadCloser.Read(c.chunk)
	if n > 0 {
		_, _ = c.writer.Write(c.chunk[:n])
	}
	if errors.Is(c.err, io.EOF) {
		_ = c.writer.Close()
	}
}
