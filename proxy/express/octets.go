package express

// octetClass says where in a head an octet may stand.
type octetClass uint8

const (
	inTarget octetClass = 1 << iota
	inName              // of a field: a token
	inValue             // of a field
)

var octets = classifyOctets()

func classifyOctets() (classes [256]octetClass) {
	const marks = "!#$%&'*+-.^_`|~"
	for o := range classes {
		if o >= 0x20 && o != 0x7f {
			classes[o] |= inValue
		}
		if o > 0x20 && o != 0x7f && o != '#' {
			classes[o] |= inTarget
		}
		if o >= '0' && o <= '9' || o >= 'A' && o <= 'Z' || o >= 'a' && o <= 'z' {
			classes[o] |= inName
		}
	}
	for _, o := range []byte(marks) {
		classes[o] |= inName
	}
	return classes
}
