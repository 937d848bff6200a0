//go:build linux

package harness

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Sundry is one that runs.
type Sundry struct {
	*Process
	Address, Admin string
}

// StartSundry starts it without limits of rate and of queues, because all of the load
// has one address and is meant to keep the core busy. What it says goes to NAME.log.
func (b *Bench) StartSundry(name string, core int, env []string, args ...string) (*Sundry, error) {
	p, err := b.Start(name, core, append([]string{"SUNDRY_LIMITS_RATE=0", "SUNDRY_LIMITS_QUEUE_DELAY=0s", "SUNDRY_DRAIN_DELAY=0s"}, env...), b.Program,
		append([]string{"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)...)
	if err != nil {
		return nil, err
	}
	if err := p.Begin(); err != nil {
		return nil, err
	}
	s := &Sundry{Process: p}
	return s, b.Until("starting "+name, func() bool {
		text, err := os.ReadFile(b.File(name + ".log"))
		s.Address, s.Admin = field(string(text), "public"), field(string(text), "admin")
		return err == nil && s.Address != "" && s.Admin != ""
	}, p)
}

// field is a value of the line that says that it serves.
func field(log, name string) string {
	_, line, _ := strings.Cut(log, "msg=serving ")
	line, _, complete := strings.Cut(line, "\n")
	for part := range strings.FieldsSeq(line) {
		if value, ok := strings.CutPrefix(part, name+"="); ok && complete {
			return value
		}
	}
	return ""
}

// Families are the metrics of a Sundry.
type Families map[string]*dto.MetricFamily

// Metrics reads those of the Sundry at an admin address.
func (b *Bench) Metrics(admin string) (Families, error) {
	answer, err := b.Get("http://"+admin+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader([]byte(answer.Body)))
	if err != nil {
		return nil, fmt.Errorf("metrics of %s: %w", admin, err)
	}
	return families, nil
}

// Counts are the sums of a counter by the values of one of its labels, without those
// that are zero.
func (f Families) Counts(family, label string) map[string]float64 {
	sums := map[string]float64{}
	for _, m := range f[family].GetMetric() {
		for _, l := range m.GetLabel() {
			if n := m.GetCounter().GetValue(); l.GetName() == label && n != 0 {
				sums[l.GetValue()] += n
			}
		}
	}
	return sums
}

// Gauge is the value of a gauge without labels; 0 if there is none.
func (f Families) Gauge(family string) float64 {
	for _, m := range f[family].GetMetric() {
		return m.GetGauge().GetValue()
	}
	return 0
}

// Settled is the memory of a Sundry in bytes after garbage was collected: what is
// resident, without the free pages that the runtime has not given back. It keeps those
// up to twice the live heap, of which Sundry's ballast is a part, so that they say more
// about what was computed before than about what is kept.
func (b *Bench) Settled(p *Process, admin string) (int64, error) {
	var profile *Reply
	for range 2 { // what the first has finalized is garbage for the second
		var err error
		if profile, err = b.Get("http://"+admin+"/debug/pprof/heap?gc=1&debug=1", nil); err != nil {
			return 0, err
		}
	}
	resident, err := p.Resident()
	if err != nil {
		return 0, err
	}
	idle, err1 := heapStatistic(profile.Body, "HeapIdle")
	released, err2 := heapStatistic(profile.Body, "HeapReleased")
	return resident - (idle - released), errors.Join(err1, err2)
}

// heapStatistic is one of runtime.MemStats, at the end of a heap profile.
func heapStatistic(profile, name string) (int64, error) {
	_, rest, ok := strings.Cut(profile, "# "+name+" = ")
	value, _, ends := strings.Cut(rest, "\n")
	if !ok || !ends {
		return 0, fmt.Errorf("heap profile: no %s", name)
	}
	return strconv.ParseInt(value, 10, 64)
}
