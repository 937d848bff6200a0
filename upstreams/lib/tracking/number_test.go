package tracking

import (
	"strings"
	"testing"
)

func TestNormalize(t *testing.T) {
	for raw, want := range map[string]string{
		"YT0000000000001": "YT0000000000001", " yt 0000 0000 00001\n": "YT0000000000001", "ＹＴ００００００００００００１": "YT0000000000001", "ｙｔ-0000－0000—00001": "YT0000000000001",
		"1Z 5R8 939 03 5756 712 7": "1Z5R89390357567127", "9400-1112-0108-0805-4830-16": "9400111201080805483016", "\ufeffSF123456\u200b7890123": "SF1234567890123", "　123456　": "123456",
		"JDVA01234567890-1-1-": "JDVA01234567890", "JDVA01234567890-2-13": "JDVA01234567890", "jdva01234567890－1－1－": "JDVA01234567890", "JD0012-3456-7890": "JD001234567890", "JD01234567890-12345-1": "JD01234567890123451", "YT0000000000001-1-1-": "YT000000000000111",
		"123456": "123456", strings.Repeat("9", 40): strings.Repeat("9", 40),
	} {
		if got, err := Normalize(raw); err != nil || got != want {
			t.Errorf("%q: %q %v, want %q", raw, got, err, want)
		}
	}
}

func TestNormalizeRefuses(t *testing.T) {
	for _, raw := range []string{
		"", " ", "---", "12345", strings.Repeat("9", 41), strings.Repeat(" ", 600) + "123456", "YT000000000001é", "SF12345678901:1234", "圆通1234567", "ſf1234567890123", "ıd12345678", "123.456", "123_456", "1234567\x00", "123456\xff", "12345６/",
	} {
		got, err := Normalize(raw)
		if err == nil || got != "" {
			t.Errorf("%q was accepted as %q", raw, got)
			continue
		}
		if text := err.Error(); !strings.Contains(text, "6 to 40") || !strings.Contains(text, "YT0000000000001") || len(strings.TrimSpace(raw)) > 4 && strings.Contains(text, raw) {
			t.Errorf("%q: %v", raw, err)
		}
	}
}
