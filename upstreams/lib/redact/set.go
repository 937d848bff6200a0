package redact

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Set holds the secrets of a process. One that was added stays in it, because it may still be shown after a
// reload has replaced it. The zero value is empty; nil is as well, and takes none. It is safe for concurrent use.
type Set struct {
	mu      sync.Mutex // guards secrets
	secrets []string
	current atomic.Pointer[Redactor]
}

// Sets holds a set for each name. The zero value is empty. It is safe for concurrent use.
type Sets struct {
	mu     sync.Mutex // guards byName
	byName map[string]*Set
}

// Of returns the set of a name, the same each time.
func (s *Sets) Of(name string) *Set {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byName == nil {
		s.byName = map[string]*Set{}
	}
	if s.byName[name] == nil {
		s.byName[name] = &Set{}
	}
	return s.byName[name]
}

// Add adds secrets.
func (s *Set) Add(secrets ...string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := len(s.secrets)
	for _, one := range secrets {
		if one != "" && !slices.Contains(s.secrets, one) {
			s.secrets = append(s.secrets, one)
		}
	}
	if len(s.secrets) > known {
		s.current.Store(New(s.secrets...))
	}
}

// Redactor returns the redactor of all secrets that the set has now.
func (s *Set) Redactor() *Redactor {
	if s == nil {
		return nil
	}
	return s.current.Load()
}

// Text returns a text of others as it may be shown: without secrets, and printable.
func (s *Set) Text(text string) string { return Printable(s.Redactor().Text(text)) }
