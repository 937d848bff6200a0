// Package replay stands before the engine in the place of the network: it answers
// from recorded exchanges, fails as it is told to, and records exchanges with
// real upstreams.
package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/chinatime"
	"sundry/upstreams/minecraft"
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
	day := now.In(chinatime.Zone())
	yesterday := day.AddDate(0, 0, -1)
	return []byte(strings.NewReplacer(
		"@DATE@", day.Format("2006-01-02"), "@YYYYMMDD@", day.Format("20060102"),
		"@MM@", day.Format("01"), "@DD@", day.Format("02"), "@M@", day.Format("1"), "@D@", day.Format("2"),
		"@IN_A_DAY@", strconv.FormatInt(now.Unix()+86400, 10), "@IN_A_DAY_HEX@", strconv.FormatInt(now.Unix()+86400, 16),
		"@YESTERDAY@", yesterday.Format("2006-01-02"), "@YESTERDAY_YYYYMMDD@", yesterday.Format("20060102"),
	).Replace(string(b)))
}

// sentBody reads what a request sends.
func sentBody(req *http.Request) (string, error) {
	if req.Body == nil {
		return "", nil
	}
	b, err := io.ReadAll(req.Body)
	return string(b), err
}

// find picks the exchange that fits the parameters, else the ordinary good one.
func (r *Replay) find(at upstreams.Position, url, sent string) (*Step, error) {
	var best *Step
	most := 0
	for _, x := range (*r.bySource.Load())[at.Endpoint+"/"+at.Source] {
		step := x.step(at.Step, at.Nth)
		switch {
		case step == nil:
		case r.Strict:
			return step, x.differs(step, at.Call, url, sent)
		case x.rank(at.Call) > most:
			best, most = step, x.rank(at.Call)
		}
	}
	if best == nil {
		return nil, &upstreams.Error{Kind: upstreams.Unavailable, Err: fmt.Errorf("replay: no exchange recorded for %s/%s %s", at.Endpoint, at.Source, at.Step)}
	}
	return best, nil
}

// rank says how well an exchange answers a call; 0: not at all. A success is
// for any call, a definite no for the parameters it was recorded with.
func (x *Exchange) rank(call *upstreams.Call) int {
	switch fit := fits(x.Params, call.Params); {
	case x.Want == "success" && fit:
		return 4
	case x.Want == upstreams.Negative.String() && fit:
		return 3
	case x.Want == "success" && x.Name == "good":
		return 2
	case x.Want == "success":
		return 1
	}
	return 0
}

// step finds the nth request of a step.
func (x *Exchange) step(name string, nth int) *Step {
	for i := range x.Steps {
		if x.Steps[i].Of != name {
			continue
		}
		if nth == 0 {
			return &x.Steps[i]
		}
		nth--
	}
	return nil
}

// differs tells how a request is another than the recorded one.
func (x *Exchange) differs(step *Step, call *upstreams.Call, url, sent string) error {
	if want := string(dated([]byte(step.URL), call.Now)); want != url {
		return fmt.Errorf("replay: %s/%s/%s: sent %s, recorded %s", x.Endpoint, x.Source, x.Name, url, want)
	}
	if want := string(dated([]byte(step.Sent), call.Now)); want != sent {
		return fmt.Errorf("replay: %s/%s/%s: sent the body %s, recorded %s", x.Endpoint, x.Source, x.Name, sent, want)
	}
	return nil
}

// fits tells whether the recorded parameters are the call's. An exchange of an
// endpoint without parameters fits by being the only kind there is.
func fits(recorded, asked map[string]any) bool {
	for name, v := range asked {
		if recorded[name] != v {
			return false
		}
	}
	return true
}

// DialContext gives a connection on which a recorded game server answers; the
// recorded body is its status JSON. A status of 0 stands for a server that
// refuses.
func (r *Replay) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	at, ok := upstreams.PositionOf(ctx)
	if !ok {
		return nil, errors.New("replay: connection of no source")
	}
	if wrong, err := r.inject(ctx, at); wrong.status != 0 || err != nil {
		if err == nil {
			err = fmt.Errorf("injected fault: status %d", wrong.status)
		}
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	name, _ := at.Call.Params["host"].(string)
	step, err := r.find(at, "tcp://"+name, "")
	if err != nil {
		return nil, err
	}
	client, server := net.Pipe()
	go minecraft.ServeStatus(server, step.Body)
	return client, nil
}
