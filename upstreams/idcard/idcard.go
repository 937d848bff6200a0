package idcard

import (
	"slices"
	"time"
)

// Type is the kind of document that bears a number.
type Type string

// The types of documents. Of 15 digits there are residents' numbers only.
const (
	// Resident is an identity card.
	Resident Type = "resident"
	// HMTPermit is a residence permit of a resident of Hong Kong, Macau or
	// Taiwan, given since September 2018.
	HMTPermit Type = "hmt_permit"
	// ForeignerPermanent is a foreigner's permanent residence card in the form
	// of 2023. It names no area.
	ForeignerPermanent Type = "foreigner_permanent"
)

// Reason is why a number is not valid, or what is odd about it.
type Reason string

// All reasons there are, in the order of Info.Reasons.
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
	// Reasons has what speaks against the number, each once. Of a valid number
	// that is at most UnknownArea: no table has all codes there were.
	Reasons []Reason
	Type    Type
	// Length is 18 or 15, in characters.
	Length int
	// Area is nil where the number names none.
	Area *Area
	// Birthday is midnight in China, or zero where there is no such day.
	Birthday time.Time
	// Age is in full years, 0 also where there is no birthday yet.
	Age int
	// Male says the sex: odd sequence numbers are men's.
	Male bool
	// Masked has the first and last four characters, the rest as stars.
	Masked string
	// UpgradedMasked is the mask of the 18 characters that replaced 15 digits,
	// empty where there is nothing to replace.
	UpgradedMasked string
}

// Parse reads a number in any form that Normalize takes. The instant now says
// which day it is in China, hence the age and which birthdays are to come. The
// error is ErrMalformed; a number that is well formed but wrong gives an Info
// that says so.
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
	i.born(full[6:14], now)
	i.from(full[:6])
	if len(number) == short && !i.Birthday.IsZero() {
		i.UpgradedMasked = mask(full)
	}
	i.Valid = i.agrees()
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

// born notes the date of birth, YYYYMMDD, and what is wrong with it.
func (i *Info) born(date string, now time.Time) {
	birthday, ok := day(date)
	if !ok {
		i.Reasons = append(i.Reasons, BadDate)
		return
	}
	i.Birthday = birthday
	now = now.In(china)
	if birthday.After(now) {
		i.Reasons = append(i.Reasons, FutureDate)
		return
	}
	i.Age = years(birthday, now)
}

// from notes the area, by the names of the time of birth.
func (i *Info) from(code string) {
	if i.Type == ForeignerPermanent {
		return
	}
	i.Area = areaOf(code, i.Birthday)
	if !i.Area.Known {
		i.Reasons = append(i.Reasons, UnknownArea)
	}
}

// agrees says whether nothing but an unknown area speaks against the number,
// and of 15 digits not even a province that there is none of.
func (i *Info) agrees() bool {
	if i.Length == short && i.Area.Province == "" {
		return false
	}
	return !slices.ContainsFunc(i.Reasons, func(r Reason) bool { return r != UnknownArea })
}
