package minecraft

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSoftware(t *testing.T) {
	for in, want := range map[string]string{
		`{"version":{"name":"Paper 1.21.4"}}`:                         "Paper",
		`{"version":{"name":"git-Paper-794"}}`:                        "Paper",
		`{"version":{"name":"Velocity 1.7.2-1.21.4"}}`:                "Velocity",
		`{"version":{"name":"bungeecord 1.8.x-1.21.x"}}`:              "BungeeCord",
		`{"version":{"name":"1.21.4"}}`:                               "",
		`{"version":{"name":"Requires MC 1.8 / 1.21"}}`:               "",
		`{"version":{"name":"1.12.2"},"modinfo":{"type":"FML"}}`:      "Forge",
		`{"version":{"name":"1.20.1"},"forgeData":{"mods":[]}}`:       "Forge",
		`{"version":{"name":"Mohist 1.20.1"},"forgeData":{"mods":1}}`: "Mohist",
	} {
		s, err := parseStatus([]byte(in))
		if err != nil || s.Software != want {
			t.Errorf("%s: %q %v, want %q", in, s.Software, err, want)
		}
	}
	if s, err := parseKick("§1\x0078\x00Spigot 1.6.4\x00hi\x000\x0020"); err != nil || s.Software != "Spigot" {
		t.Errorf("an old server: %q %v", s.Software, err)
	}
}

func TestMods(t *testing.T) {
	for in, want := range map[string][]Mod{
		`{"modinfo":{"type":"FML","modList":[{"modid":"jei","version":"4.16"},{"modid":"","version":"1"},{"modid":"§aforge"}]}}`:                     {{"jei", "4.16"}, {"forge", ""}},
		`{"forgeData":{"fmlNetworkVersion":3,"mods":[{"modId":"create","modmarker":"0.5.1"},{"modId":"jade","modmarker":"<not required>"}],"d":""}}`: {{"create", "0.5.1"}, {"jade", "<not required>"}},
		`{"forgeData":5,"modinfo":[]}`: nil,
		`{}`:                           nil,
	} {
		s, err := parseStatus([]byte(in))
		if diff := cmp.Diff(want, s.Mods); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", in, err, diff)
		}
	}
	many, err := parseStatus([]byte(`{"modinfo":{"modList":[` + strings.Repeat(`{"modid":"x"},`, 3000) + `{}]}}`))
	if err != nil || len(many.Mods) != maxMods {
		t.Errorf("%d mods, %v", len(many.Mods), err)
	}
}

func TestUUID(t *testing.T) {
	for in, want := range map[string]string{
		"00000000-0000-4000-8000-000000000001": "00000000-0000-4000-8000-000000000001",
		"069A79F444E94726A5BEFCA90E38AAF5":     "069a79f4-44e9-4726-a5be-fca90e38aaf5",
		"00000000-0000-0000-0000-000000000000": "", "§aline": "", "": "",
	} {
		if got := uuid(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
