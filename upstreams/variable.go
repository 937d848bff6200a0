package upstreams

// Variable describes an environment variable that only an operator can give a value:
// the key of a service, a cookie, the address of a service of their own.
type Variable struct {
	Name string
	// EN and ZH say what it is and what it is good for.
	EN, ZH  string
	Example string
	// From is the page where it is to be had.
	From string
	// Cost of having it: free, paid, or own for what the operator hosts.
	Cost string
	// Secret: the value is redacted wherever it is shown.
	Secret bool
}
