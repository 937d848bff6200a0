package tracking

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"YT0000000000001", "1Z5R89390357567127", "RB123456785GB", "JDVA01234567890-1-1-", "420221539101026837331000039521", "ＳＦ１２３４５６７８９０１２３", "986578788855", "\xff\x00 ſ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		id, err := Normalize(raw)
		if err != nil {
			if id != "" || Recognize(id) != nil {
				t.Fatalf("%q: %q with %v", raw, id, err)
			}
			Recognize(raw)
			return
		}
		if !isNormalized(id) {
			t.Fatalf("%q became %q", raw, id)
		}
		if again, err := Normalize(id); err != nil || again != id {
			t.Fatalf("%q became %q, then %q %v", raw, id, again, err)
		}
		check(t, id)
	})
}

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"2026-01-02 10:11:12", "2026-01-02T10:11Z", "1767225600", "1767225600000", "2026/1/2 9:01 +0800", "0000-00-00 00:00:00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseTime(s)
		if err != nil {
			if !got.IsZero() || len(err.Error()) > 600 { // 32 characters may be escaped
				t.Fatalf("%q: %v %v", s, got, err)
			}
			return
		}
		if got.Year() < firstYear || got.Year() > lastYear {
			t.Fatalf("%q is %v", s, got)
		}
		again, err := ParseTime(got.Format(time.RFC3339Nano))
		if err != nil || !again.Equal(got) {
			t.Fatalf("%q: %v, then %v %v", s, got, again, err)
		}
	})
}

func FuzzState(f *testing.F) {
	for _, s := range []string{"您的快件已签收", "【北京】派件失败", "[未签收", "预计签收", "Out for delivery", "\xff已\xff签收", "逾期将退回"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := State(s); !slices.Contains(states, got) || StateName(got) == "" {
			t.Fatalf("%q is %q", s, got)
		}
	})
}

func FuzzMaskPhones(f *testing.F) {
	for _, s := range []string{"13800138000", "138-0013-8000", "+8613800138000", "１３８００１３８０００", "\xff1380013800\xff0", "138 0013 8000-1380013"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := MaskPhones(s)
		if again := MaskPhones(got); again != got {
			t.Fatalf("%q: %q, then %q", s, got, again)
		}
		for _, run := range strings.FieldsFunc(got, func(r rune) bool { return !isDigit(r) }) {
			if len(run) == 11 && run[0] == '1' {
				t.Fatalf("%q: %q shows a number", s, got)
			}
		}
		if utf8.RuneCountInString(got) != utf8.RuneCountInString(s) {
			t.Fatalf("%q: %q has another length", s, got)
		}
	})
}
