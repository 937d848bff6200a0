package upstreams

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Fault is what Replay does to a source beside answering.
type Fault struct {
	Error   float64 // share of calls that fail, 0 to 1
	Status  int     // with which status; 0: a broken connection
	Latency time.Duration
}

// ParseFault reads "kd=error:0.3,latency:800ms". Its subject is an endpoint or
// endpoint/source; what it takes is error:SHARE, status:CODE and latency:SPAN.
func ParseFault(spec string) (subject string, f Fault, err error) {
	subject, list, ok := strings.Cut(spec, "=")
	if !ok || subject == "" {
		return "", f, fmt.Errorf("fault %q: want endpoint=error:0.3,latency:800ms", spec)
	}
	for item := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(item, ":")
		switch name {
		case "error":
			f.Error, err = strconv.ParseFloat(value, 64)
			if err == nil && (f.Error < 0 || f.Error > 1) {
				err = errors.New("a share is 0 to 1")
			}
		case "status":
			f.Status, err = strconv.Atoi(value)
		case "latency":
			f.Latency, err = time.ParseDuration(value)
		default:
			err = errors.New("want error:SHARE, status:CODE or latency:SPAN")
		}
		if err != nil {
			return "", f, fmt.Errorf("fault %q: %q: %w", spec, item, err)
		}
	}
	if f.Status != 0 && f.Error == 0 {
		f.Error = 1
	}
	return subject, f, nil
}

// inject does what a fault on the endpoint or the source asks for: it waits,
// breaks the connection (an error), or gives the status of an answer. 0 and
// nil: nothing is wrong.
func (r *Replay) inject(ctx context.Context, at replayed) (status int, err error) {
	for _, subject := range []string{at.endpoint, at.endpoint + "/" + at.source} {
		f, ok := r.faults[subject]
		if !ok {
			continue
		}
		if f.Latency > 0 {
			select {
			case <-time.After(f.Latency):
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
		if rand.Float64() < f.Error {
			if f.Status != 0 {
				return f.Status, nil
			}
			return 0, &Error{Kind: Unavailable, Err: errors.New("injected fault")}
		}
	}
	return 0, nil
}
