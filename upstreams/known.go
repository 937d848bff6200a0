package upstreams

import (
	"sync"

	"sundry/upstreams/lib/shape"
)

// KnownReplies has the replies of sources whose shapes are known.
type KnownReplies interface {
	// Replies are the bodies of good replies to a step of a source, or for "" to its
	// own request: those of one call together, which are several if it has parts.
	Replies(endpoint, source, step string) [][][]byte
}

// ReplyShape compares the replies to one request of a source with what is known of them. It is
// safe for concurrent use.
type ReplyShape struct {
	// Step whose request it is; "" for the source's own.
	Step string
	// Reads are the names of the fields that programs read.
	Reads map[string]bool
	// Decode decodes the bodies of one call: several if it has parts.
	Decode func(bodies [][]byte) (any, error)
	known  func() *shape.Watch // reads the known replies once
}

// ShapeOfReplies returns the shape of the replies to a request of the compiled source. It returns nil
// where nothing is known, or no field is read.
func (c *Compiler) ShapeOfReplies(step string, reads map[string]bool, decode func([][]byte) (any, error)) *ReplyShape {
	if c.Env.Known == nil || len(reads) == 0 {
		return nil
	}
	return &ReplyShape{Step: step, Reads: reads, Decode: decode, known: sync.OnceValue(func() *shape.Watch {
		known := &shape.Shape{}
		for _, bodies := range c.Env.Known.Replies(c.Endpoint, c.Source, step) {
			if v, err := decode(bodies); err == nil {
				known.Add(v)
			}
		}
		return known.Watch(reads)
	})}
}

// Compare lists how a decoded reply differs from what is known. A nil shape knows nothing.
func (s *ReplyShape) Compare(body any) []shape.Change {
	if s == nil {
		return nil
	}
	return s.known().Changes(body)
}
