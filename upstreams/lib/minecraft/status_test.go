package minecraft

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFieldsOfTheWrongTypeCountAsAbsent(t *testing.T) {
	for in, want := range map[string]Status{
		`{}`: {},
		`{"description":{"text":"x","bold":1,"extra":"y"}}`:                    {MOTD: "x", MOTDRaw: "x"},
		`{"description":["a",{"text":5},{"text":"b"}]}`:                        {MOTD: "ab", MOTDRaw: "ab"},
		`{"version":"1.2","description":"x"}`:                                  {MOTD: "x", MOTDRaw: "x"},
		`{"version":{"name":7,"protocol":"47"}}`:                               {Protocol: new(47)},
		`{"players":{"online":"abc","max":20}}`:                                {Max: new(20)},
		`{"players":{"online":-5,"max":1e300}}`:                                {Online: new(-5)},
		`{"players":{"online":"NaN","max":"Inf"}}`:                             {},
		`{"players":{"max":2,"sample":{"name":"x"}}}`:                          {Max: new(2)},
		`{"players":{"online":3.0,"sample":[5,{"name":"A"}]}}`:                 {Online: new(3), Sample: []Player{{Name: "A"}}},
		"{\"description\":\"a\nb\x01c\",\n\"forgeData\":{\"d\":\"\x00\x02\"}}": {MOTD: "a b c", MOTDRaw: "a b c", Software: "Forge"},
		`{"enforcesSecureChat":"true","favicon":7,"players":0}`:                {},
	} {
		got, err := parseStatus([]byte(in))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", in, err, diff)
		}
	}
}

func TestReadVarInt(t *testing.T) {
	for in, want := range map[string]int32{
		"\x00": 0, "\xff\x01": 255, "\x81\x80\x00": 1, "\xff\xff\xff\xff\x07": 1<<31 - 1, "\xff\xff\xff\xff\x0f": -1,
	} {
		if got, err := readVarInt(strings.NewReader(in)); err != nil || got != want {
			t.Errorf("%x: %d %v, want %d", in, got, err, want)
		}
	}
	for in, want := range map[string]error{
		"": io.EOF, "\x80": io.EOF, "\x81\x80\x80\x80\x10": errVarInt, "\x80\x80\x80\x80\x80\x00": errVarInt,
	} {
		if got, err := readVarInt(strings.NewReader(in)); !errors.Is(err, want) {
			t.Errorf("%x: %d %v, want %v", in, got, err, want)
		}
	}
}

func TestSampleNamesAreCleanedAndBounded(t *testing.T) {
	names := []string{`"§6Join us\nat \u202eexample.org"`, `"§r§l"`, `"\u0007\u2028"`, `"` + strings.Repeat("n", 100) + `"`}
	for range 100 {
		names = append(names, `"Alex"`)
	}
	s, err := parseStatus([]byte(`{"players":{"sample":[{"name":` + strings.Join(names, `},{"name":`) + `}]}}`))
	if err != nil || len(s.Sample) != maxSample-2 { // two of the fifty were empty
		t.Fatalf("%d names, %v", len(s.Sample), err)
	}
	if diff := cmp.Diff([]Player{{Name: "Join us at example.org"}, {Name: strings.Repeat("n", maxName)}, {Name: "Alex"}}, s.Sample[:3]); diff != "" {
		t.Error(diff)
	}
}

func TestChatIsBounded(t *testing.T) {
	wide := `[` + strings.Repeat(`{"text":"0123456789"},`, 5000) + `""]`
	got, err := flatten([]byte(wide))
	if err != nil || len(got) < maxChat || len(got) > maxChat+100 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestErrorsDoNotContainServerBytes(t *testing.T) {
	_, fromStatus := parseStatus([]byte(`{"version":SECRET}`))
	_, fromKick := parseKick("motd§SECRET§SECRET")
	_, fromChat := flatten([]byte(`{SECRET`))
	for name, err := range map[string]error{"status": fromStatus, "kick": fromKick, "chat": fromChat} {
		if err == nil || strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "'S'") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestData(t *testing.T) {
	s, err := parseStatus([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"online": true, "edition": "java", "port": 0, "address": "", "srv": false, "version": "Paper 1.21.4", "protocol": 769,
		"players": map[string]any{"online": 3, "max": 100, "sample": []any{map[string]any{"name": "Alex", "uuid": nil}}},
		"motd":    "Hello world", "motd_raw": s.MOTDRaw, "icon": nil, "secure_chat": true, "latency_ms": nil, "software": "Paper", "mods": []any{},
	}
	if diff := cmp.Diff(want, s.Data()); diff != "" {
		t.Error(diff)
	}
}

func TestTextsAreCleaned(t *testing.T) {
	if got := clean("§x§1§2§3§4§5§6Evil\x00\u202etxt\n", 100); got != "Eviltxt" {
		t.Errorf("%q", got)
	}
	if got := printable(strings.Repeat("中", 10), 10); got != "中中中" {
		t.Errorf("%q", got)
	}
	png := "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNgYPj/HwADAgH/OSkZvgAAAABJRU5ErkJggg=="
	if got := icon("data:image/png;base64," + png[:8] + "\n" + png[8:]); got != "data:image/png;base64,"+png {
		t.Errorf("an icon with a line break: %q", got)
	}
	for _, bad := range []string{"", "data:image/svg+xml;base64,PHN2Zz4=", "data:image/png;base64,!!!", "data:image/png;base64,PHN2Zz4=", "data:image/png;base64," + png[:40], "data:image/png;base64," + strings.Repeat("A", maxIcon+1)} {
		if got := icon(bad); got != "" {
			t.Errorf("%.40q was accepted as an icon", bad)
		}
	}
}

// Components have the style of those around them, and the first of a list is around the
// others.
func TestStylesOfChat(t *testing.T) {
	for in, want := range map[string]string{
		`{"text":"A","color":"red","extra":[{"text":"B","bold":true},"C",{"text":"D","color":"#1aB2c3"},{"text":"E","color":"reset"}]}`: "§cA§lB§cC§x§1§a§b§2§c§3D§rE",
		`{"color":"gold","bold":true,"extra":[{"text":"a","bold":false},{"extra":[{"text":"b","italic":true}]},"c"]}`:                   "§6a§l§ob§6§lc§r",
		`{"bold":true,"extra":["a",{"text":"b","bold":false},"c"]}`:                                                                     "§la§rb§lc§r",
		`{"text":"x","obfuscated":true,"bold":true,"strikethrough":true,"underlined":true,"italic":true}`:                               "§k§l§m§n§ox§r",
		`[{"text":"a","color":"aqua"},"b",[{"text":"c","color":"white"},"d"],"e"]`:                                                      "§bab§fcd§be§r",
		`["",{"text":"a","color":"green"},"b"]`:                                                                                         "§aa§rb",
		`{"text":"a §cb §rc","color":"blue","extra":["d"]}`:                                                                             "§9a §cb §r§9c§9d§r",
		`{"text":"§x§1§2§3§4§5§6a§lb§r"}`:                                                                                               "§x§1§2§3§4§5§6a§lb§r",
		`{"text":"","color":"red","extra":[{"text":"a","color":"mauve"},{"text":"b","color":"#12345"}]}`:                                "§cab§r",
		`"plain §l§otext"`: "plain §l§otext",
	} {
		if got, err := flatten([]byte(in)); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", in, got, err, want)
		}
	}
	gradient := `{"extra":[` + strings.Repeat(`{"text":"x","color":"#123456"},{"text":"y","color":"#654321"},`, 60) + `""]}`
	s, err := parseStatus([]byte(`{"description":` + gradient + `}`))
	if err != nil || strings.Count(s.MOTDRaw, "§x") != 120 || len(s.MOTD) != 120 {
		t.Errorf("%d colors, %v", strings.Count(s.MOTDRaw, "§x"), err)
	}
}

func TestChat(t *testing.T) {
	for in, want := range map[string]string{
		`"plain §atext"`: "plain text", `{"text":"a","extra":[{"text":"b"},["c",{"text":"d"}]]}`: "abcd", `["x","y"]`: "xy",
		`{"translate":"menu.game"}`: "menu.game", `{"translate":"k","fallback":"text"}`: "text", `null`: "", `42`: "",
	} {
		got, err := flatten([]byte(in))
		if err != nil || clean(got, 100) != want {
			t.Errorf("%s: %q %v", in, got, err)
		}
	}
	deep := strings.Repeat(`{"text":"x","extra":[`, 1000) + `"end"` + strings.Repeat("]}", 1000)
	if got, err := flatten([]byte(deep)); err != nil || strings.Contains(got, "end") {
		t.Errorf("a deep component: %d bytes, %v", len(got), err)
	}
}
