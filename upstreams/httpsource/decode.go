package httpsource

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"sundry/upstreams"
	"sundry/upstreams/sharelink"
)

// charset finds a declared encoding; nil with ok for UTF-8.
func charset(name string) (e encoding.Encoding, ok bool) {
	switch name {
	case "", "utf-8":
		return nil, true
	case "gbk":
		return simplifiedchinese.GBK, true
	case "gb18030":
		return simplifiedchinese.GB18030, true
	case "big5":
		return traditionalchinese.Big5, true
	}
	return nil, false
}

// toUTF8 decodes bytes that are not UTF-8 already, and drops a byte order
// mark. What the upstream's header says about its charset is often wrong.
func toUTF8(b []byte, e encoding.Encoding) ([]byte, error) {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if e == nil {
		if !utf8.Valid(b) {
			return nil, errors.New("body is not UTF-8, and no charset is declared")
		}
		return b, nil
	}
	if utf8.Valid(b) && !isASCII(b) {
		return b, nil
	}
	out, err := e.NewDecoder().Bytes(b)
	if err != nil {
		return nil, fmt.Errorf("decode body: %w", err)
	}
	return out, nil
}

// EncodeCharset turns UTF-8 into a declared charset, for replies that are
// recorded in UTF-8 but were sent otherwise.
func EncodeCharset(b []byte, name string) ([]byte, error) {
	e, ok := charset(name)
	if !ok {
		return nil, fmt.Errorf("charset %q: want utf-8, gbk, gb18030 or big5", name)
	}
	if e == nil {
		return b, nil
	}
	return e.NewEncoder().Bytes(b)
}

func isASCII(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c >= utf8.RuneSelf })
}

// DecodeJSON reads one value and keeps numbers exact.
func DecodeJSON(b []byte) (any, error) {
	if err := checkBounds(b); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("body as JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("body as JSON: more follows the value")
	}
	return v, nil
}

// decodeWrapped reads the one JSON value inside JSONP or a script: from the
// first brace or bracket to the value's end.
func decodeWrapped(b []byte) (any, error) {
	at := bytes.IndexAny(b, "{[")
	if at < 0 {
		return nil, errors.New("body as JSONP: no object or array in it")
	}
	d := json.NewDecoder(bytes.NewReader(b[at:]))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("body as JSONP: %w", err)
	}
	return v, nil
}

// Sniff verifies that bytes are a picture and tells its type by its magic
// bytes. SVG is no picture here: it can carry scripts.
func Sniff(b []byte) (*upstreams.Blob, error) {
	typ := http.DetectContentType(b)
	switch typ {
	case "image/jpeg", "image/png", "image/gif", "image/webp", "image/bmp", "image/x-icon":
		return &upstreams.Blob{Type: typ, Bytes: b}, nil
	}
	return nil, fmt.Errorf("body is no picture (looks like %s, %d bytes)", typ, len(b))
}

// readCapped reads at most max bytes. The cap is on what comes out of
// decompression, so a small bomb does not grow here.
func readCapped(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, &upstreams.Error{Kind: upstreams.Unavailable, Err: fmt.Errorf("answer was cut off: %w", err)}
	case err != nil:
		return nil, err
	case int64(len(b)) > limit:
		return nil, &upstreams.Error{Kind: upstreams.Malformed, Err: fmt.Errorf("%w of %d bytes", upstreams.ErrTooLarge, limit)}
	}
	return b, nil
}

// scriptDecoder reads the object that a page's script assigns to the marker, as
// in window.__INITIAL_STATE__={...}.
func scriptDecoder(marker string) func([]byte) (any, error) {
	return func(page []byte) (any, error) {
		object, err := sharelink.InitState(page, marker)
		if err != nil {
			return nil, err
		}
		return DecodeJSON(object)
	}
}
