package chinatime

import (
	"fmt"
	"strings"
	"time"
)

// first is the first lunar year of the table. It begins on 25 January 2020.
const first = 2020

// months has a word for each lunar year, of a letter for each month: B for 30 days, s
// for 29, L and l for a leap month of 30 and 29, which has the number of the month
// before. Computed with the npm package lunar-javascript 1.7.7 (MIT); the test compares
// it with another program's dates.
const months = "sBBBlBssBsBsB sBBsBsBsBsBs BsBsBBsBsBsB sBlsBBsBBsBsB sBssBsBBsBBs BsBssBlBsBBBs " +
	"BsBssBssBBBs BBsBssBssBBs BBBsBlsBssBBs BBsBsBsBssBB sBsBBsBsBsBs sBBlBsBBsBsBs " +
	"BssBsBBsBBsB sBssBsBsBBBlB sBssBsBsBBsB BsBssBssBBsB BBsBssLssBsBB BBsBssBssBsB " +
	"BBsBsBsBssBs BBsBBlBsBsBss BsBBsBsBBsBs sBsBsBBsBBsB sBlsBsBsBBsBB sBssBssBBsBB " +
	"BsBssBslBsBBB BsBssBssBsBB BsBsBsBssBsB BsBBsLsBssBsB sBBsBBsBssBs BsBsBBsBBsBs " +
	"sBsLsBsBBsBBs BssBssBBsBBB sBssBssBlBBBB sBssBssBsBBB sBBssBssBsBB sBBsBsLssBsBs " +
	"BBBsBsBssBsB sBBsBsBBssBs BsBsLsBBsBBss BsBsBsBsBBBs BssBssBsBBBs BBslBssBsBBBs " +
	"BBssBssBsBBs BBsBsBslBsBsB BBsBsBssBsBs BBsBBsBssBsB sBsBBlBsBsBsB sBsBsBBsBsBs " +
	"BsBssBBsBBsB sBsBlsBsBBBsB sBsBssBsBBsB BsBsBssBlBsBB BsBsBssBsBsB BsBBsBssBsBs " +
	"BsBBsBlBsBsBs BsBsBBsBsBsB sBsBsBsBBsBs BsBslBsBBBsBs BsBssBsBBsBB sBsBssBsBsBB " +
	"BsBlBssBssBBB sBBsBssBssBB sBBBssBlBssBB sBBsBsBsBsBs BsBsBBsBsBsB sBssBLsBBsBsB " +
	"sBssBsBBsBBs BsBssBsBsBBB sBsBlsBssBBBs BBsBsssBsBBs BBBsBssBlsBBs BBsBsBsBssBs " +
	"BBsBBsBsBsBs sBBsBsLBsBsBs sBsBsBBsBBsB sBssBsBsBBBs BsBslBssBBBsB BsBsssBsBBsB " +
	"BBsBsssBsBsB BBlBBssBssBsB BBsBsBsBssBs "

// Lunar names a day of the traditional calendar (GB/T 33661-2017) in Chinese, as in
// 丙午年十月十三. It is false for days beyond the table.
func Lunar(day time.Time) (string, bool) {
	day = day.In(zone)
	noon := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, time.UTC)
	left := int(noon.Sub(time.Date(first, time.January, 25, 0, 0, 0, 0, time.UTC)) / (24 * time.Hour))
	if left < 0 {
		return "", false
	}
	year := first
	for lengths := range strings.FieldsSeq(months) {
		name, rest, ok := within(lengths, left)
		if ok {
			return yearName(year) + "年" + name, true
		}
		left = rest
		year++
	}
	return "", false
}

// within finds the month and day that lie so many days after the beginning of a year, or
// how many are left at its end.
func within(lengths string, left int) (name string, rest int, ok bool) {
	number := 0
	for _, c := range lengths {
		days, leap := 29, ""
		if c == 'B' || c == 'L' {
			days = 30
		}
		if c == 'L' || c == 'l' {
			leap = "闰"
		} else {
			number++
		}
		if left < days {
			return leap + monthNames[number-1] + "月" + strings.Fields(dayNames)[left], 0, true
		}
		left -= days
	}
	return "", left, false
}

var monthNames = [12]string{"正", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二"}

// yearName is the stem and branch of a year. 1984 was the first of a cycle, 甲子.
func yearName(year int) string {
	stems, branches := []rune("甲乙丙丁戊己庚辛壬癸"), []rune("子丑寅卯辰巳午未申酉戌亥")
	return fmt.Sprintf("%c%c", stems[(year-4)%10], branches[(year-4)%12])
}

const dayNames = "初一 初二 初三 初四 初五 初六 初七 初八 初九 初十 十一 十二 十三 十四 十五 十六 十七 十八 十九 二十 " +
	"廿一 廿二 廿三 廿四 廿五 廿六 廿七 廿八 廿九 三十"

// newYears has a letter for each year from lunarFirst on: how many days after
// 20 January the lunar year begins, A for one. Computed with the npm package
// lunar-javascript 1.7.7 (MIT), which follows the rules of GB/T 33661-2017.
const newYears = "K^SI[OEXMBUJ]QFYNCVL_SH[PDXMCUJ\\QFYODVK^SGZPEXMBUI\\QGYNDWK]SHZPEXMATJ\\QGZNCVK]RH[PEXM_TI\\QGZOCUK^RH[PDWLBTI]RF" +
	"YNCUK^SH[PEWLBUI\\QFXNCVK^SHZODWLBUJ\\QFYMCVL^SHZODWMATI\\PFYNCVK^RGZPDWMBTI\\QFYNDUJ]RGZPEWLAT"

const lunarFirst = 1900

// LunarNewYear is the first day of the lunar year that begins in the year,
// midnight in China. It is known for 1900 to 2100.
func LunarNewYear(year int) (time.Time, bool) {
	i := year - lunarFirst
	if i < 0 || i >= len(newYears) {
		return time.Time{}, false
	}
	return time.Date(year, time.January, 20+int(newYears[i]-'A'+1), 0, 0, 0, 0, zone), true
}
