package redact

import (
	"bytes"
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

// JSON returns a JSON document as it may be shown. Names and numbers of fields keep their form: only what stands between
// quotation marks is changed.
func (s *Set) JSON(document []byte) []byte {
	out := make([]byte, 0, len(document))
	for {
		start := bytes.IndexByte(document, '"')
		if start < 0 {
			return append(out, document...)
		}
		start++
		end := start + endOfString(document[start:])
		out = append(append(out, document[:start]...), s.Text(string(document[start:end]))...)
		if end == len(document) {
			return out
		}
		out, document = append(out, '"'), document[end+1:]
	}
}

// endOfString returns the length of a JSON string up to its closing quotation mark.
func endOfString(b []byte) int {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(b)
}
