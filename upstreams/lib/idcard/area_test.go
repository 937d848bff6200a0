package idcard

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAreasOfTheTimeOfBirth(t *testing.T) {
	for _, c := range []struct{ code, born, want string }{
		{"110101", "1990-01-01", "北京市 / 东城区"}, // not 市辖区, as one source has it
		{"110221", "1980-01-01", "北京市 / 昌平县 abolished"},
		{"120225", "1990-01-01", "天津市 / 蓟县 abolished"},
		{"310115", "2001-01-01", "上海市 / 浦东新区"},
		{"320502", "1980-01-01", "江苏省 / 苏州市 / 沧浪区 abolished"},
		{"330114", "2022-01-01", "浙江省 / 杭州市 / 钱塘区"},
		{"110104", "1980-01-01", "北京市 / 宣武区 abolished"},
		{"659012", "2024-01-01", "新疆维吾尔自治区 / 白杨市"},
		{"653228", "2025-06-01", "新疆维吾尔自治区 / 和田地区 / 和康县"},
		{"540481", "2024-01-01", "西藏自治区 / 林芝市 / 米林市"},
		{"429004", "2000-01-01", "湖北省 / 仙桃市"},
		{"419001", "2010-01-01", "河南省 / 济源市"},
		{"469001", "2010-01-01", "海南省 / 五指山市"},
		{"460001", "1990-01-01", "海南省 / 通什市 abolished"},
		{"441900", "1990-01-01", "广东省 / 东莞市"},
		{"710000", "1990-01-01", "台湾省"},
		{"130101", "1990-01-01", "河北省 / 石家庄市"},
		{"110100", "1990-01-01", "北京市"},
		// Renamed.
		{"420607", "2010-01-01", "湖北省 / 襄樊市 / 襄阳区"},
		{"420607", "2012-01-01", "湖北省 / 襄阳市 / 襄州区"},
		{"530802", "2006-12-31", "云南省 / 思茅市 / 翠云区"},
		{"530802", "2008-01-01", "云南省 / 普洱市 / 思茅区"},
		{"320802", "1985-01-01", "江苏省 / 淮阴市 / 清河区 abolished"},
		{"320802", "2005-01-01", "江苏省 / 淮安市 / 清河区 abolished"},
		{"130502", "2019-01-01", "河北省 / 邢台市 / 桥东区"},
		{"130502", "2021-01-01", "河北省 / 邢台市 / 襄都区"},
		{"341302", "1990-01-01", "安徽省 / 宿州市 / 埇桥区"},
		// Assigned to another place later.
		{"469025", "2005-01-01", "海南省 / 定安县"},
		{"469025", "2012-01-01", "海南省 / 白沙黎族自治县"},
		{"410307", "2003-01-01", "河南省 / 洛阳市 / 洛龙区"},
		{"410307", "2022-01-01", "河南省 / 洛阳市 / 偃师区"},
		// A development zone also has this code, but not in identity numbers.
		{"320112", "1985-01-01", "江苏省 / 南京市 / 大厂区 abolished"},
		// Chongqing was in Sichuan.
		{"510212", "1990-01-01", "四川省 / 重庆市 / 沙坪坝区 abolished"},
		{"511202", "1994-01-01", "四川省 / 万县市 / 龙宝区 abolished"},
		{"321088", "1995-01-01", "江苏省 / 扬州市 / 江都市 abolished"},
		{"329002", "1988-01-01", "江苏省 / 仪征市 abolished"},
		{"133001", "1990-01-01", "河北省 / 衡水地区 / ? unknown"}, // the data has 市辖区, which prefectures do not have
		// Known in part or not at all.
		{"320599", "1990-01-01", "江苏省 / 苏州市 / ? unknown"},
		{"329999", "1990-01-01", "江苏省 / ? / ? unknown"},
		{"990101", "1990-01-01", "? / ? / ? unknown"},
		{"810101", "1990-01-01", "香港特别行政区 / ? / ? unknown"},
	} {
		a := areaOf(c.code, date(t, c.born))
		if got := described(a); got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.code, c.born, got, c.want)
		}
		joined := strings.NewReplacer(" / ", "", "?", "", " abolished", "", " unknown", "").Replace(c.want)
		if name, _ := a["area"].(string); name != joined || a["area_code"] != c.code {
			t.Errorf("%s: name %q, want %q", a["area_code"], name, joined)
		}
	}
}

func described(a map[string]any) string {
	var parts []string
	for _, level := range []string{"province", "city", "county"} {
		if name, known := a[level].(string); !known {
			parts = append(parts, "?")
		} else if name != "" {
			parts = append(parts, name)
		}
	}
	s := strings.Join(parts, " / ")
	switch {
	case a["area_known"] == false:
		s += " unknown"
	case a["abolished"] == true:
		s += " abolished"
	}
	return s
}

func TestWithoutABirthdayTheLastNameIsUsed(t *testing.T) {
	if got := described(areaOf("420607", time.Time{})); got != "湖北省 / 襄阳市 / 襄州区" {
		t.Error(got)
	}
}

// At run time the table is parsed without errors, so that all of it is checked
// here.
func TestTable(t *testing.T) {
	line := regexp.MustCompile(`^(\d{6}) (-|\p{Han}{2,15})(?: (\?|(?:199|20\d)\d(?:0[1-9]|1[0-2])))?$`)
	placeholder := regexp.MustCompile(`市辖区|省直辖|自治区直辖|维吾尔族自治区|开发区`)
	var lines []string
	for l := range strings.Lines(areas) {
		if l = strings.TrimSuffix(l, "\n"); l[0] == '#' {
			continue
		}
		if !line.MatchString(l) || placeholder.MatchString(l) {
			t.Errorf("line %q", l)
		}
		lines = append(lines, l)
	}
	all := table()
	if len(all) != len(lines) || len(all) < 7000 {
		t.Fatalf("%d names of %d lines", len(all), len(lines))
	}
	if !slices.IsSortedFunc(all, func(a, b areaName) int { return strings.Compare(a.code, b.code) }) {
		t.Error("not sorted by code")
	}
	for i, e := range all[1:] {
		before := all[i]
		if before.code == e.code && (before.to == 0 || e.to != 0 && e.to <= before.to || before.name == e.name) {
			t.Errorf("%v after %v", e, before)
		}
	}
	for _, e := range all {
		a := areaOf(e.code, time.Time{})
		if a["province"] == nil || a["city"] == nil || a["county"] == nil || a["area_known"] == false {
			t.Errorf("%s: %s", e.code, described(a))
		}
	}
}

// These are all provinces, and the three codes of the permits.
func TestProvinces(t *testing.T) {
	var got []string
	for _, e := range table() {
		if strings.HasSuffix(e.code, "0000") && e.to == 0 {
			got = append(got, e.code[:2])
		}
	}
	want := strings.Fields("11 12 13 14 15 21 22 23 31 32 33 34 35 36 37 41 42 43 44 45 46 50 51 52 53 54 61 62 63 64 65 71 81 82 83")
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func BenchmarkReadTable(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		readTable(areas)
	}
}
