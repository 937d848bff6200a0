package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// churnedKeys are so many that their entries take a fifth of a near tier of the usual size.
const churnedKeys = 25_000

// The near tier at rest, and while a fifth of it changes.
const (
	atRest  = "at rest"
	churned = "churned"
)

func churnedItems() []string { return numbered(itemPath, 900_000_000, churnedKeys) }

// fillChurned asks for what the hits ask for, some times: what is asked for again is popular.
func fillChurned(b *bench, r *row) error {
	return r.fill(b.servers[sundryChurns], slices.Repeat(numbered(keyPath, 1, zipfKeys), 4))
}

// churn measures how long hits take while a fifth of the near tier is purged, asked for
// again, and before that: then the same requests are hits, too.
func churn(b *bench, r *row, s *server) error {
	if err := r.fill(s, churnedItems()); err != nil {
		return err
	}
	if err := b.churned(r, s, atRest, "hit", func() error { return nil }); err != nil {
		return err
	}
	return b.churned(r, s, churned, "miss", func() error { return b.purge(s, "benchitem") })
}

// churned measures the hits beside requests for the items, which are counted as an outcome,
// once something has begun.
func (b *bench) churned(r *row, s *server, column, counted string, begin func() error) error {
	const spans = 5 // as for the row latency
	slow := &row{spans: spans, delay: connections * spans * b.span() / churnedKeys}
	var items outcome
	var hits *vegeta.Metrics
	_, used, err := b.during(counted, []*server{s}, func() (_ outcome, err error) {
		var both sync.WaitGroup
		both.Go(func() {
			pace := vegeta.Rate{Freq: latencyRate, Per: time.Second}
			hits = attack{pace, spans * b.span(), allConnections}.summary(r.targets(s, r.paths(b, s)))
		})
		if err = begin(); err == nil {
			items, err = b.load(slow, s, churnedItems())
		}
		both.Wait()
		return items, err
	})
	if lost := items.failed + r.came(hits).failed; err == nil && (lost > 0 || used.good < 0.99*float64(items.answers)) {
		err = fmt.Errorf("%d requests failed; of %d %.0f are counted as %s", lost, items.answers, used.good, counted)
	}
	b.note("p99.9", column, micros(hits.Latencies.Quantile(0.999)))
	return err
}

// purge has a Sundry purge an endpoint.
func (b *bench) purge(s *server, endpoint string) error {
	body := fmt.Sprintf(`{"endpoint":%q,"mode":"hard"}`, endpoint)
	req, err := http.NewRequestWithContext(b.ctx, http.MethodPost, "http://"+s.admin()+"/admin/api/purge", bytes.NewBufferString(body)) //nolint:gosec // a server of the bench's own
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := b.transport.RoundTrip(req)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("purging %s: status %d: %s", endpoint, resp.StatusCode, text)
	}
	return err
}
