package httpsource

import (
	"context"
	"fmt"
	"io"

	"sundry/upstreams"
)

// Bounds of a JSON text, far above what any source sends.
const (
	maxDepth  = 100
	maxValues = 2 << 20
)

const (
	// readChunk is how many bytes of a body are read before more memory is reserved.
	readChunk = 64 << 10
	// workingSet is the memory that a reply and the values that programs make of it
	// take together, as a multiple of the decoded reply.
	workingSet = 3
)

// Memory that decoding takes, in bytes: for each value, and for each array or
// object in addition to its values.
const (
	valueSize     = 48
	containerSize = 112
)

// jsonSize is an estimate of what a JSON text contains.
type jsonSize struct {
	memory int64 // in bytes, once it is decoded
	values int64
	depth  int
}

// measureJSON looks at each byte once, without decoding. A text that is not JSON
// has a size as well: the decoder finds the mistake.
func measureJSON(b []byte) jsonSize {
	var s jsonSize
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			end := stringEnd(b, i+1)
			s.memory += int64(end - i)
			i = end
			s.values++
		case '[', '{':
			depth++
			s.depth = max(s.depth, depth)
			s.memory += containerSize
			s.values++
		case ']', '}':
			depth--
		case ',':
			s.values++
		}
	}
	s.memory += s.values * valueSize
	return s
}

// stringEnd is the index of the quote that ends a string whose text begins at
// from; the length of b if none does.
func stringEnd(b []byte, from int) int {
	for i := from; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return len(b)
}

// checkBounds refuses a JSON text that is nested too deeply or has too many values.
func checkBounds(b []byte) error {
	switch s := measureJSON(b); {
	case s.depth > maxDepth:
		return fmt.Errorf("body as JSON: more than %d levels of nesting", maxDepth)
	case s.values > maxValues:
		return fmt.Errorf("%w: more than %d values", upstreams.ErrTooLarge, maxValues)
	}
	return nil
}

// reservingReader reads a body, and reserves memory before each chunk of it.
type reservingReader struct {
	ctx      context.Context //nolint:containedctx // of the request whose reply is read
	body     io.Reader
	memory   *upstreams.Reservation
	reserved int // bytes that are reserved and not read yet
}

// Read implements io.Reader. It fails when the memory budget is exhausted.
func (r *reservingReader) Read(p []byte) (int, error) {
	if r.reserved == 0 {
		if err := r.memory.Take(r.ctx, readChunk); err != nil {
			return 0, err
		}
		r.reserved = readChunk
	}
	n, err := r.body.Read(p[:min(len(p), r.reserved)])
	r.reserved -= n
	return n, err
}
