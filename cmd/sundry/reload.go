package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// watch reloads configuration and catalog on SIGHUP. A mistake keeps the old
// set.
func (s *server) watch(ctx context.Context) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			s.reloadOnce()
		}
	}
}

func (s *server) reloadOnce() {
	err := func() error {
		c, err := s.cmd.config(s.world.getenv)
		if err != nil {
			return err
		}
		set, err := loadCatalog(c, s.env)
		if err != nil {
			return err
		}
		return s.front.Swap(set)
	}()
	if err != nil {
		s.reload.Success.Set(0)
		s.log.Error("reload failed; the set before it stays", "error", err)
		return
	}
	s.reload.Success.Set(1)
	s.reload.Time.SetToCurrentTime()
	s.log.Info("reloaded")
}
