package near

import (
	"strings"
	"testing"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

func newMemory(t testing.TB, limit int64) *Memory {
	t.Helper()
	m, err := New(limit, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// textContent has a form with a body of each text.
func textContent(texts ...string) entry.Content {
	var f entry.Form
	for _, t := range texts {
		f = append(f, entry.Body{Status: 200, Type: "text/plain", ETag: `"tag"`, Data: []byte(t)})
	}
	return entry.Content{Source: "first", Forms: []entry.Form{f}}
}

// made is an entry of a generation that was created now.
func made(t testing.TB, c entry.Content, generation uint64) *entry.Entry {
	t.Helper()
	now := time.Now()
	raw, err := entry.Encode(&c, &entry.Meta{Created: now, Modified: now}, generation)
	if err != nil {
		t.Fatal(err)
	}
	e, err := entry.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

// mustPut stores the entry of a content.
func mustPut(t testing.TB, m *Memory, class policy.Class, key string, c entry.Content) {
	t.Helper()
	if !m.Put(class, key, made(t, c, 1)) {
		t.Fatalf("%s is not stored", key)
	}
}

// textOf is the body of an entry in bigcache, which the hot table may take; "" where there is none.
func textOf(m *Memory, class policy.Class, key string) string {
	_, rep, ok := m.Get(class, key, 0)
	if !ok {
		return ""
	}
	return string(rep.Data)
}

// mustBeHot reads a key until it is in the hot table.
func mustBeHot(t testing.TB, m *Memory, class policy.Class, key string) *Hot {
	t.Helper()
	if textOf(m, class, key) == "" {
		t.Fatalf("%s is not stored", key)
	}
	m.Wait()
	r := m.Hot(key)
	if r == nil {
		t.Fatalf("%s is not in the hot table", key)
	}
	return r
}

var kilobyte = strings.Repeat("x", 1000)
