package through

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// excesses are answers with more than one response, or a body where there is none. %s is the path of the request.
func excesses() map[string]string {
	const ok = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
	const poison = ok + "Content-Length: 6\r\n\r\npoison"
	return map[string]string{
		"two responses":           ok + "Content-Length: 2\r\n\r\nok" + poison,
		"three responses":         ok + "Content-Length: 2\r\n\r\nok" + poison + poison,
		"two responses in chunks": ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n" + poison,
		"two empty responses":     ok + "Content-Length: 0\r\n\r\n" + poison,
		"a body of 204":           "HTTP/1.1 204 No Content\r\n\r\n" + poison,
		"a body of 304":           "HTTP/1.1 304 Not Modified\r\n\r\n" + poison,
		"a length of 204":         "HTTP/1.1 204 No Content\r\nContent-Length: 69\r\n\r\n" + poison,
		"a length of 304":         "HTTP/1.1 304 Not Modified\r\nContent-Length: 69\r\n\r\n" + poison,
		"a body of 103":           "HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\nhello" + poison,
		"a response to HEAD":      ok + "Content-Length: 69\r\n\r\n" + poison,
		"one after 103":           "HTTP/1.1 103 Early Hints\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nok" + poison,
		"one after 100":           "HTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nok" + poison,
		"interim ones of HTTP/1.0": "HTTP/1.0 103 Early Hints\r\n\r\n" + ok + "Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok" +
			poison,
	}
}

// TestExcessReachesNobody: over persistent connections, each client gets the response to its own request. All excess arrives with the
// end of a response here, because it is in the same segment. What arrives after the next request was sent cannot be told from the response to it.
func TestExcessReachesNobody(t *testing.T) {
	t.Parallel()
	for _, scheme := range schemes {
		for name, text := range excesses() {
			t.Run(scheme+", "+name, func(t *testing.T) {
				t.Parallel()
				f := newRawFront(t, scheme, excessive(text))
				var clients sync.WaitGroup
				for i := range 6 {
					clients.Go(func() { f.shareWithExcess(t, i) })
				}
				clients.Wait()
			})
		}
	}
}

// excessive is an origin that sends a text in answer to requests for /excess.
func excessive(text string) func(c net.Conn, in *bufio.Reader) {
	return func(c net.Conn, in *bufio.Reader) {
		for {
			line, _, err := readHead(in)
			if err != nil {
				return
			}
			path := strings.Fields(line)[1]
			if !strings.HasPrefix(path, "/excess") {
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: %d\r\n\r\n%s", len(path), path)
				continue
			}
			_, _ = io.WriteString(c, text)
		}
	}
}

// shareWithExcess asks for what is in excess, and for plain things.
func (f *front) shareWithExcess(t *testing.T, client int) {
	for n := range 6 {
		method := []string{"GET", "HEAD"}[n%2]
		exchange(t, f.addr, fmt.Sprintf("%s /excess/%d/%d HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n", method, client, n))
		path := fmt.Sprintf("/plain/%d/%d", client, n)
		if got, want := victim(t, f.addr, "api.test", path), fmt.Sprintln(200, path, nil); got != want {
			t.Errorf("a victim gets %s instead of %s", got, want)
		}
	}
}

// TestExcessBehindALongBody: net/http reads such a body without its buffer, so that nobody has read the excess when the body ends.
func TestExcessBehindALongBody(t *testing.T) {
	t.Parallel()
	for _, scheme := range schemes {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			o := newLongOrigin()
			f := newRawFront(t, scheme, o.serve)
			var clients sync.WaitGroup
			for i := range 6 {
				clients.Go(func() {
					for n := i; n < len(o.read); n += 6 {
						f.getLong(t, n, o.read[n])
						path := fmt.Sprint("/plain/", n)
						if got, want := victim(t, f.addr, "api.test", path), fmt.Sprintln(200, path, nil); got != want {
							t.Errorf("a victim gets %s instead of %s", got, want)
						}
					}
				})
			}
			clients.Wait()
		})
	}
}

// longLength is the length of the bodies of a longOrigin.
const longLength = 100_000

// longOrigin is an origin that answers requests for numbers with a long body and another response. The last octet of the body is in one
// segment with the other response, which it sends when the client has read the octets before.
type longOrigin struct {
	read [36]chan struct{} // closed when the client of a number has read so much
}

func newLongOrigin() *longOrigin {
	o := &longOrigin{}
	for i := range o.read {
		o.read[i] = make(chan struct{})
	}
	return o
}

func (o *longOrigin) serve(c net.Conn, in *bufio.Reader) {
	const head = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: %d\r\n\r\n%s"
	for {
		line, _, err := readHead(in)
		if err != nil {
			return
		}
		path := strings.Fields(line)[1]
		n, err := strconv.Atoi(path[1:])
		if err != nil {
			fmt.Fprintf(c, head, len(path), path)
			continue
		}
		fmt.Fprintf(c, head, longLength, strings.Repeat("x", longLength-1))
		<-o.read[n]
		fmt.Fprintf(c, "x"+head, 6, "poison")
	}
}

// getLong requests a number of a longOrigin, and closes read when it has all but the last octet.
func (f *front) getLong(t *testing.T, n int, read chan<- struct{}) {
	all := sync.OnceFunc(func() { close(read) })
	defer all() // if the test fails
	c, err := net.Dial("tcp", f.addr)
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	fmt.Fprintf(c, "GET /%d HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n", n)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer resp.Body.Close()
	if _, err := io.CopyN(io.Discard, resp.Body, longLength-1); err != nil {
		t.Error(err)
	}
	all()
	if rest, err := io.ReadAll(resp.Body); string(rest) != "x" || err != nil {
		t.Errorf("a client gets %q at the end, %v", rest, err)
	}
}
