package replay

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sundry/metrics/words"
	"sundry/upstreams"
)

// Fault is an error or a delay that is injected into the calls of a source.
type Fault struct {
	// Error is the share of calls that fail, 0 to 1.
	Error float64
	// Status that failing calls are answered with. 0 means that the connection is
	// refused, unless Body is set.
	Status int
	// Body that failing calls are answered with, with status 200: empty or html; ""
	// means none.
	Body string
	// Latency is added to every call.
	Latency time.Duration
}

// loginPage is the HTML that upstreams send with status 200 in place of data.
const loginPage = "<!DOCTYPE html><html><head><title>Welcome</title></head><body>Please sign in.</body></html>"

// ParseFault reads a fault such as "kd=error:0.3,latency:800ms". Its target is an
// endpoint or endpoint/source, followed by one or more of error:SHARE,
// status:CODE, body:empty, body:html and latency:DURATION. A status or body
// without error: means that every call fails.
func ParseFault(spec string) (target string, f Fault, err error) {
	target, list, ok := strings.Cut(spec, "=")
	if !ok || target == "" {
		return "", f, words.Errorf("--replay-fault %s: expected an endpoint or endpoint/source and its faults, for example kd=error:0.3,latency:800ms",
			"--replay-fault %s：应为接口或接口/数据源，以及它的故障，例如 kd=error:0.3,latency:800ms", spec)
	}
	for item := range strings.SplitSeq(list, ",") {
		if err := f.set(item); err != nil {
			return "", f, words.Errorf("--replay-fault %s: %s", "--replay-fault %s：%s", spec, words.Say(err.Error(), words.Of(err, words.Name(err.Error())).ZH()))
		}
	}
	if (f.Status != 0 || f.Body != "") && f.Error == 0 {
		f.Error = 1
	}
	return target, f, nil
}

func (f *Fault) set(item string) (err error) {
	name, value, _ := strings.Cut(item, ":")
	switch name {
	case "error":
		f.Error, err = strconv.ParseFloat(value, 64)
		if err != nil || f.Error < 0 || f.Error > 1 {
			err = words.NewError("expected a share of the calls from 0 to 1, for example error:0.3", "应为调用中失败的比例，从 0 到 1，例如 error:0.3")
		}
	case "status":
		if f.Status, err = strconv.Atoi(value); err != nil {
			err = words.NewError("expected a status, for example status:503", "应为状态码，例如 status:503")
		}
	case "body":
		if f.Body = value; value != "empty" && value != "html" {
			err = words.NewError("expected body:empty or body:html", "应为 body:empty 或 body:html")
		}
	case "latency":
		if f.Latency, err = time.ParseDuration(value); err != nil {
			err = words.NewError("expected a duration, for example latency:800ms", "应为时长，例如 latency:800ms")
		}
	default:
		err = words.NewError("expected error:SHARE, status:CODE, body:empty, body:html or latency:DURATION", "应为 error:比例、status:状态码、body:empty、body:html 或 latency:时长")
	}
	return err
}

// inject applies the faults of the endpoint and of the source: it waits, then
// returns an error (a broken connection), or a reply in place of the recorded one, or
// neither.
func (n *Network) inject(ctx context.Context, position upstreams.Position) (*RoundTrip, error) {
	faults := *n.faults.Load()
	for _, target := range []string{position.Endpoint, position.Endpoint + "/" + position.Source} {
		f, ok := faults[target]
		if !ok {
			continue
		}
		if f.Latency > 0 {
			select {
			case <-time.After(f.Latency):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		if rand.Float64() < f.Error {
			return f.reply()
		}
	}
	return nil, nil
}

// reply is what a failing call gets: a reply, or the error of its connection.
func (f *Fault) reply() (*RoundTrip, error) {
	switch {
	case f.Body == "html":
		return &RoundTrip{Status: http.StatusOK, Body: []byte(loginPage)}, nil
	case f.Body == "empty":
		return &RoundTrip{Status: http.StatusOK}, nil
	case f.Status != 0:
		return &RoundTrip{Status: f.Status}, nil
	}
	return nil, &upstreams.Error{Kind: upstreams.Unavailable, Err: words.NewError("injected fault: connection refused", "注入的故障：连接被拒绝")}
}
