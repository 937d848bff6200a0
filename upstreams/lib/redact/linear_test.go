package redact

import (
	"strings"
	"testing"

	"sundry/upstreams/lib/costtest"
)

func TestRedactionIsLinear(t *testing.T) {
	r := New("31415926", "signature")
	costtest.Linear(t, func(text string) { r.Text(text) })
}

// TestBreaksAndCutsAreLinear: the beginnings of secrets, with all between them that is skipped or looked at twice.
func TestBreaksAndCutsAreLinear(t *testing.T) {
	r := New("31415926", "signature", strings.Repeat("3141", 20))
	for _, piece := range []string{"3141\n", "\n", "3141\r\n \t", "3141…", "3141...", "3141&#5", "3141%3", `3141\u0`, "&#51;", "&a", "&&", "%5c%75"} {
		costtest.LinearInLength(t, func(length int) { r.Text(strings.Repeat(piece, length/len(piece))) })
	}
}

func TestRedactionOfJSONIsLinear(t *testing.T) {
	set := &Set{}
	set.Add("31415926", "signature")
	costtest.Linear(t, func(text string) { set.JSON([]byte(text)) })
}
