package minecraft

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func FuzzFrame(f *testing.F) {
	f.Add(frame(appendString([]byte{0}, good)))
	f.Add([]byte{0xff, 0xff, 0xff, 0x7f})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Add([]byte{0x82, 0x80, 0x00, 0x00, 0x00}) // a length in fixed width
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bufio.NewReader(bytes.NewReader(b))
		packet, err := readFrame(r)
		if err != nil {
			return
		}
		if len(packet) < 1 || len(packet) > len(b)-1 {
			t.Fatalf("%d bytes out of %d", len(packet), len(b))
		}
		again, err := readFrame(bufio.NewReader(bytes.NewReader(frame(packet))))
		if err != nil || !bytes.Equal(again, packet) {
			t.Errorf("%x came back as %x, %v", packet, again, err)
		}
		if text, err := statusText(packet); err == nil && (len(text) > maxStatus || !bytes.Contains(packet, text)) {
			t.Errorf("a text of %d bytes", len(text))
		}
	})
}

func FuzzVarInt(f *testing.F) {
	for _, n := range []int32{0, 1, -1, 127, 128, maxFrame, 1<<31 - 1, -1 << 31} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, n int32) {
		b := appendVarInt(nil, n)
		if got, err := readVarInt(bytes.NewReader(b)); err != nil || got != n || len(b) > 5 {
			t.Errorf("%d is %x, read as %d, %v", n, b, got, err)
		}
	})
}

func FuzzChat(f *testing.F) {
	for _, s := range []string{`"§atext"`, `{"text":"a","extra":[{"text":"b"},["c"]]}`, `{"translate":"k","fallback":"f"}`, `[[[[["x"]]]]]`, `{"text":"\u202e§\u0000a"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return
		}
		text, err := flatten(b)
		if err == nil {
			if len(text) > maxChat+len(b)+64 {
				t.Errorf("%d bytes became %d", len(b), len(text))
			}
			plainText(t, text)
		}
	})
}

func FuzzKick(f *testing.F) {
	f.Add("§1\x0047\x001.4.2\x00motd\x003\x0020")
	f.Add("a§b§5§30")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := parseKick(text); err == nil {
			plainText(t, s.MOTDRaw)
			plainText(t, s.Version)
		}
	})
}

func FuzzStatus(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"description":["a",{"text":"b"}],"players":{"online":-5,"max":"x"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseStatus(b)
		if err != nil {
			return
		}
		if len(s.MOTDRaw) > maxMOTD || len(s.Sample) > maxSample || len(s.Version) > maxVersion || len(s.Mods) > maxMods {
			t.Errorf("%+v", s)
		}
		names := []string{s.Version, s.Software}
		for _, p := range s.Sample {
			names = append(names, p.Name, p.UUID)
		}
		for _, m := range s.Mods {
			names = append(names, m.Name, m.Version)
		}
		for _, name := range names {
			if len(name) > maxName && name != s.Version || strings.ContainsAny(name, "\n§") {
				t.Errorf("name %q", name)
			}
		}
	})
}

// plainText checks the promises about cleaned texts.
func plainText(t *testing.T, text string) {
	t.Helper()
	raw, plain := printable(text, maxMOTD), clean(text, maxMOTD)
	if len(raw) > maxMOTD || len(plain) > maxMOTD || !utf8.ValidString(raw) || !utf8.ValidString(plain) || strings.ContainsRune(plain, '§') {
		t.Errorf("%q became %q and %q", text, raw, plain)
	}
	for _, r := range raw + plain {
		if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			t.Errorf("%q kept %U", text, r)
		}
	}
}

func FuzzTarget(f *testing.F) {
	for _, s := range []string{"MC.Example.org.", "[2001:db8::1]:25570", "例子.测试:25565", "127.1", "a_b.example:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		target, err := ParseTarget(s)
		if err != nil {
			return
		}
		again, err := ParseTarget(target.String())
		if err != nil || again != target {
			t.Errorf("%q is %+v, again %+v, %v", s, target, again, err)
		}
		if len(target.Host) > 253 || strings.ContainsAny(target.Host, "/@%\\ \r\n\x00") {
			t.Errorf("%q gave the host %q", s, target.Host)
		}
	})
}
