// Package replay takes the place of the network: it answers upstream requests from
// recorded exchanges, injects faults, and records exchanges with real upstreams.
package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"sundry/metrics/panics"
	"sundry/metrics/words"
	"sundry/upstreams"
	"sundry/upstreams/lib/chinatime"
	"sundry/upstreams/lib/minecraft"
)

// Exchange is one recorded call of a source: the requests it made with their
// replies, and the verdict.
type Exchange struct {
	Endpoint, Source, Name string
	// Params are the call's parameters in canonical form.
	Params     map[string]any
	RoundTrips []RoundTrip
	// Want is the expected verdict: success, or the name of an upstreams.Kind.
	Want string
}

// RoundTrip is one request and its reply.
type RoundTrip struct {
	// Step is the name of the step that made the request; "" for the source's own
	// request.
	Step string
	URL  string
	// Sent is the body of a POST; "" for a GET.
	Sent   string
	Status int // of the reply, like Header and Body
	Header http.Header
	Body   []byte
}

// Network answers upstream requests from recorded exchanges, in place of the real
// network. It is safe for concurrent use.
type Network struct {
	// Panics catches those of recorded game servers.
	Panics *panics.Catcher

	bySource atomic.Pointer[map[string][]*Exchange]
	faults   atomic.Pointer[map[string]Fault]
	// Strict refuses requests that differ from the recorded ones; for tests. Set
	// it before the first request.
	Strict bool
}

// New makes a network with faults, by endpoint or endpoint/source; nil means none.
// It has no exchanges until Set is called.
func New(faults map[string]Fault) *Network {
	n := &Network{}
	n.SetFaults(faults)
	n.Set(nil)
	return n
}

// SetFaults replaces all faults. The map has them by endpoint or endpoint/source,
// and must not be changed afterwards.
func (n *Network) SetFaults(faults map[string]Fault) { n.faults.Store(&faults) }

// Set replaces all exchanges.
func (n *Network) Set(exchanges []*Exchange) {
	bySource := map[string][]*Exchange{}
	for _, x := range exchanges {
		id := x.Endpoint + "/" + x.Source
		bySource[id] = append(bySource[id], x)
	}
	n.bySource.Store(&bySource)
}

// RoundTrip implements http.RoundTripper.
func (n *Network) RoundTrip(req *http.Request) (*http.Response, error) {
	position, ok := upstreams.PositionOf(req.Context())
	if !ok {
		return nil, errors.New("replay: request does not belong to a source")
	}
	fault, err := n.inject(req.Context(), position)
	if err != nil {
		return nil, err
	}
	if fault != nil {
		return response(req, fault.Status, http.Header{}, fault.Body), nil
	}
	sent, err := requestBody(req)
	if err != nil {
		return nil, err
	}
	recorded, err := n.find(position, req.URL.String(), sent)
	if err != nil {
		return nil, err
	}
	now := position.Call.Now
	return response(req, recorded.Status, expandHeader(recorded.Header, now), ExpandDates(expandEdition(recorded.Body, position.Call), now)), nil
}

// expandHeader is ExpandDates for headers, such as the Location of a signed link.
func expandHeader(recorded http.Header, now time.Time) http.Header {
	header := http.Header{}
	for name, values := range recorded {
		for _, v := range values {
			header.Add(name, string(ExpandDates([]byte(v), now)))
		}
	}
	return header
}

func response(req *http.Request, status int, header http.Header, body []byte) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, Request: req,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// expandEdition fills the placeholders of the edition that a call asks for, by its
// parameter date.
func expandEdition(b []byte, call *upstreams.Call) []byte {
	date, ok := call.Params["date"].(string)
	if !ok {
		return b
	}
	day, err := time.ParseInLocation(time.DateOnly, date, chinatime.Zone())
	if err != nil {
		return b
	}
	return []byte(edition(day).Replace(string(b)))
}

// edition fills the placeholders of an edition: its date, and the time at which it
// came out in Unix seconds, half an hour after midnight.
func edition(day time.Time) *strings.Replacer {
	year, month, date := day.Date()
	out := time.Date(year, month, date, 0, 30, 0, 0, day.Location())
	return strings.NewReplacer("@EDITION@", day.Format(time.DateOnly), "@EDITION_AT@", strconv.FormatInt(out.Unix(), 10))
}

// ExpandDates fills the placeholders of recorded texts: the date of the call in
// Asia/Shanghai (which is also the edition, where none was asked for), the day before
// it, and the time a day after it in Unix seconds.
// So recorded editions are always today's, and recorded links have not expired.
func ExpandDates(b []byte, now time.Time) []byte {
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
	).Replace(edition(day).Replace(string(b))))
}

// requestBody reads the body of a request; "" if it has none.
func requestBody(req *http.Request) (string, error) {
	if req.Body == nil {
		return "", nil
	}
	b, err := io.ReadAll(req.Body)
	return string(b), err
}

// find picks the exchange that matches the parameters best, else the ordinary good
// one.
func (n *Network) find(position upstreams.Position, url, sent string) (*RoundTrip, error) {
	var best *RoundTrip
	highest := 0
	for _, x := range (*n.bySource.Load())[position.Endpoint+"/"+position.Source] {
		recorded := x.roundTrip(position.Step, position.Nth)
		switch {
		case recorded == nil:
		case n.Strict:
			return recorded, x.compare(recorded, position.Call, url, sent)
		case x.rank(position.Call) > highest:
			best, highest = recorded, x.rank(position.Call)
		}
	}
	if best == nil {
		return nil, &upstreams.Error{Kind: upstreams.Unavailable, Err: words.Errorf("replay: no exchange recorded for %s", "回放：没有 %s 的录制；真正调用时去掉 --replay", place(position))}
	}
	return best, nil
}

// place names the request at a position: endpoint/source, and the step if it is one.
func place(p upstreams.Position) string {
	name := p.Endpoint + "/" + p.Source
	if p.Step != "" {
		name += ", step " + p.Step
	}
	return name
}

// rank says how well an exchange answers a call; 0: not at all. A success may
// answer any call, a definite no only one with the same parameters.
func (x *Exchange) rank(call *upstreams.Call) int {
	switch same := matches(x.Params, call.Params); {
	case x.Want == "success" && same:
		return 4
	case same && slices.Contains([]string{upstreams.Negative.String(), upstreams.Invalid.String(), upstreams.Skipped.String()}, x.Want):
		return 3
	case x.Want == "success" && x.Name == "good":
		return 2
	case x.Want == "success":
		return 1
	}
	return 0
}

// roundTrip finds the nth request of a step, counted from 0; nil if there is none.
func (x *Exchange) roundTrip(step string, nth int) *RoundTrip {
	for i := range x.RoundTrips {
		if x.RoundTrips[i].Step != step {
			continue
		}
		if nth == 0 {
			return &x.RoundTrips[i]
		}
		nth--
	}
	return nil
}

// compare returns an error if a request differs from the recorded one.
func (x *Exchange) compare(recorded *RoundTrip, call *upstreams.Call, url, sent string) error {
	if want := string(ExpandDates([]byte(recorded.URL), call.Now)); want != url {
		return fmt.Errorf("replay: %s/%s/%s: sent %s, recorded %s", x.Endpoint, x.Source, x.Name, url, want)
	}
	if want := string(ExpandDates([]byte(recorded.Sent), call.Now)); want != sent {
		return fmt.Errorf("replay: %s/%s/%s: sent the body %s, recorded %s", x.Endpoint, x.Source, x.Name, sent, want)
	}
	return nil
}

// matches reports whether all parameters of a call have their recorded values. A
// call without parameters matches every exchange of its source.
func matches(recorded, params map[string]any) bool {
	for name, v := range params {
		if recorded[name] != v {
			return false
		}
	}
	return true
}

// DialContext returns a connection to a recorded game server. The recorded body
// is its status JSON.
func (n *Network) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	position, ok := upstreams.PositionOf(ctx)
	if !ok {
		return nil, errors.New("replay: connection does not belong to a source")
	}
	if fault, err := n.inject(ctx, position); fault != nil || err != nil {
		if err == nil {
			err = fmt.Errorf("injected fault: status %d", fault.Status)
		}
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	name, _ := position.Call.Params["host"].(string)
	recorded, err := n.find(position, "tcp://"+name, "")
	if err != nil {
		return nil, err
	}
	client, server := net.Pipe()
	n.Panics.Go(panics.Dial, func() { minecraft.ServeStatus(server, recorded.Body) })
	return client, nil
}
