package live

import "sundry/metrics/words"

// refusal is a change that failed: what became of it, and why. It is both to errors.Is.
type refusal struct{ what, why error }

func refuse(what, why error) error { return &refusal{what, why} }

// Error is the text for logs.
func (r *refusal) Error() string { return r.what.Error() + ": " + r.why.Error() }

// Unwrap gives both errors.
func (r *refusal) Unwrap() []error { return []error{r.what, r.why} }

// Words implements words.Teller. What fails has words; why may come from a library.
func (r *refusal) Words() words.Text {
	return words.Explained(words.Of(r.what, words.Name(r.what.Error())), r.why)
}
