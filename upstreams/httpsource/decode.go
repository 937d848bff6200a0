package httpsource

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/encoding"

	"sundry/metrics/words"
	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/lib/charsets"
	"sundry/upstreams/lib/pixels"
	"sundry/upstreams/lib/plainjson"
	"sundry/upstreams/lib/sharelink"
)

// charset returns a declared encoding; nil, and ok, for UTF-8.
func charset(name string) (e encoding.Encoding, ok bool) {
	switch name {
	case "", "utf-8":
		return nil, true
	case "gbk", "gb2312", "gb18030", "big5":
		e, _, ok = charsets.Of(name)
		return e, ok
	}
	return nil, false
}

// toUTF8 decodes a body that is not UTF-8 already, and removes a byte order mark.
// The header's charset is ignored, because upstreams often send a wrong one.
func toUTF8(b []byte, e encoding.Encoding) ([]byte, error) {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if e == nil {
		if !utf8.Valid(b) {
			return nil, words.NewError("body is not UTF-8, and no charset is declared", "正文不是 UTF-8 编码，也没有声明 charset")
		}
		return b, nil
	}
	if utf8.Valid(b) && !isASCII(b) {
		return b, nil
	}
	out, err := e.NewDecoder().Bytes(b)
	if err != nil {
		return nil, fmt.Errorf("body in the declared charset: %w", err)
	}
	return out, nil
}

// EncodeCharset converts UTF-8 to a declared charset (utf-8, gbk, gb18030 or big5;
// "" means utf-8), for replies that are recorded in UTF-8. Another charset, or a
// character that the charset lacks, is an error.
func EncodeCharset(b []byte, name string) ([]byte, error) {
	e, ok := charset(name)
	if !ok {
		return nil, words.Errorf("charset: expected utf-8, gbk, gb18030 or big5, got %q", "charset: 应为 utf-8、gbk、gb18030 或 big5，而不是%q", name)
	}
	if e == nil {
		return b, nil
	}
	out, err := e.NewEncoder().Bytes(b)
	if err != nil {
		return nil, words.Translated(err, "有 "+name+" 编码没有的字符")
	}
	return out, nil
}

func isASCII(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c >= utf8.RuneSelf })
}

// DecodeJSON decodes one JSON value. Numbers are kept exact, as json.Number. It is
// an error if anything follows the value, or if the text is nested more deeply or
// has more values than any real reply.
func DecodeJSON(b []byte) (any, error) {
	if len(b) <= maxValues { // so many bytes have no more values
		if v, ok := plainjson.Decode(b, maxDepth); ok {
			return v, nil
		}
	}
	if err := checkBounds(b); err != nil {
		return nil, err
	}
	v, d, err := decodeFirst(b)
	if errors.Is(err, io.EOF) {
		return nil, words.NewError("body as JSON: it is empty", "正文是空的")
	}
	if err != nil {
		return nil, notJSON(fmt.Errorf("body as JSON: %w", err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, notJSON(errors.New("body as JSON: there is more text after the value"))
	}
	return v, nil
}

func notJSON(cause error) error { return words.Because(cause, "body is not JSON", "正文不是 JSON") }

// decodeFirst decodes the first value of a text with encoding/json, and returns the decoder.
func decodeFirst(b []byte) (v any, d *json.Decoder, err error) {
	d = json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	err = d.Decode(&v)
	return v, d, err
}

// decodeJSONP decodes the JSON value inside JSONP or a script, from the first brace
// or bracket to the end of the value.
func decodeJSONP(b []byte) (any, error) {
	start := bytes.IndexAny(b, "{[")
	if start < 0 {
		return nil, notJSON(errors.New("body as JSONP: it contains no object or array"))
	}
	if v, ok := plainjson.DecodeFirst(b[start:], maxDepth); ok {
		return v, nil
	}
	v, _, err := decodeFirst(b[start:])
	if err != nil {
		return nil, notJSON(fmt.Errorf("body as JSONP: %w", err))
	}
	return v, nil
}

// Sniff verifies that bytes are a whole picture, and finds its type by its magic bytes.
// SVG is not accepted, because it can contain scripts.
func Sniff(b []byte) (*upstreams.Blob, error) {
	typ := http.DetectContentType(b)
	switch typ {
	case "image/jpeg", "image/png", "image/gif", "image/webp", "image/bmp", "image/x-icon":
		if err := pixels.Whole(typ, b); err != nil {
			return nil, err
		}
		return &upstreams.Blob{Type: typ, Bytes: b}, nil
	}
	return nil, words.Errorf("body is not a picture (it looks like %s, %d bytes)", "正文不是图片（像是 %s，%d 字节）", typ, len(b))
}

// FactsOf is what programs see of a picture: its type, its size in bytes, and its width
// and height, null where they are unknown.
func FactsOf(b *upstreams.Blob) map[string]any {
	facts := map[string]any{"type": b.Type, "size": len(b.Bytes), "width": nil, "height": nil}
	if width, height := pixels.Size(b.Bytes); width > 0 && height > 0 {
		facts["width"], facts["height"] = width, height
	}
	return facts
}

// readAtMost reads a body of at most limit bytes. A larger one is an error. The
// limit applies after decompression, which bounds decompression bombs. length is what
// the sender declares; it is believed for as much as is read at once.
func readAtMost(r io.Reader, length, limit int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(min(max(length, 0), limit, readChunk)) + bytes.MinRead) // which ReadFrom wants to be free at the end, too
	_, err := b.ReadFrom(&io.LimitedReader{R: r, N: limit + 1})
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, &upstreams.Error{Kind: upstreams.Unavailable, Err: words.Because(fmt.Errorf("reply was cut off: %w", err), "reply was cut off", "回复不完整，连接中断")}
	case err != nil:
		return nil, err
	case int64(b.Len()) > limit:
		return nil, &upstreams.Error{Kind: upstreams.Malformed, Err: fmt.Errorf("%w of %d bytes", upstreams.ErrTooLarge, limit)}
	}
	return b.Bytes(), nil
}

// scriptDecoder decodes the object that a script of a page assigns to the marker,
// as in window.__INITIAL_STATE__={...}, or that the script element of the marker
// contains.
func scriptDecoder(marker string) func([]byte) (any, error) {
	return func(page []byte) (any, error) {
		object, err := sharelink.InitState(page, marker)
		if err != nil {
			return nil, err
		}
		return DecodeJSON(object)
	}
}

// decoder makes values of the bodies of replies.
type decoder struct {
	// text makes UTF-8 of a body. Nil: no charset is declared.
	text func(body []byte, declared encoding.Encoding) ([]byte, error)
	// value makes a value of a text that came from an address.
	value func(ctx context.Context, text []byte, from *url.URL) (any, error)
	// memory is what this and mapping the value take, in bytes.
	memory func(body []byte) int64
}

func (f *fetcher) compileDecoder(spec *Spec, problems *declare.Problems) {
	selections, zone := compileSelections(spec.Select, problems), compileZone(spec, problems)
	switch spec.Decode {
	case "", "json":
		f.decoder = plain(DecodeJSON)
	case "jsonp":
		f.decoder = plain(decodeJSONP)
	case "text":
		f.decoder = plain(func(b []byte) (any, error) { return string(b), nil })
	case "script":
		f.decoder = plain(scriptDecoder(spec.Marker))
	case "html":
		f.decoder = &decoder{toUTF8, (&document{parsePage, selections}).decode, memoryOfDocument}
	case "xml":
		f.decoder = &decoder{textOfXML, (&document{parseXML, selections}).decode, memoryOfDocument}
	case "feed":
		f.decoder = &decoder{textOfXML, feedIn(zone), memoryOfFeed}
	}
	if (spec.Decode == "script") != (spec.Marker != "") {
		problems.Add(spec.URL.Line, "marker: expected with decode: script, and only there, for example marker: window.__INITIAL_STATE__, got %q", spec.Marker)
	}
	if (spec.Decode == "html" || spec.Decode == "xml") != (len(spec.Select) > 0) {
		problems.Add(spec.URL.Line, "select: expected with decode: html or xml, and only there, for example select: {title: h1}")
	}
	f.charset, _ = charset(spec.Charset)
}

// plain is a decoder of texts without relative links.
func plain(value func([]byte) (any, error)) *decoder {
	return &decoder{
		text:   toUTF8,
		value:  func(_ context.Context, text []byte, _ *url.URL) (any, error) { return value(text) },
		memory: func(body []byte) int64 { return workingSet * measureJSON(body).memory },
	}
}

// memoryOfDocument is what selecting from a page or an XML document takes.
func memoryOfDocument(body []byte) int64 {
	return memoryOf(body) + workingSet*min(int64(len(body)), maxSelected)
}

// decode decodes the body of a reply that came from an address; that of a picture is nil.
func (f *fetcher) decode(ctx context.Context, body []byte, from *url.URL) (any, error) {
	if f.decoder == nil {
		return nil, nil
	}
	text, err := f.decoder.text(body, f.charset)
	if err != nil {
		return nil, err
	}
	return f.decoder.value(ctx, text, from)
}
