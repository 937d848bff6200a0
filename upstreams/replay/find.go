package replay

import (
	"fmt"
	"io"
	"net/http"

	"sundry/upstreams"
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
