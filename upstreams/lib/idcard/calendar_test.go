package idcard

import (
	"testing"
	"time"

	"sundry/upstreams/lib/chinatime"
)

func date(t testing.TB, s string) time.Time {
	t.Helper()
	d, err := time.ParseInLocation("2006-01-02", s, chinatime.Zone())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAnimal(t *testing.T) {
	for s, want := range map[string]string{
		"1900-01-30": "猪", "1900-01-31": "鼠",
		"1985-02-19": "鼠", "1985-02-20": "牛",
		"2000-02-04": "兔", "2000-02-05": "龙",
		"2024-02-09": "兔", "2024-02-10": "龙", "2024-12-31": "龙", "2025-01-28": "龙", "2025-01-29": "蛇",
		"2033-01-30": "鼠", "2033-01-31": "牛", "2034-02-18": "牛", "2034-02-19": "虎",
		"2100-02-08": "羊", "2100-02-09": "猴",
		// By the start of spring.
		"1850-01-01": "鸡", "1850-02-03": "鸡", "1850-02-04": "狗", "1899-12-31": "猪", "2101-02-03": "猴", "2101-02-04": "鸡",
	} {
		if got := animal(date(t, s)); got != want {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
	}
}

func TestConstellation(t *testing.T) {
	for s, want := range map[string]string{
		"2000-01-01": "摩羯座", "2000-01-19": "摩羯座", "2000-01-20": "水瓶座", "2000-02-18": "水瓶座", "2000-02-19": "双鱼座",
		"2000-02-29": "双鱼座", "2000-03-20": "双鱼座", "2000-03-21": "白羊座", "2000-04-19": "白羊座", "2000-04-20": "金牛座",
		"2000-05-20": "金牛座", "2000-05-21": "双子座", "2000-06-21": "双子座", "2000-06-22": "巨蟹座", "2000-07-22": "巨蟹座",
		"2000-07-23": "狮子座", "2000-08-22": "狮子座", "2000-08-23": "处女座", "2000-09-22": "处女座", "2000-09-23": "天秤座",
		"2000-10-23": "天秤座", "2000-10-24": "天蝎座", "2000-11-22": "天蝎座", "2000-11-23": "射手座", "2000-12-21": "射手座",
		"2000-12-22": "摩羯座", "2000-12-31": "摩羯座",
	} {
		if got := constellation(date(t, s)); got != want {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
	}
}

func TestLeapDays(t *testing.T) {
	for s, real := range map[string]bool{
		"20000229": true, "19960229": true, "19000229": false, "21000229": false, "19990229": false, "20240229": true,
		"20240230": false, "20240431": false, "20241301": false, "20240001": false, "20240100": false,
		"00000000": false, "18491231": false, "18500101": true, "18600229": true, "99991231": true,
	} {
		if _, ok := day(s); ok != real {
			t.Errorf("%s: %v, want %v", s, ok, real)
		}
	}
	born := date(t, "2000-02-29")
	for s, want := range map[string]int{
		"2000-02-29": 0, "2001-02-28": 0, "2001-03-01": 1, "2004-02-28": 3, "2004-02-29": 4, "2100-02-28": 99, "2100-03-01": 100,
	} {
		if got := years(born, date(t, s)); got != want {
			t.Errorf("at %s: %d, want %d", s, got, want)
		}
	}
}
