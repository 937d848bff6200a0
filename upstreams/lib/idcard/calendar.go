package idcard

import (
	"time"

	"sundry/upstreams/lib/chinatime"
)

// firstYear is the earliest year of birth that is accepted.
const firstYear = 1850

// day parses a date, YYYYMMDD. It rejects dates that do not exist, such as 30
// February, and those before firstYear.
func day(s string) (time.Time, bool) {
	t, err := time.ParseInLocation("20060102", s, chinatime.Zone())
	if err != nil || t.Year() < firstYear {
		return time.Time{}, false
	}
	return t, true
}

// years is the number of full years between two days. After a birth on 29
// February, a year is full on 1 March if the year has no such day.
func years(from, to time.Time) int {
	n := to.Year() - from.Year()
	if to.Month() < from.Month() || to.Month() == from.Month() && to.Day() < from.Day() {
		n--
	}
	return n
}

// constellations are those that begin in January, February and so on, on the days
// in starts. Before that day, a month still has the one of the month before.
var constellations = [12]string{
	"水瓶座", "双鱼座", "白羊座", "金牛座", "双子座", "巨蟹座",
	"狮子座", "处女座", "天秤座", "天蝎座", "射手座", "摩羯座",
}

var starts = [12]int{20, 19, 21, 20, 21, 22, 23, 23, 23, 24, 23, 22}

// constellation is the sign of the zodiac of a day, in Chinese.
func constellation(t time.Time) string {
	m := int(t.Month()) - 1
	if t.Day() < starts[m] {
		m += 11
	}
	return constellations[m%12]
}

var animals = [12]string{"鼠", "牛", "虎", "兔", "龙", "蛇", "马", "羊", "猴", "鸡", "狗", "猪"}

// animal is the sign of the Chinese zodiac of a day: that of the lunar year, so
// that a day before the new year has the animal of the year before. If the date
// of the new year is not known, 4 February (the start of spring) is used, which
// is in the middle of its possible dates.
func animal(t time.Time) string {
	begin, ok := chinatime.LunarNewYear(t.Year())
	if !ok {
		begin = time.Date(t.Year(), time.February, 4, 0, 0, 0, 0, chinatime.Zone())
	}
	year := t.Year()
	if t.Before(begin) {
		year--
	}
	// A year of the rat is 4, and every twelfth after it.
	return animals[(year-4)%12]
}
