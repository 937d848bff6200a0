package near

import (
	"bytes"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/maypok86/otter/v2"

	"sundry/cache/entry"
	"sundry/metrics/panics"
)

// Entries are stored as they were made, not compressed. A coding of a body is made
// when a caller asks for it in an entry of the hot table, and kept beside the entry:
// keys that are requested once never cost a compression, and no caller waits for one.

// formCodings are the codings of a form's only body, by Coding less one: nil until it
// is asked for.
type formCodings [entry.Zstd]atomic.Pointer[coded]

// coded is a body in a coding.
type coded struct {
	data []byte // nil while it is being made, and if it saves too little or is too large
}

func (f *formCodings) size() (n int) {
	for i := range f {
		if c := f[i].Load(); c != nil {
			n += len(c.data)
		}
	}
	return n
}

// coder compresses bodies in the background, a few at a time.
type coder struct {
	zstd  *zstd.Encoder
	gzip  sync.Pool
	slots chan struct{}
}

func newCoder() (*coder, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	return &coder{
		zstd: enc, gzip: sync.Pool{New: func() any { return gzip.NewWriter(nil) }},
		slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
	}, err
}

// encode returns nil where compression saves too little.
func (c *coder) encode(coding entry.Coding, body []byte) []byte {
	var out []byte
	if coding == entry.Zstd {
		out = c.zstd.EncodeAll(body, nil)
	} else {
		out = c.gzipped(body)
	}
	return entry.Worthwhile(out, body)
}

func (c *coder) gzipped(body []byte) []byte {
	w := c.gzip.Get().(*gzip.Writer) //nolint:forcetypeassert // New makes these alone
	defer c.gzip.Put(w)
	var out bytes.Buffer
	w.Reset(&out)
	_, _ = w.Write(body) // a Buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

// Code gives a representation of a form the preferred coding that is accepted, if it has
// been made; else it has it made.
func (m *Memory) Code(r *Hot, form int, accept entry.Codings, rep *entry.Rep) {
	best := accept.Best()
	if !rep.Varies || best == entry.Identity {
		return
	}
	slot := &r.codings[form][best-1]
	switch c := slot.Load(); {
	case c == nil:
		m.hot.makeCoding(r, best, slot, rep.Data)
	case c.data != nil:
		rep.Coding, rep.Data = best, c.data
	}
}

// makeCoding starts at most one compression of a body in a coding. With all slots
// taken it does nothing: the next hit asks again.
func (h *hotTable) makeCoding(r *Hot, coding entry.Coding, slot *atomic.Pointer[coded], body []byte) {
	select {
	case h.coder.slots <- struct{}{}:
	default:
		return
	}
	if !slot.CompareAndSwap(nil, &coded{}) {
		<-h.coder.slots
		return
	}
	h.workers.Go(h.panics.Func(panics.HotTable, func() {
		defer func() { <-h.coder.slots }()
		data := h.coder.encode(coding, body)
		if int(r.weight())+len(data) > h.largest {
			data = nil // the entry would leave the table for it
		}
		slot.Store(&coded{data})
		h.reweigh(r)
	}))
}

// reweigh counts what was added to an entry, or to a later one with the same codings.
func (h *hotTable) reweigh(r *Hot) {
	h.table.ComputeIfPresent(r.Key, func(now *Hot) (*Hot, otter.ComputeOp) {
		if len(now.codings) == 0 || &now.codings[0] != &r.codings[0] {
			return now, otter.CancelOp
		}
		return now, otter.WriteOp
	})
}
