package through

import (
	"sync"
	"syscall"
)

// inbound is the state of what an origin sends on a connection. It tells the sender of a request whether anything has arrived before it.
// Over TLS that is known of complete records: what is in a part of one is not.
type inbound struct {
	raw syscall.RawConn // the connection in the kernel; nil means that it has none, as a net.Pipe

	mu      sync.Mutex
	changed *sync.Cond // for the following
	waits   bool       // a read has found nothing, and waits for bytes
	err     error      // by which reading has ended
}

func newInbound(raw syscall.RawConn) *inbound {
	in := &inbound{raw: raw}
	in.changed = sync.NewCond(&in.mu)
	return in
}

// begin begins a read. Without a file descriptor, what arrives is not known before the read ends.
func (in *inbound) begin() {
	if in.raw == nil {
		in.setWaits(true)
	}
}

func (in *inbound) setWaits(waits bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.waits = waits
	in.changed.Broadcast()
}

// end ends a read, or the connection. An error means that no read follows.
func (in *inbound) end(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.waits = false
	if in.err == nil {
		in.err = err
	}
	in.changed.Broadcast()
}

// await waits until a read waits for bytes. It fails if reading ends instead. The caller has locked mu.
func (in *inbound) await() error {
	for !in.waits && in.err == nil {
		in.changed.Wait()
	}
	return in.err
}

// awaitSilence is await, and also waits until what has arrived is read. Nothing is read until the caller unlocks mu.
func (in *inbound) awaitSilence() error {
	for in.err == nil && (!in.waits || in.arrived()) {
		in.changed.Wait()
	}
	return in.err
}
