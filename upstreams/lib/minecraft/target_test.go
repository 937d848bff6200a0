package minecraft

import (
	"strings"
	"testing"
)

func TestParseTarget(t *testing.T) {
	for in, want := range map[string]string{
		"MC.Example.ORG": "mc.example.org", "mc.example.org.": "mc.example.org", "mc.example.org:25565": "mc.example.org", " mc.example.org ": "mc.example.org",
		"mc.example.org:25577": "mc.example.org:25577", "203.0.113.5": "203.0.113.5", "[2001:db8::1]:25570": "[2001:db8::1]:25570",
		"2001:db8::1": "2001:db8::1", "[2001:db8::1]": "2001:db8::1", "例子.测试": "xn--fsqu00a.xn--0zwm56d", "a_b.example.org": "a_b.example.org", "::ffff:1.2.3.4": "1.2.3.4",
	} {
		got, err := ParseTarget(in)
		if err != nil || got.String() != want {
			t.Errorf("%q: %q %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", ":", "a:", ":25565", "a:0", "a:65536", "a:x", "a b", "a/b", "a@b", "a\\b", "a%b", "a\x00b", "127.1", "2130706433", "0x7f.1", "010.0.0.1",
		"[::1", "[::1]x", "[1.2.3.4]:1", "fe80::1%eth0", "-a.org", "a..b", strings.Repeat("a", 64), "http://a.org", "1.2.3.4:5:6"} {
		if got, err := ParseTarget(in); err == nil {
			t.Errorf("%q was accepted as %v", in, got)
		}
	}
}

func TestAllowedPort(t *testing.T) {
	for p, want := range map[uint16]bool{25565: true, 25566: true, 1024: true, 65535: true, 0: false, 22: false, 80: false, 1023: false, 3306: false, 6379: false, 11211: false} {
		if AllowedPort(p) != want {
			t.Errorf("port %d", p)
		}
	}
}

func TestTargetErrorsSayWhatIsWrong(t *testing.T) {
	for in, want := range map[string]error{
		"": errEmpty, ":25565": errEmpty, strings.Repeat("a.", 130) + "a": errLength, "a/b": errLabel, "a@b": errLabel, "a\x00b": errLabel,
		"xn--a.org": errIDN, "a\u202eb.org": errIDN, "127.1": errAmbiguous, "127.0.0.1.": errAmbiguous, "１２７.0.0.1": errAmbiguous, "0x7f.0.0.0x1": errAmbiguous,
		"fe80::1%eth0": errZone, "[::1]x": errBrackets, "[::1]:": errBrackets, "[mc.example.org]": errBrackets,
	} {
		if got, err := ParseTarget(in); err != want || got != (Target{}) { //nolint:errorlint // expected unwrapped
			t.Errorf("%q: %v %v, want %v", in, got, err, want)
		}
	}
}
