package host

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/clients"
)

// TestSlotsOfOneClient: a client that fills its share of a host, of drawings or of targets leaves slots for others. Where all are
// in use for a moment, the others wait, and that client is refused at once.
func TestSlotsOfOneClient(t *testing.T) {
	t.Parallel()
	h, w := newHost("a", Config{}), &Work{}
	for name, enter := range map[string]func(context.Context) error{
		"host":    func(ctx context.Context) error { _, _, err := h.Enter(ctx, 0); return err },
		"drawing": func(ctx context.Context) error { _, err := w.EnterDrawing(ctx); return err },
		"targets": func(ctx context.Context) error { _, err := w.EnterTarget(ctx, "example.org"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				of := func(id clients.ID) context.Context { return clients.With(t.Context(), id) }
				refused, got := false, 0
				for range 400 {
					if began := time.Now(); enter(of(1)) == nil {
						got++
					} else if time.Since(began) == 0 {
						refused = true
					}
				}
				if began := time.Now(); enter(of(2)) != nil && time.Since(began) < queueTime {
					t.Errorf("after one client has got %d slots, another is refused at once", got)
				}
				if got == 0 || name != "drawing" && !refused { // those who wait for a core hold a place only while they wait
					t.Errorf("one client gets %d slots, and is refused at once: %v", got, refused)
				}
			})
		})
	}
}
