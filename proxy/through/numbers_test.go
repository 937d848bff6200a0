package through

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"
)

// limits are numbers at the limits of the types that may hold them.
var limits = []string{"0", "2147483647", "2147483648", "4294967295", "4294967296", "9223372036854775806", "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616",
	"-1", "-9223372036854775808", "99999999999999999999999999999999"}

// TestNumbersAtTheirLimits in responses, and in requests for them, do no harm: each request is answered or ends at once, and takes little
// memory.
func TestNumbersAtTheirLimits(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nEtag: \"1\"\r\n"
	const part = "HTTP/1.1 206 Partial Content\r\nCache-Control: max-age=60\r\nEtag: \"1\"\r\nContent-Length: 2\r\nContent-Range: bytes "
	texts := map[string]string{
		"max-age":               ok + "Cache-Control: max-age=%s\r\n\r\nok",
		"windows":               ok + "Cache-Control: max-age=1, stale-while-revalidate=%[1]s, stale-if-error=%[1]s\r\n\r\nok",
		"Age":                   ok + "Cache-Control: max-age=60\r\nAge: %s\r\n\r\nok",
		"an old response":       ok + "Cache-Control: max-age=%[1]s\r\nAge: %[1]s\r\n\r\nok",
		"Retry-After":           ok + "Cache-Control: max-age=60\r\nRetry-After: %s\r\n\r\nok",
		"a year":                ok + "Date: Mon, 01 Jan %[1]s 00:00:00 GMT\r\nExpires: Mon, 01 Jan %[1]s 00:00:00 GMT\r\nLast-Modified: Mon, 01 Jan %[1]s 00:00:00 GMT\r\n\r\nok",
		"a length":              "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: %s\r\n\r\nok",
		"a length of 304":       "HTTP/1.1 304 Not Modified\r\nContent-Length: %s\r\n\r\n",
		"a chunk":               "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\nok\r\n0\r\n\r\n",
		"the end of a part":     part + "0-%s/*\r\n\r\nok",
		"the beginning of one":  part + "%s-1/2\r\n\r\nok",
		"the size of the whole": part + "0-1/%s\r\n\r\nok",
		"all of a part":         part + "%[1]s-%[1]s/%[1]s\r\n\r\nok",
		"a part not satisfied":  "HTTP/1.1 416 Bad Range\r\nContent-Length: 0\r\nContent-Range: bytes */%s\r\n\r\n",
		"a status":              "HTTP/1.1 %s OK\r\nContent-Length: 2\r\n\r\nok",
		"a version":             "HTTP/1.%s 200 OK\r\nContent-Length: 2\r\n\r\nok",
	}
	asked := []string{"", "Range: bytes=0-0", "Range: bytes=%s-", "Range: bytes=-%s", "Range: bytes=0-%s", "Range: bytes=%[1]s-%[1]s", "Cache-Control: max-age=%s", "Cache-Control: max-stale=%s", "Cache-Control: min-fresh=%s"}
	numbers := append([]string{"7fffffffffffffff", "ffffffffffffffff", "1ffffffffffffffff"}, limits...)
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			for i, number := range numbers {
				answer := text
				if strings.Contains(text, "%") {
					answer = fmt.Sprintf(text, number)
				}
				f := newRawFront(t, "http", func(c net.Conn, in *bufio.Reader) {
					for {
						line, _, err := readHead(in)
						if err != nil {
							return
						}
						if strings.Contains(line, "/plain") {
							_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nplain")
							continue
						}
						_, _ = io.WriteString(c, answer)
						return // or what is short would be waited for
					}
				})
				for _, field := range asked {
					for _, other := range []string{number, limits[i%len(limits)]} {
						if strings.Contains(field, "%") {
							field = fmt.Sprintf(field, other)
						}
						f.isHarmless(t, answer, field)
					}
				}
			}
		})
	}
}

// isHarmless asks for an answer of the origin, and for a plain one.
func (f *front) isHarmless(t *testing.T, answer, field string) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	var fields []string
	if field != "" {
		fields = append(fields, field)
	}
	got := victim(t, f.addr, "api.test", "/a", fields...)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("%q, asked for with %q, takes %v: %s", answer, field, took, got)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 64<<20 {
		t.Errorf("%q, asked for with %q, takes %d bytes", answer, field, after.TotalAlloc-before.TotalAlloc)
	}
	if strings.HasPrefix(got, "EOF") {
		t.Errorf("%q, asked for with %q, is not answered: %s", answer, field, got)
	}
	if got, want := victim(t, f.addr, "api.test", "/plain"), fmt.Sprintln(200, "plain", nil); got != want {
		t.Errorf("after %q, a plain request gets %s", answer, got)
	}
}
