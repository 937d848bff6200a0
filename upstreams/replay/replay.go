// Package replay stands before the engine in the place of the network: it answers
// from recorded exchanges, fails as it is told to, and records exchanges with
// real upstreams.
package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"sundry/upstreams"
)

// Exchange is one recorded exchange of a source: what was asked and replied,
// and what was made of it.
type Exchange struct {
	Endpoint, Source, Name string
	// Origin is composed or recorded.
	Origin string
	// Params are canonical; nil fits every call.
	Params map[string]any
	Now    time.Time
	Steps  []Step
	// Want is the verdict, a Kind's name or success.
	Want string
}

// Step is one request and its reply.
type Step struct {
	// Of is the name of the step it belongs to; "" for the source's own
	// request.
	Of  string
	URL string
	// Sent is the body of a POST.
	Sent   string
	Status int
	Header http.Header
	Body   []byte
}

// Replay answers upstream calls from recorded exchanges, in place of the
// network. It is safe for concurrent use.
type Replay struct {
	bySource atomic.Pointer[map[string][]*Exchange]
	faults   atomic.Pointer[map[string]Fault]
	// Strict refuses requests other than those recorded; for tests.
	Strict bool
}

// New makes a replay that does what the faults say, by endpoint or
// endpoint/source. Set gives it the exchanges.
func New(faults map[string]Fault) *Replay {
	r := &Replay{}
	r.SetFaults(faults)
	r.Set(nil)
	return r
}

// SetFaults puts these faults, by endpoint or endpoint/source, in the place of
// all before. The map must not change any more.
func (r *Replay) SetFaults(faults map[string]Fault) { r.faults.Store(&faults) }

// Set puts these exchanges in the place of all before.
func (r *Replay) Set(exchanges []*Exchange) {
	bySource := map[string][]*Exchange{}
	for _, x := range exchanges {
		id := x.Endpoint + "/" + x.Source
		bySource[id] = append(bySource[id], x)
	}
	r.bySource.Store(&bySource)
}

// RoundTrip implements http.RoundTripper.
func (r *Replay) RoundTrip(req *http.Request) (*http.Response, error) {
	at, ok := upstreams.PositionOf(req.Context())
	if !ok {
		return nil, errors.New("replay: request of no source")
	}
	wrong, err := r.inject(req.Context(), at)
	if err != nil {
		return nil, err
	}
	if wrong.status != 0 {
		return response(req, wrong.status, http.Header{}, []byte(wrong.body)), nil
	}
	sent, err := sentBody(req)
	if err != nil {
		return nil, err
	}
	step, err := r.find(at, req.URL.String(), sent)
	if err != nil {
		return nil, err
	}
	header := step.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	return response(req, step.Status, header, dated(step.Body, at.Call.Now)), nil
}

func response(req *http.Request, status int, header http.Header, body []byte) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, Request: req,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// dated replaces the marks that stand for the day of the call, in
// Asia/Shanghai, and for the same time a day later in unix seconds: recorded
// editions are always today's, and recorded links have not ended.
func dated(b []byte, now time.Time) []byte {
	if !bytes.Contains(b, []byte("@")) {
		return b
	}
	day := now.In(time.FixedZone("CST", 8*3600))
	yesterday := day.AddDate(0, 0, -1)
	return []byte(strings.NewReplacer(
		"@DATE@", day.Format("2006-01-02"), "@YYYYMMDD@", day.Format("20060102"),
		"@MM@", day.Format("01"), "@DD@", day.Format("02"), "@M@", day.Format("1"), "@D@", day.Format("2"),
		"@IN_A_DAY@", strconv.FormatInt(now.Unix()+86400, 10), "@IN_A_DAY_HEX@", strconv.FormatInt(now.Unix()+86400, 16),
		"@YESTERDAY@", yesterday.Format("2006-01-02"), "@YESTERDAY_YYYYMMDD@", yesterday.Format("20060102"),
	).Replace(string(b)))
}
