package idcard

import (
	"errors"
	"strings"
	"testing"
)

func TestNormalize(t *testing.T) {
	for card, want := range map[string]string{
		"110101199001010015":         "110101199001010015",
		"11010119900307803x":         "11010119900307803X",
		"11010119900307803X":         "11010119900307803X",
		"110101900101001":            "110101900101001",
		" \t110101199001010015\r\n":  "110101199001010015",
		"110101 19900101 0015":       "110101199001010015",
		"110101-19900101-0015":       "110101199001010015",
		"110101 - 19900101 – 0015":   "110101199001010015",
		"110101　19900101\u00a0001 5": "110101199001010015",
		"１１０１０１１９９００３０７８０３Ｘ":         "11010119900307803X",
		"１１０１０１１９９００３０７８０３ｘ":         "11010119900307803X",
		"110101－19900101－0015":       "110101199001010015",
	} {
		if got, err := Normalize(card); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", card, got, err, want)
		}
	}
}

func TestMalformed(t *testing.T) {
	for _, card := range []string{
		"", " ", "-", "X", "1", "11010119900101001", "1101011990010100155", "11010190010100", "1101019001010011",
		"11010190010100X", "X10101199001010015", "1101011990X1010015", "1101011990010100XX",
		"-110101199001010015", "110101199001010015-", "110101--199001010015", "110101- -199001010015x",
		"11010119900101001A", "110101.19900101.0015", "110101199001010015\x00", "\xff10101199001010015",
		"११०१०१११९९००१०१००१५", "①10101199001010015", "+10101199001010015", "二10101199001010015",
		strings.Repeat("1", 1000), strings.Repeat(" 1", 1000),
	} {
		got, err := Normalize(card)
		if got != "" || !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %q, %v", card, got, err)
			continue
		}
		if i, err := Parse(card, noon); i != nil || !errors.Is(err, ErrMalformed) {
			t.Errorf("Parse(%q): %v, %v", card, i, err)
		}
		if len(card) > 2 && strings.Contains(err.Error(), card) {
			t.Errorf("%q is in the error", card)
		}
	}
	for _, said := range []string{"17 digits and a digit or X", "15 digits"} {
		if !strings.Contains(ErrMalformed.Error(), said) {
			t.Errorf("the error does not say %q", said)
		}
	}
}

func FuzzNormalize(f *testing.F) {
	for _, card := range []string{"110101199001010015", "11010119900307803x", "110101 - 1990", "１１０１０１", "--", "\xff"} {
		f.Add(card)
	}
	f.Fuzz(func(t *testing.T, card string) {
		number, err := Normalize(card)
		if err != nil {
			return
		}
		if !wellFormed(number) || strings.Trim(number, "0123456789X") != "" {
			t.Fatalf("%q became %q", card, number)
		}
		if again, err := Normalize(number); again != number || err != nil {
			t.Fatalf("%q became %q, then %q, %v", card, number, again, err)
		}
	})
}
