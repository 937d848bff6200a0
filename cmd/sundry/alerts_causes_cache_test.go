//go:build linux

package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// causesOfCache are those of the alerts about content and the memory for it.
func causesOfCache() []*cause {
	return []*cause{
		{
			// The refreshes fail too seldom to be the alert of an endpoint without a source.
			alert: "SundryStaleForLong", fires: 30*time.Minute + 15*time.Minute, resolves: 30 * time.Minute, takes: 80 * time.Second,
			stage: func(s *scene) act {
				o := newOrigin(s.t)
				p := s.launch(unwarmed, "--catalog", s.catalog("ttl: 1s, stale_if_error: 150s, pause: 3s, pause_max: 3s", o.source("up", "")))
				s.load(300*time.Millisecond, oneID(p))
				begin := func() { body := `<html>`; o.body.Store(&body) }
				return provoked(s.requests(5), begin, func() { o.body.Store(nil) })
			},
		},
		{alert: "SundryEditionLate", pace: hours, fires: 15 * time.Minute, resolves: 0, takes: 5 * time.Second, stage: lateEdition},
		{alert: "SundryNearTierThrashing", fires: time.Hour + 30*time.Minute, resolves: time.Hour, stage: smallMemory},
		{
			alert: "SundryCallsWasted", pace: hours, fires: 6 * time.Hour, resolves: 0, takes: time.Minute,
			stage: func(s *scene) act { return s.changing("300ms", "50%", 20, "20s") },
		},
		{
			alert: "SundryOldAnswers", pace: hours, fires: 6 * time.Hour, resolves: 0, takes: time.Minute,
			stage: func(s *scene) act { return s.changing("8s", "12%", 10, "1s") },
		},
	}
}

// lateEdition has an endpoint whose publication was due ten minutes ago, and is not there.
func lateEdition(s *scene) act {
	o := newOrigin(s.t)
	due := time.Now().UTC().Add(-10 * time.Minute).Format("15:04")
	p := s.launch(unwarmed, "--catalog", s.catalog(fmt.Sprintf(`until: "%s UTC", poll: 1s, edition: .date, stale_if_error: 1h`, due), o.source("up", "")))
	body := `{"date":"2020-01-01"}`
	o.body.Store(&body)
	return provoked(nil, func() { s.load(100*time.Millisecond, oneID(p)) }, func() { body := `{"date":"2999-01-01"}`; o.body.Store(&body) })
}

// smallMemory has many large answers in little memory.
func smallMemory(s *scene) act {
	o := newOrigin(s.t)
	b := make([]byte, 50_000)
	_, _ = rand.Read(b)
	body := `{"id":"` + hex.EncodeToString(b) + `"}`
	o.body.Store(&body)
	p := s.launch("cache: {warm: false, memory: 16MiB}\nlimits: {rate: 0, queue_delay: 0s}\n", "--catalog", s.catalog("ttl: 1h", o.source("up", "")))
	var on atomic.Bool
	s.load(25*time.Millisecond, func(n int) string {
		if on.Load() {
			return fmt.Sprintf("%s/api/own?id=%d", p.public, 1+n)
		}
		return p.public + "/api/own?id=1"
	})
	return provoked(nil, func() { on.Store(true) }, func() { on.Store(false) })
}

// changing has an endpoint whose content changes after so many seconds, under a rule that does not suit its target, and
// an operator who changes that in the end.
func (s *scene) changing(ttl, target string, seconds int, better string) act {
	dir := s.t.TempDir()
	writeSources(s.t, dir, "own", fmt.Sprintf("ttl: %s, target: {old: %s}", ttl, target),
		fmt.Sprintf("sources: [{name: clock, computed: {}, map: '{step: ($now / %d | floor)}'}]\n", seconds))
	p := s.launchWith(&process{adviseEvery: time.Second}, unwarmed, "--catalog", dir)
	begin := func() {
		s.load(20*time.Millisecond, func(n int) string { return fmt.Sprintf("%s/api/own?id=%d", p.public, 1+n%10) })
	}
	return provoked(nil, begin, func() {
		if status := s.order(p, http.MethodPut, "endpoints/own/cache", `{"set":{"ttl":"`+better+`"}}`); status != http.StatusOK {
			s.t.Errorf("the TTL is not changed: %d", status)
		}
	})
}
