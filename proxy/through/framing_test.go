package through

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// malformed are the fields of responses without a certain end, or without a certain meaning (RFC 9112, sections 5 and 6). The body
// behind them is "ok" in chunks, or as it is.
func malformed() map[string]string {
	all := map[string]string{
		"a length before a space":        "Content-Length : 2\r\n",
		"a length before a tab":          "content-length\t: 2\r\n",
		"a coding before a space":        "Transfer-Encoding : chunked\r\n",
		"a coding before a tab":          "Transfer-Encoding\t: chunked\r\n",
		"an odd coding before a space":   "Transfer-Encoding : odd\r\n",
		"a folded coding":                "Transfer-Encoding:\r\n chunked\r\n",
		"a folded odd coding":            "Transfer-Encoding: odd,\r\n\tchunked\r\n",
		"a coding folded before a colon": "Transfer-Encoding\r\n : chunked\r\n",
		"a folded length":                "Content-Length:\r\n 2\r\n",
		"a length folded behind a digit": "Content-Length: 2\r\n 0\r\n",
		"an empty fold behind a length":  "Content-Length: 2\r\n \r\n",
		"two lengths":                    "Content-Length: 2\r\nContent-Length: 4\r\n",
		"a list of lengths":              "Content-Length: 2, 2\r\n",
		"a list of two lengths":          "Content-Length: 2, 4\r\n",
		"a signed length":                "Content-Length: +2\r\n",
		"a negative length":              "Content-Length: -1\r\n",
		"a hexadecimal length":           "Content-Length: 0x2\r\n",
		"an empty length":                "Content-Length:\r\n",
		"a length with a space":          "Content-Length: 2 0\r\n",
		"a fraction":                     "Content-Length: 2.0\r\n",
		"2^63":                           "Content-Length: 9223372036854775808\r\n",
		"2^64":                           "Content-Length: 18446744073709551616\r\n",
		"2^64+2":                         "Content-Length: 18446744073709551618\r\n",
		"30 digits":                      "Content-Length: 100000000000000000000000000002\r\n",
		"a length and chunks":            "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
		"chunks and a length":            "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
		"a length and an odd coding":     "Content-Length: 2\r\nTransfer-Encoding: odd\r\n",
		"an empty coding":                "Transfer-Encoding:\r\n",
		"a member without a name":        "Transfer-Encoding: , chunked\r\n",
		"chunks twice":                   "Transfer-Encoding: chunked, chunked\r\n",
		"chunks in two lines":            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
		"chunks and an odd coding":       "Transfer-Encoding: chunked\r\nTransfer-Encoding: odd\r\n",
		"an odd coding and chunks":       "Transfer-Encoding: odd\r\nTransfer-Encoding: chunked\r\n",
		"chunks and identity":            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
		"chunks with a parameter":        "Transfer-Encoding: chunked;a=b\r\n",
		"quoted chunks":                  "Transfer-Encoding: \"chunked\"\r\n",
		"chunks behind a VT":             "Transfer-Encoding: \x0bchunked\r\n",
		"an odd coding with a CR":        "Transfer-Encoding: odd\r\r\n",
		"a coding with a NUL":            "Transfer-Encoding: odd\x00\r\n",
		"a NUL":                          "X-A: a\x00b\r\n",
		"a CR":                           "X-A: a\rX-B: b\r\n",
		"a CR at the end":                "X-A: a\r\r\n",
		"a line without a colon":         "X-A\r\n",
		"a name without letters":         ": a\r\n",
		"a name of spaces":               "X-A: a\r\nX B: b\r\n",
		"a space in a name":              "Cache Control: no-store\r\n",
		"a tab in a name":                "Cache\tControl: no-store\r\n",
		"a NUL in a name":                "X-\x00A: a\r\n",
		"obs-text in a name":             "X-\xc3\xa4: a\r\n",
		"brackets in a name":             "X(A): a\r\n",
		"a space at first":               " X-A: a\r\n",
		"a tab at first":                 "\tX-A: a\r\n",
		"chunks at first behind a space": " Transfer-Encoding: chunked\r\n",
	}
	for _, coding := range []string{"gzip", "x-gzip", "deflate", "compress", "x-compress"} {
		for _, list := range []string{"%s", "%s, chunked", "chunked, %s", "odd, %s", "%s;q=1", "%s\r\nTransfer-Encoding: chunked", "chunked\r\nTransfer-Encoding: %s", "odd,%s,chunked"} {
			list = fmt.Sprintf(list, coding)
			all["the codings "+list] = "Transfer-Encoding: " + list + "\r\n"
			all["the codings "+strings.ToUpper(list)] = "TRANSFER-ENCODING:" + strings.ToUpper(list) + "\r\n"
		}
	}
	return all
}

// TestMalformedResponses are refused, by HTTP and by HTTPS, and not stored.
func TestMalformedResponses(t *testing.T) {
	t.Parallel()
	for _, scheme := range schemes {
		var text atomic.Pointer[string]
		f := newRawFront(t, scheme, func(c net.Conn, in *bufio.Reader) {
			if _, _, err := readHead(in); err == nil {
				_, _ = io.WriteString(c, *text.Load())
			}
		})
		var n int
		for name, fields := range malformed() {
			for _, body := range []string{"2\r\nok\r\n0\r\n\r\n", "ok"} {
				for _, first := range []string{"HTTP/1.1 200 OK\r\n", "HTTP/1.0 200 OK\r\n", "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n", "HTTP/1.1 204 None\r\n"} {
					n++
					whole := first + fields + "Cache-Control: max-age=60\r\n\r\n" + body
					text.Store(&whole)
					path := fmt.Sprint("/", n)
					if got := victim(t, f.addr, "api.test", path); !strings.HasPrefix(got, "502 ") {
						t.Errorf("%s, %s: %q is answered by %s", scheme, name, whole, got)
					}
					if len(f.handler.store.Get("test"+path)) > 0 {
						t.Errorf("%s, %s: %q is stored", scheme, name, whole)
					}
				}
			}
		}
	}
}

// TestOddResponses have a certain meaning all the same.
func TestOddResponses(t *testing.T) {
	t.Parallel()
	const ok = "HTTP/1.1 200 OK\r\n"
	for name, row := range map[string]struct{ text, want string }{
		"a space before a colon":     {ok + "X-Odd : a\r\nContent-Length: 2\r\n\r\nok", "a"},
		"tabs before a colon":        {ok + "X-Odd\t \t:a\r\nContent-Length: 2\r\n\r\nok", "a"},
		"in an interim response too": {"HTTP/1.1 103 Early Hints\r\nX-Odd : b\r\n\r\n" + ok + "x-odd : a\r\nContent-Length: 2\r\n\r\nok", "a"},
		"a folded field":             {ok + "X-Odd: a\r\n  b\r\nContent-Length: 2\r\n\r\nok", "a b"},
		"a folded and spaced field":  {ok + "X-Odd : a\r\n\tb\r\nContent-Length: 2\r\n\r\nok", "a b"},
		"a fold like a field":        {ok + "X-Odd: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\nok", "a Transfer-Encoding: chunked"},
		"an empty field":             {ok + "X-Odd:\r\nContent-Length: 2\r\n\r\nok", ""},
		"a length twice":             {ok + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nok", ""},
		"zeros":                      {ok + "Content-Length: 0002\r\n\r\nok", ""},
		"an odd coding":              {ok + "X-Odd: a\r\nTransfer-Encoding: odd\r\n\r\nok", "a"},
		"odd codings":                {ok + "X-Odd: a\r\nTransfer-Encoding: odd, even;a=b\r\nTransfer-Encoding: xchunked\r\n\r\nok", "a"},
		"identity":                   {ok + "Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok", ""},
		"chunks":                     {ok + "Transfer-Encoding: \t Chunked \t\r\n\r\n2;a=b\r\nok\r\n0\r\n\r\n", ""},
		"an old version":             {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", ""},
		"no length":                  {ok + "\r\nok", ""},
		"lines without CR":           {"HTTP/1.1 200 OK\nX-Odd : a\nContent-Length: 2\n\nok", "a"},
	} {
		for _, scheme := range schemes {
			t.Run(scheme+" "+name, func(t *testing.T) {
				t.Parallel()
				f := newRawFront(t, scheme, func(c net.Conn, in *bufio.Reader) {
					if _, _, err := readHead(in); err == nil {
						_, _ = io.WriteString(c, row.text)
					}
				})
				resp, err := http.Get("http://" + f.addr + "/a")
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				if resp.StatusCode != http.StatusOK || string(body) != "ok" || err != nil || resp.Header.Get("X-Odd") != row.want {
					t.Errorf("%d %v %q, %v", resp.StatusCode, resp.Header, body, err)
				}
			})
		}
	}
}

// TestSpacedFieldsCount for what they are, whatever they say.
func TestSpacedFieldsCount(t *testing.T) {
	t.Parallel()
	for _, scheme := range schemes {
		for _, fields := range []string{"Cache-Control : private, no-store", "cache-control\t: no-store", "Vary : *", "Cache-Control: max-age=60\r\nVary : X-Client", "Pragma : no-cache\r\nExpires : 0",
			"Cache-Control: max-age=60\r\nAge : 61", "Surrogate-Control : no-store\r\nCache-Control : no-store"} {
			var n atomic.Int64
			f := newRawFront(t, scheme, func(c net.Conn, in *bufio.Reader) {
				for {
					if _, _, err := readHead(in); err != nil {
						return
					}
					body := fmt.Sprint("client ", n.Add(1))
					fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n%s\r\nContent-Length: %d\r\n\r\n%s", fields, len(body), body)
				}
			})
			for i := range 3 {
				want := fmt.Sprintln(200, fmt.Sprint("client ", i+1), nil)
				if got := victim(t, f.addr, "api.test", "/a", fmt.Sprint("X-Client: ", i)); got != want {
					t.Errorf("%s, %q: client %d gets %s", scheme, fields, i+1, got)
				}
			}
		}
	}
}

// TestMalformedResponsesOverHTTP2 are refused. Where only the body contradicts the header, a client gets no more than the header says, and
// nothing is stored.
func TestMalformedResponsesOverHTTP2(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		fields []string
		status int
	}{
		"two lengths":          {[]string{"content-length: 2", "content-length: 4"}, 502},
		"a list of lengths":    {[]string{"content-length: 2, 2"}, 502},
		"a signed length":      {[]string{"content-length: +2"}, 502},
		"a hexadecimal length": {[]string{"content-length: 0x2"}, 502},
		"an empty length":      {[]string{"content-length: "}, 502},
		"2^63":                 {[]string{"content-length: 9223372036854775808"}, 502},
		"2^64+2":               {[]string{"content-length: 18446744073709551618"}, 502},
		"chunks":               {[]string{"transfer-encoding: chunked"}, 502},
		"a coding":             {[]string{"transfer-encoding: gzip"}, 502},
		"a length":             {[]string{"content-length: 2"}, 200},
		"a short body":         {[]string{"content-length: 3"}, 0},
		"a long body":          {[]string{"content-length: 1"}, 0},
		"2^63-1":               {[]string{"content-length: 9223372036854775807"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newHTTP2Front(t, append([]string{":status: 200", "cache-control: max-age=60"}, row.fields...), "ok")
			for range 2 {
				began := time.Now()
				got := victim(t, f.addr, "api.test", "/a")
				switch {
				case row.status == 0 && got == fmt.Sprintln(200, "ok", nil), !strings.HasPrefix(got, fmt.Sprint(row.status)) && row.status > 0, time.Since(began) > 8*time.Second:
					t.Errorf("it is answered by %q after %v", got, time.Since(began))
				}
			}
			if kept := f.handler.store.Get("test/a"); (len(kept) > 0) != (row.status == 200) {
				t.Errorf("kept: %v", kept)
			}
		})
	}
}

// newHTTP2Front serves an origin that answers each request by HTTP/2 with these fields and this body.
func newHTTP2Front(t *testing.T, fields []string, body string) *front {
	t.Helper()
	return newTLSFront(t, "h2", func(c net.Conn, in *bufio.Reader) {
		if _, err := in.Discard(len(http2.ClientPreface)); err != nil {
			return
		}
		framer := http2.NewFramer(c, in)
		_ = framer.WriteSettings()
		for {
			frame, err := framer.ReadFrame()
			if err != nil {
				return
			}
			if frame.Header().Type != http2.FrameHeaders {
				continue
			}
			var block bytes.Buffer
			encoder := hpack.NewEncoder(&block)
			for _, field := range fields {
				at := strings.Index(field[1:], ":") + 1
				_ = encoder.WriteField(hpack.HeaderField{Name: field[:at], Value: field[at+2:]})
			}
			id := frame.Header().StreamID
			_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block.Bytes(), EndHeaders: true})
			_ = framer.WriteData(id, true, []byte(body))
		}
	})
}
