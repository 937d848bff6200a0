package minecraft

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// packed writes bytes as Forge does: 15 bits in each character, the lowest first, behind
// two characters with the length.
func packed(b []byte) string {
	var out strings.Builder
	out.WriteRune(rune(len(b) & 0x7fff))
	out.WriteRune(rune(len(b) >> 15))
	held, bits := uint32(0), 0
	for _, c := range b {
		if bits >= 15 {
			out.WriteRune(rune(held & 0x7fff))
			held, bits = held>>15, bits-15
		}
		held, bits = held|uint32(c)<<bits, bits+8
	}
	if bits > 0 {
		out.WriteRune(rune(held & 0x7fff))
	}
	return out.String()
}

// packedMods are a list of four: one without a version, one with channels, whose version
// is a text, or a number since 1.20.2.
func packedMods(numbers bool) []byte {
	b := []byte{0, 0, 4}
	b = appendString(appendString(append(b, 0), "minecraft"), "1.20.1")
	b = appendString(append(b, 1), "serveronly")
	b = appendString(appendString(append(b, 2<<1), "jei"), "15.2.0.27")
	for _, channel := range []string{"main", "channel"} {
		if b = appendString(b, channel); numbers {
			b = append(b, 0x85, 0x01)
		} else {
			b = appendString(b, "1.0.0")
		}
		b = append(b, 1)
	}
	return append(appendString(appendString(append(b, 0), "create"), "0.5.1"), 0)
}

func statusWith(t *testing.T, d string) string {
	t.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return `{"description":"x","forgeData":{"fmlNetworkVersion":3,"d":` + string(b) + `,"channels":[],"mods":[],"truncated":false}}`
}

func TestPackedModsOfForge(t *testing.T) {
	all := []Mod{{"minecraft", "1.20.1"}, {"serveronly", ""}, {"jei", "15.2.0.27"}, {"create", "0.5.1"}}
	for _, numbers := range []bool{false, true} {
		s, err := parseStatus([]byte(statusWith(t, packed(packedMods(numbers)))))
		if diff := cmp.Diff(all, s.Mods); err != nil || diff != "" || s.Software != "Forge" {
			t.Errorf("%v: %v %s", numbers, err, diff)
		}
	}
	text := packed(packedMods(false))
	runes := []rune(text)
	for n := range runes {
		s, err := parseStatus([]byte(statusWith(t, string(runes[:n]))))
		if err != nil || len(s.Mods) > len(all) || !cmp.Equal(s.Mods, all[:len(s.Mods)], cmp.Transformer("none", func(m []Mod) []Mod { return append([]Mod{}, m...) })) {
			t.Errorf("%d characters: %v %v", n, s.Mods, err)
		}
	}
}

// What cannot be decoded is no list of mods, and the server is online all the same.
func TestBrokenModsOfForge(t *testing.T) {
	for _, data := range []string{`{"d":5}`, `{"d":""}`, `{"d":"x"}`, `{"d":"\u7fff\u7fff\u7fff"}`, `{"d":"\ud800\udfff\ufffd\uffff"}`, `{"d":["a"],"mods":7}`, `"none"`, `null`, `[]`} {
		s, err := parseStatus([]byte(`{"description":"x","forgeData":` + data + `}`))
		if err != nil || s.MOTD != "x" || len(s.Mods) != 0 {
			t.Errorf("%s: %+v %v", data, s, err)
		}
	}
	if s, err := parseStatus([]byte(`{"forgeData":{"d":"\u0001","mods":[{"modId":"a","modmarker":"1"}]}}`)); err != nil || !cmp.Equal(s.Mods, []Mod{{"a", "1"}}) {
		t.Errorf("%+v %v", s, err)
	}
}

func FuzzPackedMods(f *testing.F) {
	f.Add(packed(packedMods(true)))
	f.Fuzz(func(t *testing.T, d string) {
		if mods := unpackMods(d); len(mods) > maxMods {
			t.Errorf("%d mods", len(mods))
		}
	})
}
