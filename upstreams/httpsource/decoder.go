package httpsource

import (
	"context"
	"net/url"

	"golang.org/x/text/encoding"

	"sundry/upstreams/declare"
)

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
	selections := compileSelections(spec.Select, problems)
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
		f.decoder = &decoder{textOfXML, decodeFeed, memoryOfFeed}
	case "image":
	default:
		problems.Add(spec.URL.Line, "decode: expected json, jsonp, html, xml, feed, script, text or image, got %q", spec.Decode)
	}
	if (spec.Decode == "script") != (spec.Marker != "") {
		problems.Add(spec.URL.Line, "marker: expected with decode: script, and only there, for example marker: window.__INITIAL_STATE__, got %q", spec.Marker)
	}
	if (spec.Decode == "html" || spec.Decode == "xml") != (len(spec.Select) > 0) {
		problems.Add(spec.URL.Line, "select: expected with decode: html or xml, and only there, for example select: {title: h1}")
	}
	var ok bool
	if f.charset, ok = charset(spec.Charset); !ok {
		problems.Add(spec.URL.Line, "charset: expected utf-8, gbk, gb18030 or big5, got %q", spec.Charset)
	}
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
