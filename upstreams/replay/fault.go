package replay

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sundry/upstreams"
)

// Fault is what Replay does to a source beside answering.
type Fault struct {
	Error   float64 // share of calls that fail, 0 to 1
	Status  int     // with which status; 0 without a body: a refused connection
	Body    string  // or with which body, status 200: empty or html; "": none
	Latency time.Duration
}

// page stands for the login pages and notices that upstreams send with a status
// of 200.
const page = "<!DOCTYPE html><html><head><title>Welcome</title></head><body>Please sign in.</body></html>"

// ParseFault reads "kd=error:0.3,latency:800ms". Its subject is an endpoint or
// endpoint/source; what it takes is error:SHARE, status:CODE, body:empty or
// body:html, and latency:SPAN.
func ParseFault(spec string) (subject string, f Fault, err error) {
	subject, list, ok := strings.Cut(spec, "=")
	if !ok || subject == "" {
		return "", f, fmt.Errorf("fault %q: want endpoint=error:0.3,latency:800ms", spec)
	}
	for item := range strings.SplitSeq(list, ",") {
		if err := f.set(item); err != nil {
			return "", f, fmt.Errorf("fault %q: %q: %w", spec, item, err)
		}
	}
	if (f.Status != 0 || f.Body != "") && f.Error == 0 {
		f.Error = 1
	}
	return subject, f, nil
}

func (f *Fault) set(item string) (err error) {
	name, value, _ := strings.Cut(item, ":")
	switch name {
	case "error":
		f.Error, err = strconv.ParseFloat(value, 64)
		if err == nil && (f.Error < 0 || f.Error > 1) {
			err = errors.New("a share is 0 to 1")
		}
	case "status":
		f.Status, err = strconv.Atoi(value)
	case "body":
		if f.Body = value; value != "empty" && value != "html" {
			err = errors.New("want body:empty or body:html")
		}
	case "latency":
		f.Latency, err = time.ParseDuration(value)
	default:
		err = errors.New("want error:SHARE, status:CODE, body:empty, body:html or latency:SPAN")
	}
	return err
}

// injected is an answer in place of the recorded one; status 0: nothing is
// wrong.
type injected struct {
	status int
	body   string
}

// inject does what a fault on the endpoint or the source asks for: it waits,
// breaks the connection (an error), or answers itself.
func (r *Replay) inject(ctx context.Context, at upstreams.Position) (injected, error) {
	faults := *r.faults.Load()
	for _, subject := range []string{at.Endpoint, at.Endpoint + "/" + at.Source} {
		f, ok := faults[subject]
		if !ok {
			continue
		}
		if f.Latency > 0 {
			select {
			case <-time.After(f.Latency):
			case <-ctx.Done():
				return injected{}, ctx.Err()
			}
		}
		if rand.Float64() < f.Error {
			return f.answer()
		}
	}
	return injected{}, nil
}

func (f *Fault) answer() (injected, error) {
	switch {
	case f.Body == "html":
		return injected{http.StatusOK, page}, nil
	case f.Body == "empty":
		return injected{http.StatusOK, ""}, nil
	case f.Status != 0:
		return injected{f.Status, ""}, nil
	}
	return injected{}, &upstreams.Error{Kind: upstreams.Unavailable, Err: errors.New("injected fault: connection refused")}
}
