package replay

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"

	"sundry/upstreams"
)

// maxRecorded bounds the size of a recorded reply's body, in bytes.
const maxRecorded = 1 << 20

// Recorder records the requests to upstreams and their replies, by call. It is
// safe for concurrent use.
type Recorder struct {
	mu         sync.Mutex
	roundTrips map[*upstreams.Call][]RoundTrip
}

// NewRecorder makes an empty recorder.
func NewRecorder() *Recorder {
	return &Recorder{roundTrips: map[*upstreams.Call][]RoundTrip{}}
}

// Take returns what was recorded of a call, in order, and removes it. It is nil
// for a call that made no requests.
func (r *Recorder) Take(call *upstreams.Call) []RoundTrip {
	r.mu.Lock()
	defer r.mu.Unlock()
	recorded := r.roundTrips[call]
	delete(r.roundTrips, call)
	return recorded
}

// Through returns a transport that records what goes through next. A reply with
// a body larger than 1 MiB is an error. Requests that belong to no call pass
// unrecorded.
func (r *Recorder) Through(next http.RoundTripper) http.RoundTripper {
	return recordingTransport{r, next}
}

type recordingTransport struct {
	*Recorder
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t recordingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	position, ok := upstreams.PositionOf(req.Context())
	if !ok {
		return t.next.RoundTrip(req)
	}
	sent, err := peekBody(req)
	if err != nil {
		return nil, err
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRecorded+1))
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	if len(body) > maxRecorded {
		return nil, fmt.Errorf("record: reply is larger than %d bytes", maxRecorded)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	t.add(position.Call, RoundTrip{Step: position.Step, URL: req.URL.String(), Sent: sent, Status: resp.StatusCode, Header: recordedHeaders(resp.Header), Body: body})
	return resp, nil
}

// peekBody reads the request's body and puts it back.
func peekBody(req *http.Request) (string, error) {
	sent, err := requestBody(req)
	if err == nil && sent != "" {
		req.Body = io.NopCloser(bytes.NewReader([]byte(sent)))
	}
	return sent, err
}

func (r *Recorder) add(call *upstreams.Call, recorded RoundTrip) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.roundTrips[call] = append(r.roundTrips[call], recorded)
}

// recordedHeaders are those that sources read. Others, such as Date, would only
// make recordings differ.
func recordedHeaders(h http.Header) http.Header {
	out := http.Header{}
	for _, name := range []string{"Content-Type", "Location", "Set-Cookie", "Retry-After"} {
		if v := h[name]; len(v) > 0 {
			out[name] = v[:1]
		}
	}
	return out
}

// CloseIdleConnections is called by http.Client.CloseIdleConnections.
func (t recordingTransport) CloseIdleConnections() {
	if next, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		next.CloseIdleConnections()
	}
}
