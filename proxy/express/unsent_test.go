package express

import (
	"errors"
	"testing"
)

// TestUnsent: a client reads bodies of a quarter of the memory at the same time, and each body counts once.
func TestUnsent(t *testing.T) {
	t.Parallel()
	u := NewUnsent(16 * segment)
	body := func() []byte { return make([]byte, 2*segment+1) } // two units
	a, b, c := body(), body(), body()
	for name, err := range map[string]error{
		"first": u.Hold(1, a), "second": u.Hold(1, b), "the first again": u.Hold(1, a), "another client": u.Hold(2, c),
		"none": u.Hold(1, nil), "a small one": u.Hold(1, make([]byte, segment)),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	refused := body()
	if err := u.Hold(1, refused); !errors.Is(err, ErrUnsent) {
		t.Errorf("a third body of one client: %v", err)
	}
	if err := u.Hold(3, refused); err != nil {
		t.Errorf("a body that another client may not read now: %v", err)
	}
	if err := u.Hold(1, c); !errors.Is(err, ErrUnsent) {
		t.Errorf("a third body, which another client reads: %v", err)
	}
	u.Release(1, a)
	if err := u.Hold(1, body()); !errors.Is(err, ErrUnsent) {
		t.Errorf("a body is still read once: %v", err)
	}
	u.Release(1, a)
	u.Release(1, b)
	if err := u.Hold(1, c); err != nil {
		t.Errorf("a body that another client reads: %v", err)
	}
	u.Release(2, c)
	if u.memory.Used() != 4 {
		t.Errorf("%d units of two bodies of which another client reads one", u.memory.Used())
	}
	for _, read := range [][]byte{c, nil, make([]byte, segment)} {
		u.Release(1, read)
	}
	u.Release(3, refused)
	if len(u.bodies)+len(u.readers) != 0 || u.memory.Used() != 0 {
		t.Errorf("%d bodies and %d units are left", len(u.bodies), u.memory.Used())
	}
	var none *Unsent
	if err := none.Hold(1, a); err != nil {
		t.Error(err)
	}
	none.Release(1, a)
}
