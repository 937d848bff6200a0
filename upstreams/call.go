package upstreams

import (
	"encoding/json"
	"fmt"
	"time"

	"sundry/upstreams/host"
	"sundry/upstreams/redact"
)

// Call is one question to a chain. It is not changed once made.
type Call struct {
	Endpoint string
	// Params are the canonical parameters: strings, ints, bools, nil for
	// absent ones.
	Params map[string]any
	Now    time.Time
	// Caller is weighed by breakers.
	Caller host.Caller
	// Private parameters are personal data: they are not kept in the journal.
	Private bool
	// Header values to pass on to upstreams: traceparent and the like.
	Trace map[string]string
	// Loop are the services like this one that the question came through, as
	// LoopOf lists them.
	Loop string
}

// Answer is what a chain found out.
type Answer struct {
	Source string
	// Data is JSON-ready: nil, bool, numbers, string, []any, map[string]any.
	Data any
	// Blob is the picture, where the source brings one.
	Blob *Blob
	// Expires is when the content stops working; zero for never.
	Expires time.Time
	// Since is the birth of the oldest outcome of a step in it that was kept
	// from an earlier call; zero: it was all asked for anew.
	Since time.Time
	// LastResort: the source is one that is asked where there is nothing better.
	LastResort bool
}

// Blob is a verified picture.
type Blob struct {
	Type  string // by its magic bytes
	Bytes []byte
}

// Attempt reports one try of one source, for logs, metrics and `sundry try`.
type Attempt struct {
	Source string
	Result string // "success" or a Kind
	Took   time.Duration
	Err    error
	Stages []Stage
	// Redactor blots out the attempt's secrets in whatever else is shown of it.
	// Err and Stages went through it.
	Redactor *redact.Redactor
}

// Stage is one step of an attempt, in words and raw material. Only `sundry
// try` and a retry from the console ask for them.
type Stage struct {
	Name   string
	Detail any
}

// Line is the detail as one readable line of at most so many runes, and a mark
// where it was cut.
func (s *Stage) Line(most int) string {
	text, ok := s.Detail.(string)
	if !ok {
		b, err := json.Marshal(s.Detail)
		if err != nil {
			return fmt.Sprint(s.Detail)
		}
		text = string(b)
	}
	return Shorten(text, most)
}

// Shorten cuts a text after so many runes, and marks the cut.
func Shorten(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
