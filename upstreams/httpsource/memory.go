package httpsource

import (
	"context"
	"fmt"
	"io"

	"sundry/upstreams"
)

// Bounds of a JSON text, far beyond what any source sends.
const (
	maxDepth  = 100
	maxValues = 2 << 20
)

const (
	// readStep is how much of a body is read before more memory is asked for.
	readStep = 64 << 10
	// workingSet is how many times the decoded size a reply takes, with what
	// programs make of it.
	workingSet = 3
)

// Memory that decoding takes, in bytes: of each value by itself, and of each
// container beside what is in it.
const (
	valueSize     = 48
	containerSize = 112
)

// size is what a JSON text holds, told by looking at each byte once. A text
// that is no JSON has a weight as well: decoding finds the mistake.
type size struct {
	size   int64 // an estimate of what it takes when it is decoded
	values int64
	depth  int
}

func estimate(b []byte) size {
	var w size
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			end := stringEnd(b, i+1)
			w.size += int64(end - i)
			i = end
			w.values++
		case '[', '{':
			depth++
			w.depth = max(w.depth, depth)
			w.size += containerSize
			w.values++
		case ']', '}':
			depth--
		case ',':
			w.values++
		}
	}
	w.size += w.values * valueSize
	return w
}

// stringEnd is the place of the quote that ends the string which begins here.
func stringEnd(b []byte, from int) int {
	for i := from; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(b)
}

// checkBounds refuses a JSON text that no upstream sends.
func checkBounds(b []byte) error {
	switch w := estimate(b); {
	case w.depth > maxDepth:
		return fmt.Errorf("body as JSON: nested in more than %d levels", maxDepth)
	case w.values > maxValues:
		return fmt.Errorf("%w: more than %d values", upstreams.ErrTooLarge, maxValues)
	}
	return nil
}

// metered reads from a body, and asks for room before each step.
type metered struct {
	ctx  context.Context //nolint:containedctx // of the request that is being read
	body io.Reader
	room *upstreams.Reservation
	left int
}

// Read implements io.Reader.
func (m *metered) Read(p []byte) (int, error) {
	if m.left == 0 {
		if err := m.room.Take(m.ctx, readStep); err != nil {
			return 0, err
		}
		m.left = readStep
	}
	n, err := m.body.Read(p[:min(len(p), m.left)])
	m.left -= n
	return n, err
}
