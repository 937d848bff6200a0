package through

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"

	"sundry/metrics/words"
)

const (
	// bodyWindow is how much of a request's body arrives before the request takes a place of those that wait, or a slot of a
	// host: a client that sends slowly takes nothing from others.
	bodyWindow = 64 << 10
	// smallWindow is what is read without taking of the memory of spools.
	smallWindow = 4 << 10
)

// upload is the body of a request. Its beginning is read before the request is sent, the rest while it is.
type upload struct {
	io.ReadCloser
	trailer http.Header // what the client has declared; net/http adds what comes at the end
	control *http.ResponseController
	pace    pace
	began   []byte // has arrived and is not sent yet
	err     error  // behind it
	whole   bool   // all of it has arrived before the request is sent
	ended   atomic.Bool
	slow    atomic.Bool
	// lasting is set for HTTP/2: a deadline that passes while nobody reads ends the body there.
	lasting bool
	// streams is set for a body that may depend on the response, as in a conversation. answered is set once the response has begun.
	streams  bool
	answered atomic.Bool
	touched  atomic.Bool // a read has begun, at which net/http sends the 100 that a client may wait for
	mu       sync.Mutex
	over     bool   // the handler returns; its response writer must not be used any more
	release  func() // gives the memory back; it may be called more than once
}

// receiveBody reads the beginning of the body, if there is one, and makes the request one with the rest. The caller must call end.
// The error is ErrSlowUpload, an *http.MaxBytesError, or another of net/http.
func (c *call) receiveBody(ctx context.Context) (*upload, error) {
	control := http.NewResponseController(&c.w)
	u := &upload{ReadCloser: c.r.Body, trailer: c.r.Trailer, control: control, pace: pace{idle: c.Idle, rate: slowest}, release: func() {}}
	if c.r.ContentLength == 0 {
		u.whole = true
		return u, nil
	}
	if c.Upload > 0 {
		if c.r.ContentLength > c.Upload {
			return nil, &http.MaxBytesError{Limit: c.Upload}
		}
		u.ReadCloser = http.MaxBytesReader(&c.w, u.ReadCloser, c.Upload)
	}
	_ = control.EnableFullDuplex() // an origin may answer while it reads; HTTP/2 always can
	c.r = c.r.WithContext(ctx)     // net/http looks at the body of its own one for whether the next request lies behind it
	c.r.Body = u
	cleanTrailer(u.trailer)
	if u.lasting = c.r.ProtoMajor > 1; u.lasting {
		u.expire(time.Time{}) // instead of the server's ReadTimeout
	}
	if u.streams = c.r.ProtoMajor > 1 && c.r.ContentLength < 0; u.streams || c.expects() {
		return u, nil // nobody knows how many bytes the client sends before it gets a response
	}
	if err := u.receive(make([]byte, 0, smallWindow)); err != nil {
		return nil, err
	}
	if u.err == nil && c.store.Spools.Take(c.client, 1) {
		u.release = sync.OnceFunc(func() { c.store.Spools.Give(c.client, 1) })
		if err := u.receive(append(make([]byte, 0, bodyWindow), u.began...)); err != nil {
			u.release()
			return nil, err
		}
	}
	return u, nil
}

// expects reports whether the client sends the body only if the origin wants it. The origin says so with 100, at which its transport reads the
// body, or refuses with its response.
func (c *call) expects() bool {
	return c.r.ProtoAtLeast(1, 1) && httpguts.HeaderValuesContainsToken(c.r.Header["Expect"], "100-continue")
}

// receive fills a buffer, or reads the body to its end.
func (u *upload) receive(buf []byte) error {
	for u.err == nil && len(buf) < cap(buf) {
		var n int
		n, u.err = u.arrive(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
	}
	u.began, u.whole = buf, u.err != nil
	if u.err != nil && !errors.Is(u.err, io.EOF) {
		return u.err
	}
	return nil
}

// ErrSlowUpload means that a client sent the body of its request too slowly. It is no timeout of the origin.
var ErrSlowUpload = errors.New("the body of the request arrives too slowly; expected at least 1 kB a second")

// arrive reads what arrives next.
func (u *upload) arrive(p []byte) (n int, err error) {
	u.touched.Store(true)
	left := u.pace.left()
	if u.streams && u.answered.Load() {
		left = u.pace.idle // the client may have nothing to say, and does not count among the waiting requests any more
	}
	if left <= 0 {
		u.slow.Store(true)
		return 0, ErrSlowUpload
	}
	now := time.Now()
	if !u.expire(now.Add(left)) {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err = u.ReadCloser.Read(p)
	u.pace.note(time.Since(now), n)
	if u.lasting {
		u.expire(time.Time{})
	}
	if errors.Is(err, io.EOF) {
		cleanTrailer(u.trailer)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		u.slow.Store(true)
		err = ErrSlowUpload
	}
	return n, err
}

// expire sets the deadline for reading the body; zero means none. ok is false once end was called: a transport may still read then, and
// net/http panics if the HTTP/2 stream has ended.
func (u *upload) expire(at time.Time) (ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.over {
		_ = u.control.SetReadDeadline(at) // a test's reader has none
	}
	return !u.over
}

// end must be called before the handler returns. It gives the memory back.
func (u *upload) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.over = true
	u.release()
}

// Read implements io.Reader. A transport reads once more behind the end. net/http waits there for the client to leave, which would be
// taken for gone once the deadline is over.
func (u *upload) Read(p []byte) (n int, err error) {
	switch {
	case len(u.began) > 0:
		n = copy(p, u.began)
		u.began = u.began[n:]
		return n, nil
	case u.err == nil:
		n, u.err = u.arrive(p)
	}
	u.ended.Store(u.err != nil)
	return n, u.err
}

// Close implements io.Closer: net/http closes the body once the client is answered. A transport that gets no connection closes it
// as well, and the next address is to have it.
func (*upload) Close() error { return nil }

// failure returns why the body did not arrive; nil means that it did, or still arrives.
func (u *upload) failure() error {
	switch {
	case u.slow.Load():
		return ErrSlowUpload
	case u.ended.Load() && !errors.Is(u.err, io.EOF):
		return u.err
	}
	return nil
}

// maxRest and restTime limit the reading of a body that the origin has not read. net/http reads no more either.
const (
	maxRest  = 256 << 10
	restTime = time.Second
)

// drain reads the rest of the body, behind which the next request on the connection begins. net/http would read it after it has stopped
// to watch the connection, and watch it again at the end of the body, where it panics at the next request. It reads nothing in HTTP/2, where
// each request has a stream, nor if the client still waits for 100.
func (u *upload) drain(version int) {
	if u.whole || u.ended.Load() || version > 1 || !u.touched.Load() {
		return
	}
	_ = u.control.Flush() // the client may wait for the response
	_ = u.control.SetReadDeadline(time.Now().Add(restTime))
	_, _ = io.CopyN(io.Discard, u.ReadCloser, maxRest) // or the client has left
}

// failUpload answers a request whose body did not arrive. net/http has canceled the context of one that was too slow.
func (c *call) failUpload(err error) {
	c.w.Header()["Connection"] = []string{"close"} // where the next request begins is not known
	c.w.Err = err
	large, isLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case isLarge:
		_ = http.NewResponseController(&c.w).SetReadDeadline(time.Now().Add(restTime)) // net/http waits for the rest of the body
		c.fail(http.StatusRequestEntityTooLarge, words.Errorf("the body of the request is too large; expected at most %d bytes", "请求体过大；最多 %d 字节", large.Limit))
	case errors.Is(err, ErrSlowUpload):
		c.fail(http.StatusRequestTimeout, ErrSlowUpload)
	case c.r.Context().Err() != nil, errors.Is(err, io.ErrUnexpectedEOF):
		c.gone()
	default:
		c.fail(http.StatusBadRequest, errBody)
	}
}

// errBody tells a client that its body cannot be read.
var errBody = errors.New("the body of the request cannot be read; expected as many bytes as Content-Length says, or chunks (RFC 9112, section 7.1)")
