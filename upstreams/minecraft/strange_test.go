package minecraft

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFieldsOfTheWrongTypeCountAsAbsent(t *testing.T) {
	for in, want := range map[string]Status{
		`{}`: {},
		`{"description":{"text":"x","bold":1,"extra":"y"}}`:     {MOTD: "x", MOTDRaw: "x"},
		`{"description":["a",{"text":5},{"text":"b"}]}`:         {MOTD: "ab", MOTDRaw: "ab"},
		`{"version":"1.2","description":"x"}`:                   {MOTD: "x", MOTDRaw: "x"},
		`{"version":{"name":7,"protocol":"47"}}`:                {Protocol: 47},
		`{"players":{"online":"abc","max":20}}`:                 {Max: 20},
		`{"players":{"online":-5,"max":1e300}}`:                 {Online: -5},
		`{"players":{"online":"NaN","max":"Inf"}}`:              {},
		`{"players":{"max":2,"sample":{"name":"x"}}}`:           {Max: 2},
		`{"players":{"online":3.0,"sample":[5,{"name":"A"}]}}`:  {Online: 3, Sample: []string{"A"}},
		`{"enforcesSecureChat":"true","favicon":7,"players":0}`: {},
	} {
		got, err := parseStatus([]byte(in))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", in, err, diff)
		}
	}
}

func TestBillboardNames(t *testing.T) {
	names := []string{`"§6Join us\nat \u202eexample.org"`, `"§r§l"`, `"\u0007\u2028"`, `"` + strings.Repeat("n", 100) + `"`}
	for range 100 {
		names = append(names, `"Alex"`)
	}
	s, err := parseStatus([]byte(`{"players":{"sample":[{"name":` + strings.Join(names, `},{"name":`) + `}]}}`))
	if err != nil || len(s.Sample) != maxSample-2 { // two of the fifty were empty
		t.Fatalf("%d names, %v", len(s.Sample), err)
	}
	if diff := cmp.Diff([]string{"Join us at example.org", strings.Repeat("n", maxName), "Alex"}, s.Sample[:3]); diff != "" {
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

func TestErrorsDoNotQuoteTheServer(t *testing.T) {
	_, fromStatus := parseStatus([]byte(`{"version":SECRET}`))
	_, fromKick := parseKick("motd§SECRET§SECRET")
	_, fromChat := flatten([]byte(`{SECRET`))
	for name, err := range map[string]error{"status": fromStatus, "kick": fromKick, "chat": fromChat} {
		if err == nil || strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "'S'") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDataIsMadeOfPlainKinds(t *testing.T) {
	s, err := parseStatus([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"online": true, "edition": "java", "port": 0, "address": "", "srv": false, "version": "Paper 1.21.4", "protocol": 769,
		"players": map[string]any{"online": 3, "max": 100, "sample": []any{"Alex"}},
		"motd":    "Hello world", "motd_raw": s.MOTDRaw, "icon": nil, "secure_chat": true, "latency_ms": nil,
	}
	if diff := cmp.Diff(want, s.Data()); diff != "" {
		t.Error(diff)
	}
}

func TestTargetErrorsSayWhatIsWrong(t *testing.T) {
	for in, want := range map[string]error{
		"": errEmpty, ":25565": errEmpty, strings.Repeat("a.", 130) + "a": errLength, "a/b": errLabel, "a@b": errLabel, "a\x00b": errLabel,
		"xn--a.org": errIDN, "a\u202eb.org": errIDN, "127.1": errNumeric, "127.0.0.1.": errNumeric, "１２７.0.0.1": errNumeric, "0x7f.0.0.0x1": errNumeric,
		"fe80::1%eth0": errZone, "[::1]x": errBrackets, "[::1]:": errBrackets, "[mc.example.org]": errBrackets,
	} {
		if got, err := ParseTarget(in); err != want || got != (Target{}) { //nolint:errorlint // the plain ones, not wrapped
			t.Errorf("%q: %v %v, want %v", in, got, err, want)
		}
	}
}
