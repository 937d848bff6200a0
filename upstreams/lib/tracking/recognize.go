package tracking

import (
	"cmp"
	"slices"
	"strings"
)

// Levels of confidence.
const (
	Certain  = "certain"  // a prefix of this carrier alone, or a check digit that fits
	Likely   = "likely"   // most numbers of this shape are this carrier's
	Possible = "possible" // one of several carriers, or a check digit does not fit
)

// Candidate is a carrier that a number may belong to.
type Candidate struct {
	// Code is kuaidi100's. It is empty for the post of a country without a
	// known code: such a carrier can be shown, but not be queried by code.
	Code       string
	Name       string // in Chinese
	Confidence string // Certain, Likely or Possible
	Why        string // the feature of the number that indicates it, without the number
}

// Recognize returns the carriers that a number may belong to, best first. The
// number must be one that Normalize returned. None is certain for digits alone. The
// result is empty if no carrier's numbers have this form, or the number is not
// normalized.
func Recognize(id string) []Candidate {
	if !isNormalized(id) {
		return nil
	}
	var f candidates
	if digits(id, minNumber, maxNumber) {
		f.addByDigits(id)
	} else {
		f.addByPrefix(id)
		f.addPost(id)
		f.addJD(id)
	}
	slices.SortStableFunc(f, func(a, b Candidate) int { return cmp.Compare(rank(a.Confidence), rank(b.Confidence)) })
	return f
}

func rank(confidence string) int {
	return slices.Index([]string{Certain, Likely, Possible}, confidence)
}

// candidates collects the carriers of a number.
type candidates []Candidate

func (f *candidates) add(code, confidence, why string) {
	name, _ := Carrier(code)
	*f = append(*f, Candidate{Code: code, Name: name, Confidence: confidence, Why: why})
}

// shape is a prefix and the number of characters after it.
type shape struct {
	prefix      string
	least, most int
	letters     bool // whether letters may follow
	code        string
	confidence  string
}

// shapes are the numbers that are recognised by a prefix. If a prefix is the
// beginning of another, the lengths or the digits distinguish them.
var shapes = []shape{
	{"SF", 13, 13, false, "shunfeng", Certain},
	{"SF", 12, 12, false, "shunfeng", Likely}, // an older length
	{"YT", 13, 13, false, "yuantong", Certain},
	{"JT", 13, 13, false, "jtexpress", Certain},
	{"DPK", 9, 13, false, "debangkuaidi", Certain},
	{"DPL", 1, maxNumber, false, "debangkuaidi", Likely},
	{"DPL", 1, maxNumber, false, "debangwuliu", Possible}, // the same company's freight
	{"KY", 8, 15, false, "kuayue", Likely},
	{"KYE", 8, 15, false, "kuayue", Likely},
	{"JJD", 10, 22, true, "dhl", Certain},
	{"JVGL", 10, 22, true, "dhl", Certain},
	{"GM", 16, maxNumber, false, "dhl", Likely},
	{"LP", 14, 14, false, "cainiao", Likely},
}

func (f *candidates) addByPrefix(id string) {
	for _, s := range shapes {
		rest, ok := strings.CutPrefix(id, s.prefix)
		if ok && (digits(rest, s.least, s.most) || s.letters && alnum(rest, s.least, s.most)) {
			f.add(s.code, s.confidence, "the prefix "+s.prefix)
		}
	}
	if rest, ok := strings.CutPrefix(id, "1Z"); ok && alnum(rest, 16, 16) && isDigit(rune(rest[15])) {
		f.add("ups", certainIf(upsFits(id)), "the prefix 1Z, "+verdict(upsFits(id)))
	}
}

// addJD adds JD, whose numbers begin like some of DHL's; one with 11 more characters
// may be a postal number.
func (f *candidates) addJD(id string) {
	switch {
	case !jdShape(id):
	case postalShape(id) && s10Fits(id):
		f.add("jd", Possible, "the prefix JD")
	case digits(id[2:], 18, 18):
		f.add("jd", Likely, "the prefix JD")
		f.add("dhl", Possible, "the prefix JD and 18 digits")
	default:
		f.add("jd", Certain, "the prefix JD")
	}
}

func jdShape(id string) bool {
	rest, ok := strings.CutPrefix(id, "JD")
	return ok && alnum(rest, 11, 18)
}

func certainIf(fits bool) string {
	if fits {
		return Certain
	}
	return Possible
}

func verdict(fits bool) string {
	if fits {
		return "the check digit fits"
	}
	return "though the check digit does not fit"
}

// digitShape is a number of digits, and what they begin with.
type digitShape struct {
	length     int
	from       string            // any of these; "" for whatever
	fits       func(string) bool // the check digit; nil for none
	code       string
	confidence string
	why        string
}

// digitShapes are the numbers that are recognised by their digits alone. The sources for
// Chinese carriers contradict each other, so that none is better than likely. A check digit
// fits by chance as well: FedEx's in one of ten.
var digitShapes = []digitShape{
	{10, "", dhlFits, "dhl", Likely, "10 digits, the check digit fits"},
	{10, "", nil, "yuantong", Possible, "10 digits, as in older numbers"},
	{12, "", fedexFits, "fedex", Likely, "12 digits, the check digit fits"},
	{12, "", nil, "shentong", Possible, "12 digits"},
	{12, "", nil, "zhongtong", Possible, "12 digits"},
	{12, "", nil, "shunfeng", Possible, "12 digits, as in older numbers"},
	{13, "1", nil, "yunda", Possible, "13 digits from 1"},
	{13, "1", nil, "youzhengguonei", Possible, "13 digits from 1"},
	{13, "1", nil, "ems", Possible, "13 digits from 1"},
	{13, "3 4 5", nil, "yunda", Likely, "13 digits from 3, 4 or 5"},
	{13, "9", nil, "youzhengguonei", Likely, "13 digits from 9"},
	{13, "", nil, "shentong", Possible, "13 digits"},
	{14, "73 74 75 76 77 78 79", nil, "zhongtong", Likely, "14 digits from 73 to 79"},
	{14, "", nil, "dpd", Possible, "14 digits"},
	{15, "77", nil, "shentong", Likely, "15 digits from 77"},
	{15, "3 4", nil, "yunda", Likely, "15 digits from 3 or 4"},
}

func (s *digitShape) begins(id string) bool {
	begins := func(from string) bool { return strings.HasPrefix(id, from) }
	return s.from == "" || slices.ContainsFunc(strings.Fields(s.from), begins)
}

func (f *candidates) addByDigits(id string) {
	for _, s := range digitShapes {
		if len(id) == s.length && s.begins(id) && (s.fits == nil || s.fits(id)) {
			f.add(s.code, s.confidence, s.why)
		}
	}
	f.addUSPS(id)
}

// addUSPS adds the USPS: 22 to 26 digits beginning with 91 to 95, or 22 beginning
// with 9 after 420 and the addressee's ZIP code of five or nine digits.
func (f *candidates) addUSPS(id string) {
	number := id
	if strings.HasPrefix(id, "420") && (len(id) == 30 || len(id) == 34) {
		number = id[len(id)-22:]
	} else if len(id) < 22 || len(id) > 26 || id[1] < '1' || id[1] > '5' {
		return
	}
	if number[0] != '9' {
		return
	}
	if uspsFits(number) {
		f.add("usps", Likely, "as many digits as at the USPS, the check digit fits")
	} else {
		f.add("usps", Possible, "as many digits as at the USPS, though the check digit does not fit")
	}
}

// postalShape reports whether a number has the form of UPU standard S10: RB123456785GB.
func postalShape(id string) bool {
	return len(id) == 13 && isUpper(rune(id[0])) && isUpper(rune(id[1])) && digits(id[2:11], 9, 9) && isUpper(rune(id[11])) && isUpper(rune(id[12]))
}

// addPost adds the post of the country at the end of the number. China has two: EMS
// for numbers that begin with E, and China Post. A number does not show whether the
// parcel leaves the country; kuaidi100 has a second code of each for those.
func (f *candidates) addPost(id string) {
	if !postalShape(id) {
		return
	}
	fits, why := s10Fits(id), "a postal number of "+id[11:]+", "+verdict(s10Fits(id))
	if id[11:] != "CN" {
		if code, name := post(id[11:]); name != "" {
			*f = append(*f, Candidate{Code: code, Name: name, Confidence: certainIf(fits), Why: why})
		}
		return
	}
	home, abroad := "youzhengguonei", "youzhengguoji"
	if id[0] == 'E' {
		home, abroad = "ems", "emsguoji"
	}
	f.add(home, certainIf(fits), why)
	if fits {
		f.add(abroad, Likely, why)
	}
}
