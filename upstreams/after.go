package upstreams

// After is what the sources before a source must have said together for it to be asked.
type After string

// The values of After. The zero value is whatever they said.
const (
	// AfterFailure: none of them could find out.
	AfterFailure After = "failure"
	// AfterNegative: what was asked for does not exist.
	AfterNegative After = "negative"
)

// follows reports whether a source with one of these values is asked after what the
// others came to.
func (a After) follows(err error) bool {
	return (KindOf(err) == Negative) == (a == AfterNegative)
}
