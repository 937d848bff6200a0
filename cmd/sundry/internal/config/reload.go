package config

import (
	"cmp"
	"fmt"
)

// Reconcile compares the settings with those in force and returns the differences, a line for
// each. Settings that only a restart can change keep the value that this process was started
// with.
func (c *Config) Reconcile(started, inForce *Config) (changed, needRestart []string) {
	all := settings()
	for i := range all {
		s := &all[i]
		if s.reloadable {
			changed = append(changed, s.difference(inForce, c)...)
			continue
		}
		needRestart = append(needRestart, s.difference(started, c)...)
		s.carry(c, started)
	}
	return changed, needRestart
}

// difference describes how a setting differs from before, in a line; none where it does not.
func (s *setting) difference(was, is *Config) []string {
	a, b := s.show(was), s.show(is)
	switch {
	case a == b:
		return nil
	case s.secret:
		return []string{s.key + " has changed (its value is not shown)"}
	}
	return []string{fmt.Sprintf("%s: %s, was %s", s.key, cmp.Or(b, "not set"), cmp.Or(a, "not set"))}
}
