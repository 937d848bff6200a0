package main

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// causesOfInstances are those of the alerts about processes.
func causesOfInstances() []*cause {
	return []*cause{
		{
			alert: "SundryDown", fires: 2 * time.Minute, resolves: 0,
			stage: func(s *scene) act {
				m := s.program(nil)
				return act{nil, m.kill, func() { s.program(nil, "--admin", strings.TrimPrefix(m.admin, "http://")) }}
			},
		},
		{
			alert: "SundryInstanceDown", fires: 2 * time.Minute, resolves: 0,
			stage: func(s *scene) act {
				s.launch(unwarmed)
				s.launch(unwarmed)
				p := s.launch(unwarmed)
				return act{nil, p.end, func() { s.launch(unwarmed, "--admin", strings.TrimPrefix(p.admin, "http://")) }}
			},
		},
		{
			alert: "SundryAdminLoginsFail", fires: 10 * time.Minute, resolves: 10 * time.Minute,
			stage: func(s *scene) act {
				p := s.launch(unwarmed)
				var stop func()
				return act{nil, func() { stop = s.guess(p) }, func() { stop() }}
			},
		},
	}
}

// guess tries wrong tokens.
func (s *scene) guess(p *instance) (stop func()) {
	ctx, cancel := context.WithCancel(s.ctx)
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	s.busy.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.admin+"/metrics", nil)
			if err != nil {
				return
			}
			r.Header.Set("Authorization", "Bearer not-"+adminToken)
			if resp, err := client.Do(r); err == nil {
				_ = resp.Body.Close()
			}
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	})
	return cancel
}
