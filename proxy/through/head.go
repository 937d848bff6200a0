package through

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"

	"golang.org/x/net/http/httpguts"
)

var (
	// errFraming means that a response does not say, or says in two ways, where its body ends. Whoever reads it in another way takes
	// a part of it for another response (RFC 9112, section 6.3).
	errFraming = errors.New("the response header does not say in one way where the body ends")
	// errCoding means that the body has a coding that is not decoded here.
	errCoding = errors.New("the response has a transfer coding other than chunked")
	// errName means that the name of a response field is no token.
	errName = errors.New("the response header has a malformed field name")
)

// appendHead appends the header of a response to out, which may overlap, as net/http is to read it:
//
//   - without spaces between a name and its colon, which proxies must remove (RFC 9112, section 5.1);
//   - without Transfer-Encoding if it has unregistered codings alone. net/http refuses them (golang/go#29162); the body then ends with the
//     connection (RFC 9112, section 6.3);
//   - with Connection: close if the connection must end with the response.
//
// It fails if the end of the body is not certain. net/http refuses the other malformed headers, and joins folded lines (RFC 9112, section 5.2).
func appendHead(out, head []byte, last bool) ([]byte, error) {
	var f framing
	status := nextLine(&head)
	out = append(out, status...)
	if last {
		out = append(out, "Connection: close\r\n"...)
	}
	for len(head) > 0 {
		line := nextLine(&head)
		colon := bytes.IndexByte(line, ':')
		if colon < 0 || line[0] == ' ' || line[0] == '\t' { // folded, the end, or malformed
			if f.folds(line) {
				return out, errFraming
			}
			out = append(out, line...)
			continue
		}
		name := bytes.TrimRight(line[:colon], " \t")
		if bytes.IndexByte(name, ' ') >= 0 || len(name) == 0 {
			return out, errName
		}
		keep, err := f.field(name, line[colon+1:], len(name) < colon)
		if err != nil {
			return out, err
		}
		if keep {
			out = append(out, name...)
			out = append(out, line[colon:]...)
		}
	}
	return out, f.check(status)
}

// nextLine removes a line from the beginning of a header.
func nextLine(head *[]byte) []byte {
	n := bytes.IndexByte(*head, '\n') + 1
	line := (*head)[:n]
	*head = (*head)[n:]
	return line
}

// framing is the information of a header about the end of the body.
type framing struct {
	length, chunked, identity, unregistered bool // the fields and codings that it has
	latest                                  bool // the latest field is one of them
}

// folds reports whether a line continues a field of the framing.
func (f *framing) folds(line []byte) bool {
	return f.latest && (line[0] == ' ' || line[0] == '\t')
}

// field adds a field, and reports whether net/http is to read it.
func (f *framing) field(name, value []byte, spaced bool) (keep bool, err error) {
	length, coding := bytes.EqualFold(name, []byte("Content-Length")), bytes.EqualFold(name, []byte("Transfer-Encoding"))
	f.latest = length || coding
	switch {
	case f.latest && spaced:
		return false, errFraming
	case coding:
		return f.codings(value)
	case length:
		f.length = true
	}
	return true, nil
}

// codings adds the value of Transfer-Encoding.
func (f *framing) codings(value []byte) (keep bool, err error) {
	value = bytes.TrimSuffix(bytes.TrimSuffix(value, []byte("\n")), []byte("\r"))
	for member := range bytes.SplitSeq(value, []byte(",")) {
		coding, _, _ := bytes.Cut(member, []byte(";"))
		name := string(bytes.ToLower(bytes.Trim(coding, " \t")))
		switch name {
		case "chunked":
			keep, f.chunked = true, true
		case "gzip", "x-gzip", "deflate", "compress", "x-compress":
			return false, errCoding
		case "identity": // none; RFC 2616 had it
			f.identity = true
		default:
			if !httpguts.ValidHeaderFieldName(name) {
				return false, errFraming
			}
			f.unregistered = true
		}
	}
	return keep, nil
}

// check reports whether all fields together are contradictory. status is the first line of the header.
func (f *framing) check(status []byte) error {
	switch coded := f.chunked || f.unregistered; {
	case f.chunked && (f.identity || f.unregistered):
		return errCoding
	case coded && f.length, coded && !bytes.HasPrefix(status, []byte("HTTP/1.1 ")):
		return errFraming
	}
	return nil
}

// checkFraming refuses a response whose framing net/http does not check: that of HTTP/2, and of a response without a body. It removes
// the length of a 204, which must have none (RFC 9110, section 8.6).
func checkFraming(resp *http.Response) error {
	lengths, coded := resp.Header["Content-Length"], resp.Header["Transfer-Encoding"] != nil
	if coded || len(lengths) > 1 {
		return errFraming
	}
	for _, text := range lengths {
		if _, err := strconv.ParseUint(text, 10, 63); err != nil {
			return errFraming
		}
	}
	if resp.StatusCode == http.StatusNoContent {
		delete(resp.Header, "Content-Length")
	}
	return nil
}
