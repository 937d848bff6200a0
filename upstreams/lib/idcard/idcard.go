// Package idcard parses a Chinese identity number: it returns what the number says
// about its holder, and whether its parts are consistent. Nothing leaves the
// process: no number is sent, stored or logged, and no error contains one.
//
// A number that is valid here is well formed and consistent. Only the police know
// whether it was ever issued.
package idcard

import (
	"slices"
	"time"

	"sundry/upstreams/lib/chinatime"
)

// Type is the type of document with the number.
type Type string

// The types of documents. Numbers of 15 digits are residents' only.
const (
	// Resident is an identity card.
	Resident Type = "resident"
	// HMTPermit is a residence permit of a resident of Hong Kong, Macau or
	// Taiwan, issued since September 2018.
	HMTPermit Type = "hmt_permit"
	// ForeignerPermanent is a foreigner's permanent residence card as
	// issued since 2023. Its number has no area.
	ForeignerPermanent Type = "foreigner_permanent"
)

// Reason is why a number is invalid, or a doubt about a valid one.
type Reason string

// All reasons, in the order of Info.Reasons.
const (
	BadChecksum Reason = "bad_checksum"
	BadDate     Reason = "bad_date"
	FutureDate  Reason = "future_date"
	UnknownArea Reason = "unknown_area"
)

// Info is what a number says. It does not change after Parse.
type Info struct {
	// Valid says that the check digit and the date of birth are right. Of 15
	// digits, which have no check digit, the province must be known as well.
	Valid bool
	// Reasons are the problems found, each once. For a valid number that is at
	// most UnknownArea: no table has all codes that ever existed.
	Reasons []Reason
	Type    Type
	// Length is 18 or 15, in characters.
	Length int
	// Area is nil if the number has none.
	Area *Area
	// Birthday is midnight in China, or zero if the date does not exist.
	Birthday time.Time
	// Age is in full years; 0 also if the birthday is unknown or in the future.
	Age int
	// Male is the sex: odd sequence numbers are men's.
	Male bool
	// Masked shows the first and last four characters, the rest as asterisks.
	Masked string
	// UpgradedMasked is the mask of the 18-character number that replaced one of
	// 15 digits, else empty.
	UpgradedMasked string
}

// Parse parses a number in any form that Normalize accepts. The date of now in
// China decides the age and which birthdays are in the future. The error is
// ErrMalformed; a number that is well formed but invalid returns an Info that
// says so.
func Parse(card string, now time.Time) (*Info, error) {
	number, err := Normalize(card)
	if err != nil {
		return nil, err
	}
	i := &Info{Type: typeOf(number), Length: len(number), Masked: mask(number)}
	full := number
	if len(number) == short {
		full = upgraded(number)
	} else if checkDigit(number) != number[long-1] {
		i.Reasons = append(i.Reasons, BadChecksum)
	}
	i.Male = (full[long-2]-'0')%2 == 1
	i.setBirthday(full[6:14], now)
	i.setArea(full[:6])
	if len(number) == short && !i.Birthday.IsZero() {
		i.UpgradedMasked = mask(full)
	}
	i.Valid = i.consistent()
	return i, nil
}

func typeOf(number string) Type {
	switch {
	case len(number) == short:
		return Resident
	case number[0] == '9':
		return ForeignerPermanent
	case number[0] == '8' && number[1] >= '1' && number[1] <= '3':
		return HMTPermit
	}
	return Resident
}

// setBirthday sets the date of birth from YYYYMMDD, with the age and the reasons.
func (i *Info) setBirthday(date string, now time.Time) {
	birthday, ok := day(date)
	if !ok {
		i.Reasons = append(i.Reasons, BadDate)
		return
	}
	i.Birthday = birthday
	now = now.In(chinatime.Zone())
	if birthday.After(now) {
		i.Reasons = append(i.Reasons, FutureDate)
		return
	}
	i.Age = years(birthday, now)
}

// setArea sets the area, by its names at the time of birth.
func (i *Info) setArea(code string) {
	if i.Type == ForeignerPermanent {
		return
	}
	i.Area = areaOf(code, i.Birthday)
	if !i.Area.Known {
		i.Reasons = append(i.Reasons, UnknownArea)
	}
}

// consistent reports whether there is no reason but an unknown area. A number of
// 15 digits must have a known province as well.
func (i *Info) consistent() bool {
	if i.Length == short && i.Area.Province == "" {
		return false
	}
	return !slices.ContainsFunc(i.Reasons, func(r Reason) bool { return r != UnknownArea })
}

// Data is the Info as values for JSON and jq, by these keys:
//
//	valid            bool
//	type             resident, hmt_permit or foreigner_permanent
//	length           18 or 15
//	checksum_ok      bool; nil for 15 digits
//	area_code        six digits                           }
//	province, city, county                                }
//	area             what is known of these, joined       } nil for foreigners
//	area_known       bool                                 }
//	abolished        bool; nil for an unknown code        }
//	birthday         2006-01-02; nil for no date
//	age              years; nil for no date or a future one
//	sex              male or female
//	zodiac           animal of the lunar year; nil for no date
//	constellation    nil for no date
//	masked           four characters, asterisks, four characters
//	upgraded_masked  the same of the number that replaced 15 digits; else nil
//	reasons          list of text, may be empty
//
// A city or county is empty if there is no such level, nil if unknown.
func (i *Info) Data() map[string]any {
	data := map[string]any{
		"valid": i.Valid, "type": string(i.Type), "length": i.Length,
		"checksum_ok": nil, "sex": "female",
		"birthday": nil, "age": nil, "zodiac": nil, "constellation": nil,
		"masked": i.Masked, "upgraded_masked": text(i.UpgradedMasked),
		"reasons": i.reasons(),
	}
	if i.Length == long {
		data["checksum_ok"] = !slices.Contains(i.Reasons, BadChecksum)
	}
	if i.Male {
		data["sex"] = "male"
	}
	i.dates(data)
	i.Area.data(data)
	return data
}

func (i *Info) dates(data map[string]any) {
	if i.Birthday.IsZero() {
		return
	}
	data["birthday"] = i.Birthday.Format("2006-01-02")
	data["zodiac"] = animal(i.Birthday)
	data["constellation"] = constellation(i.Birthday)
	if !slices.Contains(i.Reasons, FutureDate) {
		data["age"] = i.Age
	}
}

// data adds the keys of an area, all nil for a nil area.
func (a *Area) data(data map[string]any) {
	for _, key := range []string{"area_code", "province", "city", "county", "area", "area_known", "abolished"} {
		data[key] = nil
	}
	if a == nil {
		return
	}
	data["area_code"], data["area_known"] = a.Code, a.Known
	data["province"], data["area"] = text(a.Province), text(a.Name())
	if a.City != nil {
		data["city"] = *a.City
	}
	if a.County != nil {
		data["county"] = *a.County
	}
	if a.Known {
		data["abolished"] = a.Abolished
	}
}

func (i *Info) reasons() []any {
	list := make([]any, 0, len(i.Reasons))
	for _, r := range i.Reasons {
		list = append(list, string(r))
	}
	return list
}

// text is nil for nothing: unlike "", that is unknown in JSON.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}
