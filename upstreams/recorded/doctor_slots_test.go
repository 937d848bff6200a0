package recorded

import (
	"testing"
	"testing/synctest"
	"time"

	"sundry/upstreams/host"
)

// TestTheDoctorWaitsForSlots: that this machine is busy drawing says nothing about a
// source.
func TestTheDoctorWaitsForSlots(t *testing.T) {
	th := newReplayed(t, host.Config{})
	e, _ := th.Get("qrcode")
	subject := SubjectsOf(e, th.cases)[0]
	synctest.Test(t, func(t *testing.T) {
		for {
			release, err := th.env.Work.EnterDrawing(t.Context())
			if err != nil {
				break // all are taken
			}
			time.AfterFunc(3*time.Second, release)
		}
		if f := subject.Examine(t.Context(), time.Now()); f.Health != Works {
			t.Errorf("%s: %v", f.Health, f.Notes)
		}
	})
}
