// Package idcard parses a Chinese identity number: it returns what the number says
// about its holder, and whether its parts are consistent. Nothing leaves the
// process: no number is sent, stored or logged, and no error contains one.
//
// A number that is valid here is well formed and consistent. Only the police know
// whether it was ever issued.
package idcard

import (
	"maps"
	"time"

	"sundry/upstreams/lib/chinatime"
)

// Why a number is invalid or, of an area, what is doubtful of a valid one: no table has
// all codes that ever existed.
const (
	badChecksum        = "bad_checksum"
	badDate            = "bad_date"
	futureDate         = "future_date"
	unknownArea        = "unknown_area"
	unknownProvince    = "unknown_province"    // of a foreigner
	unknownNationality = "unknown_nationality" // of a foreigner
)

// Parse parses a number in any form that Normalize accepts. The date of now in China
// decides the age and which birthdays are in the future. The error is ErrMalformed; a
// number that is well formed but invalid has values that say so, by these keys:
//
//	valid            bool: check digit and date are right and, of 15 digits, which
//	                 have no check digit, and of foreigners, the province is known, and
//	                 of foreigners the nationality
//	type             resident, hmt_permit (of residents of Hong Kong, Macau or Taiwan,
//	                 since 2018) or foreigner_permanent (as issued since 2023)
//	length           18 or 15
//	checksum_ok      bool; nil for 15 digits
//	area_code        six digits; nil for foreigners
//	province         of foreigners, that of the application
//	city, county     nil for foreigners
//	area             what is known of these, joined; nil for foreigners
//	area_known       bool; nil for foreigners
//	abolished        bool; nil for foreigners and for an unknown code
//	nationality      the country's name in Chinese }
//	nationality_code its two letters               } nil for others than foreigners
//	birthday         2006-01-02; nil for no date
//	age              full years; nil for no date or a future one
//	sex              male or female
//	zodiac           animal of the lunar year; nil for no date
//	constellation    nil for no date
//	masked           four characters, asterisks, four characters
//	upgraded_masked  the same of the number that replaced 15 digits; else nil
//	reasons          list of text, may be empty
//
// A city or county is empty if there is no such level, nil if unknown.
func Parse(card string, now time.Time) (map[string]any, error) {
	number, err := Normalize(card)
	if err != nil {
		return nil, err
	}
	full, reasons := number, []any{}
	data := map[string]any{
		"type": typeOf(number), "length": len(number), "checksum_ok": nil, "sex": "female",
		"masked": mask(number), "upgraded_masked": nil,
	}
	if len(number) == short {
		full = upgraded(number)
	} else {
		fits := checkDigit(number) == number[long-1]
		if data["checksum_ok"] = fits; !fits {
			reasons = append(reasons, badChecksum)
		}
	}
	if (full[long-2]-'0')%2 == 1 { // odd sequence numbers are men's
		data["sex"] = "male"
	}
	birthday, wrong := addBirthday(data, full[6:14], now)
	if wrong != "" {
		reasons = append(reasons, wrong)
	}
	maps.Copy(data, noArea())
	if data["type"] == foreigner {
		reasons = append(reasons, addForeigner(data, number)...)
	}
	data["valid"] = len(reasons) == 0
	if data["type"] != foreigner {
		maps.Copy(data, areaOf(full[:6], birthday))
		if data["area_known"] == false {
			reasons = append(reasons, unknownArea)
		}
	}
	if len(number) == short {
		data["valid"] = data["valid"] == true && data["province"] != nil
		if !birthday.IsZero() {
			data["upgraded_masked"] = mask(full)
		}
	}
	data["reasons"] = reasons
	return data, nil
}

// foreigner is the type of numbers with a nationality, and without an area.
const foreigner = "foreigner_permanent"

func typeOf(number string) string {
	switch {
	case len(number) == short:
		return "resident"
	case number[0] == '9':
		return foreigner
	case number[0] == '8' && number[1] >= '1' && number[1] <= '3':
		return "hmt_permit"
	}
	return "resident"
}

// addBirthday adds the date of birth, YYYYMMDD, and what follows from it. wrong is what is
// wrong with it, or ""; a date that does not exist is zero.
func addBirthday(data map[string]any, date string, now time.Time) (birthday time.Time, wrong string) {
	data["birthday"], data["age"], data["zodiac"], data["constellation"] = nil, nil, nil, nil
	birthday, ok := day(date)
	if !ok {
		return time.Time{}, badDate
	}
	data["birthday"] = birthday.Format(time.DateOnly)
	data["zodiac"], data["constellation"] = animal(birthday), constellation(birthday)
	if now = now.In(chinatime.Zone()); birthday.After(now) {
		return birthday, futureDate
	}
	data["age"] = years(birthday, now)
	return birthday, ""
}
