// Package webpage reads the responses of arbitrary sites, as leniently as
// browsers do, and never more of them than its caller allows.
package webpage

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// Doer sends one request, and does not follow redirects: its user does. An *http.Client
// is one whose CheckRedirect returns http.ErrUseLastResponse; it fails on a Location that is
// not a URL.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// IsRedirect reports whether a status is one whose Location is to be followed
// (RFC 9110, section 15.4).
func IsRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// Cause is the reason why a request failed, without the URL that net/http adds:
// it may contain a token. Other errors are returned unchanged.
func Cause(err error) error {
	if withURL, ok := errors.AsType[*url.Error](err); ok {
		return withURL.Err
	}
	return err
}

// Gunzip decompresses gzip, which some servers send without being asked and
// without Content-Encoding; no picture and no page begins with its magic number.
// At most limit bytes are read, compressed and decompressed. An error is that of
// the first read, or of a broken gzip header.
func Gunzip(r io.Reader, limit int64) (io.Reader, error) {
	raw := bufio.NewReader(io.LimitReader(r, limit))
	magic, err := raw.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return raw, nil
	}
	z, err := gzip.NewReader(raw)
	if err != nil {
		return nil, fmt.Errorf("decompress gzip: %w", err)
	}
	return io.LimitReader(z, limit), nil
}

// Attributes returns the attributes of the current tag of z, after TagName
// reported whether there are more: with white space trimmed, the first of a name.
func Attributes(z *html.Tokenizer, more bool) map[string]string {
	all := map[string]string{}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if _, ok := all[string(key)]; !ok {
			all[string(key)] = strings.TrimSpace(string(value))
		}
	}
	return all
}
