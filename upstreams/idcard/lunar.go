package idcard

import "time"

// newYears has a letter for each year from lunarFirst on: how many days after
// 20 January the lunar year begins, A for one. Computed with the npm package
// lunar-javascript 1.7.7 (MIT), which follows the rules of GB/T 33661-2017.
const newYears = "K^SI[OEXMBUJ]QFYNCVL_SH[PDXMCUJ\\QFYODVK^SGZPEXMBUI\\QGYNDWK]SHZPEXMATJ\\QGZNCVK]RH[PEXM_TI\\QGZOCUK^RH[PDWLBTI]RF" +
	"YNCUK^SH[PEWLBUI\\QFXNCVK^SHZODWLBUJ\\QFYMCVL^SHZODWMATI\\PFYNCVK^RGZPDWMBTI\\QFYNDUJ]RGZPEWLAT"

const lunarFirst = 1900

// LunarNewYear is the first day of the lunar year that begins in the year,
// midnight in China. It is known from 1900 to 2100.
func LunarNewYear(year int) (time.Time, bool) {
	i := year - lunarFirst
	if i < 0 || i >= len(newYears) {
		return time.Time{}, false
	}
	return time.Date(year, time.January, 20+int(newYears[i]-'A'+1), 0, 0, 0, 0, china), true
}

var animals = [12]string{"鼠", "牛", "虎", "兔", "龙", "蛇", "马", "羊", "猴", "鸡", "狗", "猪"}

// animal is the Chinese zodiac's of a day: that of the lunar year, so that a
// day before the new year has the animal of the year before. Where the new year
// is not known, the year begins at the start of spring, 4 February, in whose
// middle it lies on average.
func animal(t time.Time) string {
	begin, ok := LunarNewYear(t.Year())
	if !ok {
		begin = time.Date(t.Year(), time.February, 4, 0, 0, 0, 0, china)
	}
	year := t.Year()
	if t.Before(begin) {
		year--
	}
	// A year of the rat is 4, and every twelfth after it.
	return animals[(year-4)%12]
}
