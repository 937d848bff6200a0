package catalog

// stackOfFill is about what a fill takes.
const stackOfFill = 12 << 10

// growStack lets the stack of a goroutine grow at once to what a fill takes, while there
// is little on it: each time that it doubles later, all frames on it are adjusted. The
// index keeps the compiler from leaving out the array.
//
//go:noinline
func growStack(index int) byte {
	var frame [stackOfFill]byte
	frame[index] = 1
	return frame[stackOfFill-1-index]
}
