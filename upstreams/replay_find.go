package upstreams

import (
	"fmt"
	"io"
	"net/http"
)

// sentBody reads what a request sends.
func sentBody(req *http.Request) (string, error) {
	if req.Body == nil {
		return "", nil
	}
	b, err := io.ReadAll(req.Body)
	return string(b), err
}

// find picks the exchange that fits the parameters, else the ordinary good one.
func (r *Replay) find(at replayed, url, sent string) (*Step, error) {
	var good *Step
	var name string
	for _, x := range (*r.bySource.Load())[at.endpoint+"/"+at.source] {
		step := x.step(at.step, at.nth)
		switch {
		case step == nil:
		case r.Strict:
			return step, x.differs(step, at.call, url, sent)
		case x.Want != "success" && x.Want != Negative.String():
		case fits(x.Params, at.call.Params):
			return step, nil
		case x.Want == "success" && (good == nil || x.Name == "good" && name != "good"):
			good, name = step, x.Name
		}
	}
	if good == nil {
		return nil, &Error{Kind: Unavailable, Err: fmt.Errorf("replay: no exchange recorded for %s/%s %s", at.endpoint, at.source, at.step)}
	}
	return good, nil
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
func (x *Exchange) differs(step *Step, call *Call, url, sent string) error {
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
