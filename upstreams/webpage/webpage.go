// Package webpage reads what sites of strangers answer, as leniently as
// browsers do, and never more of it than its caller allows.
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

// Redirects tells the statuses whose Location is to be followed (RFC 9110,
// section 15.4).
func Redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// Cause is why an exchange did not come about, without the URL that net/http
// repeats: it may hold a token. Other errors stay as they are.
func Cause(err error) error {
	if withURL, ok := errors.AsType[*url.Error](err); ok {
		return withURL.Err
	}
	return err
}

// Inflated undoes gzip, which some servers send unasked and unannounced; no
// picture and no page begins like it. Of either form at most limit bytes are
// read. An error is that of the first read, or of a broken gzip header.
func Inflated(r io.Reader, limit int64) (io.Reader, error) {
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
		return nil, fmt.Errorf("undo gzip: %w", err)
	}
	return io.LimitReader(z, limit), nil
}

// Attributes of the tag that z is at, after TagName told whether there are
// more: without the white space around, the first of a name.
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
