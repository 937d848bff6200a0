package admin

import (
	"net/http"
	"time"

	"sundry/proxy/autopilot"
	"sundry/proxy/live"
)

// autopilotView is what the autopilot does about an endpoint. Times are in seconds.
type autopilotView struct {
	Endpoint string `json:"endpoint"`
	// On: the configuration lets it set the ttl, between Min and Max. The rest is there
	// only then.
	On   bool    `json:"on"`
	MinS float64 `json:"min_s,omitempty"`
	MaxS float64 `json:"max_s,omitempty"`
	// State is observing, trying, content, doubtful, paused or by_hand; stepping or
	// reverting in the minutes before it acts.
	State  autopilot.State   `json:"state,omitempty"`
	Reason map[string]string `json:"reason,omitempty"` // by language
	// Next is when the next step can be taken at the earliest; absent where nobody knows.
	Next time.Time `json:"next,omitzero"`
	// Last is the last step; absent: there was none, or an operator changed the rule since.
	Last *stepView `json:"last,omitempty"`
}

// stepView is a step, with what was predicted of it.
type stepView struct {
	At           time.Time `json:"at"`
	FromS        float64   `json:"from_s"`
	ToS          float64   `json:"to_s"`
	CallsPerHour float64   `json:"calls_per_hour"`
	OldShare     float64   `json:"old_share"`
	// Reverted is when it was reverted, and Reverts how many in a row were.
	Reverted time.Time `json:"reverted,omitzero"`
	Reverts  int       `json:"reverts,omitempty"`
}

func newStepView(t *live.Trial) *stepView {
	if t == nil {
		return nil
	}
	return &stepView{t.At, t.From.Seconds(), t.To.Seconds(), t.Calls, t.Old, t.Reverted, t.Reverts}
}

// autopilot says what the autopilot does about an endpoint, and why.
func (a *api) autopilot(r *http.Request) (any, error) {
	e, ok := a.Catalog().Get(r.PathValue("name"))
	if !ok {
		return nil, noEndpoint(r.PathValue("name"))
	}
	v := autopilotView{Endpoint: e.Name}
	if e.Autopilot == nil {
		return v, nil
	}
	d, last := a.Autopilot(e)
	v.On, v.MinS, v.MaxS, v.State, v.Next = true, e.Autopilot.Min.Seconds(), e.Autopilot.Max.Seconds(), d.State, d.Next
	v.Reason, v.Last = map[string]string{"en": d.Why.EN, "zh": d.Why.ZH}, newStepView(last)
	return v, nil
}
