package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// packages makes a small version of the packages that the generator reads.
func packages(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"@vant/area-data/dist/index.cjs": `const areaList = {
	province_list: { 110000: "\u5317\u4EAC\u5E02", 320000: "江苏省", 420000: "湖北省" },
	city_list: { 110100: "北京市", 320100: "南京市", 429000: "省直辖县", 441900: "东莞市" },
	county_list: { 110101: "东城区", 320112: "江北新区", 320115: "江宁区", 320171: "高新技术产业开发区",
		429004: "仙桃市", 441901: "中堂镇", 310115: "浦东新区", 469025: "白沙黎族自治县", 710101: "中正区" } };`,
		"id-validator/src/GB2260.js": `var GB2260 = {"110000":"北京市","110100":"北京市市辖区","110101":"北京市东城区","320000":"江苏省",` +
			`"320100":"江苏省南京市","320112":"江苏省南京市大厂区","460001":"海南省三亚市通什市","310115":"上海市浦东新区","420104":"湖北省武汉市乔口区"};`,
		"gb2260/lib/200212.json":       `{"320101": "市辖区", "469025": "定安县", "420104": "乔口区", "110104": "宣武区"}`,
		"gb2260/lib/200812.json":       `{"320101": "市辖区", "469025": "白沙黎族自治县", "420104": "硚口区"}`,
		"gb2260/lib/macao-201512.json": `{"820000": "澳门"}`,
		"idcard/lib/data/area.json":    `{"110101": {"code": "110101", "text": "市辖区"}, "132122": {"code": "132122", "text": "邯郸县"}, "132101": {"code": "132101", "text": "市辖区"}}`,
		"idcard/lib/data/city.json":    `{"1321": {"code": "132100", "text": "邯郸地区"}}`,
	} {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestRun(t *testing.T) {
	var b bytes.Buffer
	if err := run([]string{packages(t)}, &b); err != nil {
		t.Fatal(err)
	}
	got, ok := strings.CutPrefix(b.String(), header)
	if want := `110000 北京市
110100 -
110101 东城区
110104 宣武区 200212
132100 邯郸地区 ?
132122 邯郸县 ?
310115 浦东新区
320000 江苏省
320100 南京市
320101 -
320112 大厂区 199912
320115 江宁区
420000 湖北省
420104 硚口区 200812
429000 -
429004 仙桃市
441900 东莞市
460001 通什市 199912
469025 定安县 200212
469025 白沙黎族自治县
830000 台湾省
`; got != want || !ok {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRunSaysWhatIsMissing(t *testing.T) {
	if err := run(nil, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("without a folder: %v", err)
	}
	for _, name := range []string{"@vant/area-data/dist/index.cjs", "id-validator/src/GB2260.js", "gb2260/lib", "idcard/lib/data/area.json"} {
		folder := packages(t)
		if err := os.RemoveAll(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := run([]string{folder}, &b); err == nil || !strings.Contains(err.Error(), filepath.Base(name)) || b.Len() > 0 {
			t.Errorf("without %s: %v, wrote %d bytes", name, err, b.Len())
		}
	}
}
