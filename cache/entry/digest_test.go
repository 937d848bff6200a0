package entry

import "testing"

// Entries of one layout keep their digests, which Redis holds.
func TestDigestIsThatOfTheLayout(t *testing.T) {
	c := textContent("one", "two")
	c.Forms = append(c.Forms, Form{{Status: 302, Type: "text/html", Location: "https://example.org/"}})
	if got, want := DigestOf(&c), uint64(0x61cf35019dbf8ef8); got != want {
		t.Errorf("%#x, want %#x", got, want)
	}
	if got, want := DigestOf(&Content{Negative: "no"}), uint64(0x66172407a3345de7); got != want {
		t.Errorf("a negative answer: %#x, want %#x", got, want)
	}
}
