package replay

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"

	"sundry/upstreams"
)

// recordMax bounds the bodies that are recorded.
const recordMax = 1 << 20

// Recorder keeps what is exchanged with upstreams on the way through it.
type Recorder struct {
	mu    sync.Mutex
	steps map[*upstreams.Call][]Step
}

// NewRecorder makes an empty one.
func NewRecorder() *Recorder { return &Recorder{steps: map[*upstreams.Call][]Step{}} }

// Take gives the steps that were exchanged for a call, in order, and forgets
// them.
func (r *Recorder) Take(call *upstreams.Call) []Step {
	r.mu.Lock()
	defer r.mu.Unlock()
	steps := r.steps[call]
	delete(r.steps, call)
	return steps
}

// Through puts the recorder before a transport.
func (r *Recorder) Through(next http.RoundTripper) http.RoundTripper { return recording{r, next} }

type recording struct {
	*Recorder
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (r recording) RoundTrip(req *http.Request) (*http.Response, error) {
	at, ok := upstreams.PositionOf(req.Context())
	if !ok {
		return r.next.RoundTrip(req)
	}
	sent, err := r.sent(req)
	if err != nil {
		return nil, err
	}
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, recordMax+1))
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	if len(body) > recordMax {
		return nil, fmt.Errorf("record: answer larger than %d bytes", recordMax)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	r.add(at, Step{Of: at.Step, URL: req.URL.String(), Sent: sent, Status: resp.StatusCode, Header: worthRecording(resp.Header), Body: body})
	return resp, nil
}

// sent reads the request's body and puts it back.
func (r recording) sent(req *http.Request) (string, error) {
	sent, err := sentBody(req)
	if err == nil && sent != "" {
		req.Body = io.NopCloser(bytes.NewReader([]byte(sent)))
	}
	return sent, err
}

func (r *Recorder) add(at upstreams.Position, step Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps[at.Call] = append(r.steps[at.Call], step)
}

// worthRecording are the headers that sources look at.
func worthRecording(h http.Header) http.Header {
	kept := http.Header{}
	for _, name := range []string{"Content-Type", "Location", "Set-Cookie", "Retry-After"} {
		if v := h[name]; len(v) > 0 {
			kept[name] = v[:1]
		}
	}
	return kept
}

// CloseIdleConnections is found by http.Client.CloseIdleConnections.
func (r recording) CloseIdleConnections() {
	if t, ok := r.next.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}
