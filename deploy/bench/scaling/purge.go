//go:build linux

package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"sundry/deploy/bench/harness"
)

// makeStale purges the endpoint whose answers are to be stale, softly, on all instances.
func (b *bench) makeStale(fleet []*harness.Sundry) error {
	body := `{"endpoint":"` + stales + `","mode":"soft"}`
	answer, err := b.Get("http://"+fleet[0].Admin+"/admin/api/purge", func(req *http.Request) {
		req.Method, req.Body, req.ContentLength = http.MethodPost, io.NopCloser(strings.NewReader(body)), int64(len(body))
		req.Header.Set("Content-Type", "application/json")
	})
	if err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	if answer.Status != http.StatusOK {
		return fmt.Errorf("purge: status %d: %.100s", answer.Status, answer.Body)
	}
	return b.Until("purge", func() bool { return b.inSync(fleet) }, b.server)
}

// inSync reports whether all instances know the last change of settings that the first
// knows.
func (b *bench) inSync(fleet []*harness.Sundry) bool {
	var last float64
	for i, s := range fleet {
		families, err := b.Metrics(s.Admin)
		if err != nil {
			return false
		}
		known := families.Gauge("sundry_settings_sequence")
		if i == 0 {
			last = known
		}
		if known != last {
			return false
		}
	}
	return true
}
