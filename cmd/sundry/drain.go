package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"sundry/metrics/panics"
)

// closeTime bounds the closing of the admin listener, and that of fills and
// writes to Redis.
const closeTime = 2 * time.Second

// errUrgent is returned by a server that a second signal stopped at once.
var errUrgent = errors.New("stopped at once by a second signal: requests in flight were cut off")

// drain stops the service without failing a request. First this instance says
// that it is not ready, but answers as before, with each answer as the last of
// its connection: load balancers that ask /readyz choose other instances, and
// clients with open connections let go of them. Then the listener closes.
// Shutdown of net/http comes last: it drops a request that arrives at that moment
// on an idle connection.
func (s *server) drain(publicServer *public, adminServer *http.Server) error {
	s.mu.Lock()
	delay, timeout := s.loaded.config.DrainDelay, s.loaded.config.DrainTimeout
	s.mu.Unlock()
	s.front.Drain()
	publicServer.drain()
	s.notify("STOPPING=1")
	s.log.Info("draining", "delay", delay, "timeout", timeout, "connections", publicServer.listener.Connections())
	urgent := s.process.urgent
	select {
	case <-time.After(delay):
	case <-urgent.Done():
	}
	ctx, cancel := context.WithTimeout(urgent, timeout)
	defer cancel()
	err, open := s.finish(ctx, publicServer), publicServer.listener.Connections()
	if urgent.Err() != nil {
		s.log.Error("stopped at once by a second signal", "connections", open)
		return errors.Join(errUrgent, adminServer.Close())
	}
	closed := s.finishAdmin(urgent, adminServer)
	s.leaveSnapshot(ctx, err == nil && closed == nil)
	return errors.Join(err, closed)
}

// finish closes the public listener and waits for its connections, and for what is
// kept over a restart but the snapshot.
func (s *server) finish(ctx context.Context, publicServer *public) error {
	for _, p := range []*public{s.plain, publicServer} {
		if err := p.refuse(ctx); err != nil {
			s.log.Warn("the public listener could not be closed", "error", err)
		}
	}
	kept := []<-chan struct{}{
		s.leave(ctx, panics.Advice, s.leaveSeen), s.leave(ctx, panics.History, s.front.LeaveStatus),
	}
	if s.config.Secure() { // net/http waits for each idle client to take an alert
		defer context.AfterFunc(ctx, s.panics.Func(panics.Stop, publicServer.listener.Cut))()
	}
	err := publicServer.shutDown(ctx)
	await(ctx, kept...)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("drain: drain_timeout exceeded: %d connections with requests in flight were cut off", publicServer.listener.Connections())
	}
	return errors.Join(err, publicServer.Close(), s.plain.close())
}

// leave does something while requests in flight are waited for. The channel is closed when it is
// done; what does not heed the end of ctx, because the disk hangs, is abandoned.
func (s *server) leave(ctx context.Context, task panics.Task, do func(context.Context)) <-chan struct{} {
	done := make(chan struct{})
	s.panics.Go(task, func() {
		defer close(done)
		do(ctx)
	})
	return done
}

// await waits for all that is left, or for the end of ctx.
func await(ctx context.Context, left ...<-chan struct{}) {
	for _, done := range left {
		select {
		case <-done:
		case <-ctx.Done():
		}
	}
}

// finishAdmin closes the admin listener last, so that metrics can be read until
// then. A request that takes long, such as a profile, is cut off.
func (s *server) finishAdmin(ctx context.Context, adminServer *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	if err := adminServer.Shutdown(ctx); err == nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return adminServer.Close()
}

// close ends what outlives requests: fills, then writes to Redis. A fill that
// does not heed its cancellation is abandoned.
func (s *server) close() {
	ctx, cancel := context.WithTimeout(s.process.urgent, closeTime)
	defer cancel()
	done := make(chan error, 1)
	s.panics.Go(panics.Stop, func() { done <- errors.Join(s.cache.Close(), s.far.Close(ctx)) })
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = fmt.Errorf("fills were abandoned: %w", ctx.Err())
	}
	if err != nil {
		s.log.Warn("not everything was closed in order", "error", err)
	}
	s.env.CloseIdle()
	s.front.CloseIdle()
}
