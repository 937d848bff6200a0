// Package conformtest holds answers to what the conformance table says of them.
package conformtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // registered for their measures
	_ "image/jpeg" // the same
	_ "image/png"  // the same
	"net/http"
	"regexp"
	"strings"

	"github.com/itchyny/gojq"

	"sundry/upstreams/recorded"
)

// Rule is what one call of the table must come to. It is safe for concurrent
// use.
type Rule struct {
	Status int
	typ    string
	to     *regexp.Regexp // nil: any
	is     *gojq.Code     // nil: any
	said   string
}

// Compile makes the rule of a call.
func Compile(c *recorded.ConformanceCall) (*Rule, error) {
	r := &Rule{Status: c.Status, typ: c.Type, said: c.Is}
	if r.Status == 0 {
		r.Status = http.StatusOK
	}
	var err error
	if c.To != "" {
		if r.to, err = regexp.Compile(c.To); err != nil {
			return nil, err
		}
	}
	if c.Is == "" {
		return r, nil
	}
	q, err := gojq.Parse(c.Is)
	if err == nil {
		r.is, err = gojq.Compile(q)
	}
	return r, err
}

// Check tells what is wrong with an answer; nil: nothing.
func (r *Rule) Check(ctx context.Context, status int, h http.Header, body []byte) error {
	if status != r.Status {
		return fmt.Errorf("expected status %d, got %d: %.300s", r.Status, status, body)
	}
	typ := h.Get("Content-Type")
	if !strings.HasPrefix(typ, r.typ) {
		return fmt.Errorf("expected content type %s, got %s", r.typ, typ)
	}
	if text := string(body); strings.HasPrefix(typ, "text/plain") && (!strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n")) {
		return fmt.Errorf("expected a text that ends with one newline, got %q", text)
	}
	if r.to != nil && !r.to.MatchString(h.Get("Location")) {
		return fmt.Errorf("expected a redirect to %s, got %s", r.to, h.Get("Location"))
	}
	if status >= http.StatusBadRequest {
		return nil
	}
	v, err := subject(typ, body)
	if err != nil || r.is == nil {
		return err
	}
	return r.holds(ctx, v, body)
}

func (r *Rule) holds(ctx context.Context, v any, body []byte) error {
	got, ok := r.is.RunWithContext(ctx, v).Next()
	if err, failed := got.(error); failed {
		return fmt.Errorf("%s: %w", r.said, err)
	}
	if !ok || got == nil || got == false {
		return fmt.Errorf("does not hold: %s\nof %.600s", r.said, body)
	}
	return nil
}

// subject is what a condition is about.
func subject(typ string, body []byte) (any, error) {
	switch {
	case strings.HasPrefix(typ, "application/json"):
		return data(body)
	case typ == "image/x-icon", typ == "image/svg+xml":
		return map[string]any{"size": len(body)}, nil
	case strings.HasPrefix(typ, "image/"):
		cfg, kind, err := image.DecodeConfig(strings.NewReader(string(body)))
		if err == nil && typ != "image/"+kind {
			err = errors.New("it is of another type")
		}
		if err != nil {
			return nil, fmt.Errorf("%s that is %q: %w", typ, kind, err)
		}
		return map[string]any{"type": typ, "width": cfg.Width, "height": cfg.Height, "size": len(body)}, nil
	}
	return strings.TrimSuffix(string(body), "\n"), nil
}

func data(body []byte) (any, error) {
	var doc struct {
		Code    int
		Message string
		Data    any
	}
	err := json.Unmarshal(body, &doc)
	if err == nil && (doc.Code != http.StatusOK || doc.Message != "ok") {
		err = errors.New("expected code 200 and the message ok")
	}
	if err != nil {
		return nil, fmt.Errorf("envelope: %w: %.300s", err, body)
	}
	return doc.Data, nil
}
