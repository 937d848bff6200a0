package idcard

import "time"

// china is the time zone of all of China. It has no other offset since 1991,
// and before only the days matter, so that no time zone database is needed.
var china = time.FixedZone("CST", 8*60*60)

// firstYear is the earliest year of birth that is taken for one.
const firstYear = 1850

// day reads a date of the calendar, YYYYMMDD. There are no such days as 30
// February, and none before firstYear.
func day(s string) (time.Time, bool) {
	t, err := time.ParseInLocation("20060102", s, china)
	if err != nil || t.Year() < firstYear {
		return time.Time{}, false
	}
	return t, true
}

// years are the full years from a day to another. Who was born on 29 February
// is a year older on 1 March where the year has no such day.
func years(from, to time.Time) int {
	n := to.Year() - from.Year()
	if to.Month() < from.Month() || to.Month() == from.Month() && to.Day() < from.Day() {
		n--
	}
	return n
}

// constellations begin in the months from January on, at the days of starts.
// Before the first of a month's days the last month's goes on.
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
