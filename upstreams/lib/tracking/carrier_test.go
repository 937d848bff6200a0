package tracking

import (
	"slices"
	"testing"
)

func TestCarrier(t *testing.T) {
	for code, want := range map[string]string{"yuantong": "圆通速递", "shunfengkuaiyun": "顺丰快运", "royalmail": "英国邮政", "usps": "美国邮政", "ems": "EMS"} {
		if name, ok := Carrier(code); !ok || name != want {
			t.Errorf("%s: %q %v, want %q", code, name, ok, want)
		}
	}
	for _, code := range []string{"", "YTO", "Yuantong", "nobody", " ems"} {
		if name, ok := Carrier(code); ok || name != "" {
			t.Errorf("%q is %q", code, name)
		}
	}
}

func TestNeedsPhone(t *testing.T) {
	var need []string
	for code := range carriers {
		if NeedsPhone(code) {
			need = append(need, code)
		}
	}
	slices.Sort(need)
	if want := []string{"shunfeng", "shunfengkuaiyun", "zhongtong"}; !slices.Equal(need, want) {
		t.Errorf("%q, want %q", need, want)
	}
}

func TestKdniaoCodes(t *testing.T) {
	for theirs, ours := range map[string]string{
		"YTO": "yuantong", "ZTO": "zhongtong", "STO": "shentong", "YD": "yunda", "SF": "shunfeng", "JD": "jd", "EMS": "ems", "YZPY": "youzhengguonei", "DBL": "debangkuaidi", "JTSD": "jtexpress", "KYSY": "kuayue", "FEDEX_GJ": "fedex",
	} {
		if got := FromKdniao(theirs); got != ours {
			t.Errorf("%s: %q, want %q", theirs, got, ours)
		}
		if got, ok := ToKdniao(ours); !ok || got != theirs {
			t.Errorf("%s: %q %v, want %q", ours, got, ok, theirs)
		}
	}
	if got := FromKdniao(" yto "); got != "yuantong" {
		t.Errorf("lower case: %q", got)
	}
	for _, code := range []string{"", "yuantong", "NOBODY"} {
		if got := FromKdniao(code); got != "" {
			t.Errorf("%q from kdniao: %q", code, got)
		}
	}
	for _, code := range []string{"", "YTO", "cainiao", "royalmail"} {
		if got, ok := ToKdniao(code); ok || got != "" {
			t.Errorf("%q to kdniao: %q", code, got)
		}
	}
}

func TestAliCodes(t *testing.T) {
	for theirs, ours := range map[string]string{
		"YTO": "yuantong", "yto": "yuantong", "YUNDA": "yunda", "ZTO": "zhongtong", "SFEXPRESS": "shunfeng", "SF": "shunfeng", "POSTB": "youzhengguonei", "JT": "jtexpress", "JD": "jd", "EMS": "ems",
		"shentong": "shentong", "KUAYUE": "kuayue", "USPS": "usps", "royalmail": "royalmail", "": "", "nobody": "", "AUTO": "",
	} {
		if got := FromAli(theirs); got != ours {
			t.Errorf("%q: %q, want %q", theirs, got, ours)
		}
	}
}

func TestTranslatedCodesAreKnown(t *testing.T) {
	seen := map[string]string{}
	for theirs, ours := range kdniao {
		if other, twice := seen[ours]; twice {
			t.Errorf("%s is both %s and %s: ToKdniao would be random", ours, theirs, other)
		}
		seen[ours] = theirs
	}
	for _, table := range []map[string]string{kdniao, alibaba} {
		for theirs, ours := range table {
			if _, ok := Carrier(ours); !ok || theirs != fold(theirs) {
				t.Errorf("%s: %s", theirs, ours)
			}
		}
	}
	for _, s := range shapes {
		if _, ok := Carrier(s.code); !ok {
			t.Errorf("%s: %s", s.prefix, s.code)
		}
	}
}

func TestPosts(t *testing.T) {
	seen := map[string]bool{}
	for country, code := range posts {
		if countryName(country) == "" || seen[code] || carriers[code] != "" {
			t.Errorf("%s: %s", country, code)
		}
		seen[code] = true
	}
}

func TestCountries(t *testing.T) {
	n := 0
	for code := range 26 * 26 {
		if countryName(string([]byte{'A' + byte(code/26), 'A' + byte(code%26)})) != "" {
			n++
		}
	}
	if n != 243 {
		t.Errorf("%d countries", n)
	}
	for code, want := range map[string]string{"HK": "香港", "CD": "刚果（金）", "VN": "越南", "CN": "", "ZZ": "", "UK": ""} {
		if got := countryName(code); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}
