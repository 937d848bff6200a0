package upstreams

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"sundry/upstreams/lib/shape"
)

// Call is one call of a chain: what it is asked, and for whom. It does not change once it is made.
type Call struct {
	Endpoint string
	// Params are the canonical parameters: strings, ints, bools, nil for
	// absent ones.
	Params map[string]any
	Now    time.Time
	// Key is a hash of the key of the answer, for breakers; 0 where clients cannot choose it.
	Key uint64
	// Defaults: no input is other than the endpoint's own default, so that none of it can be
	// at fault, and nothing is a negative answer.
	Defaults bool
	// Private parameters are personal data: the journal does not keep them.
	Private bool
	Trace   Trace
	// Loop lists the services like this one that the request came through, as
	// loop.Of does.
	Loop string
	// Kept has the memory of the answers until the caller releases it; nil: none is
	// reserved for them once they are there.
	Kept *Kept
}

// Trace joins the traces of a request across services (W3C Trace Context). A field that
// is "" is not known.
type Trace struct{ RequestID, Parent, State string }

// AddTo sets the headers by which an upstream joins the trace.
func (t *Trace) AddTo(h http.Header) {
	for _, f := range [...]struct{ name, value string }{{"X-Request-Id", t.RequestID}, {"Traceparent", t.Parent}, {"Tracestate", t.State}} {
		if f.value != "" {
			h[f.name] = []string{f.value}
		}
	}
}

// Answer is what a chain answers with.
type Answer struct {
	Source string
	// Data is JSON-ready: nil, bool, numbers, string, []any, map[string]any.
	Data any
	// Blob is the picture; nil for a source without one.
	Blob *Blob
	// Expires is when the content stops working; zero for never.
	Expires time.Time
	// Since is when the oldest cached step result that it was made of was
	// created; zero: none was cached.
	Since time.Time
	// LastResort: the source is declared as a last resort.
	LastResort bool
}

// Blob is a verified picture.
type Blob struct {
	Type  string // by its magic bytes
	Bytes []byte
}

// AttemptReport is how an attempt went, for logs, metrics and `sundry try`.
type AttemptReport struct {
	Source string
	Result string // "success" or the name of an ErrorKind
	Took   time.Duration
	Err    error // without secrets, as Stages
	Stages []Stage
	// Changes are how the reply to its own request differs from the known ones.
	Changes []shape.Change
}

// Stage is a part of an attempt with what went into it or came out. Only `sundry
// try` and a retry from the console collect them.
type Stage struct {
	Name   string
	Detail any
}

// StageData is the name of the stage whose detail is the mapped data.
const StageData = "data"

// Line is the detail on one line, cut after limit runes.
func (s *Stage) Line(limit int) string {
	text, ok := s.Detail.(string)
	if !ok {
		b, err := json.Marshal(s.Detail)
		if err != nil {
			return fmt.Sprint(s.Detail)
		}
		text = string(b)
	}
	return Shorten(text, limit)
}

// Shorten cuts a text after limit runes, and marks the cut with an ellipsis.
func Shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	if r := []rune(text); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return text
}
