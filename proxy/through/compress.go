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

// leastCompressed is the size in bytes of the smallest body that is compressed: smaller ones gain nothing.
const leastCompressed = 256

// compress compresses the body of a response, where its type gains by that and the client accepts it by the codings, and says of all such
// responses that they vary by Accept-Encoding. A strong tag becomes weak: it is that of other bytes (RFC 9110, section 8.8.1).
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
		delete(h, name) // of the bytes as they were
	}
	h["Content-Encoding"] = []string{"gzip"}
	if tag := h.Get("Etag"); strings.HasPrefix(tag, `"`) {
		h["Etag"] = []string{"W/" + tag}
	}
	resp.ContentLength = -1
	if method != http.MethodHead {
		resp.Body = newCompressed(resp.Body)
	}
}

// isCompressible reports whether a response has a body that is not compressed yet and gains by it. Of streams of events each is small.
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

// compressed is a body that is compressed while it is read. What has come is passed on before more is waited for, and nothing of the
// compression stays in memory until then: a slow client takes no more of it than without.
type compressed struct {
	io.ReadCloser // as it is
	writer        *gzip.Writer
	out           bytes.Buffer
	chunk         []byte
	err           error
}

func newCompressed(body io.ReadCloser) *compressed {
	c := &compressed{ReadCloser: body}
	c.writer, _ = gzip.NewWriterLevel(&c.out, gzip.StatelessCompression) // a level that there is
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

// fill reads once from the body. A buffer takes all that is written.
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
