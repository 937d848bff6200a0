package waybill

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
	// Code is kuaidi100's. It is empty for the post of a country for which
	// none is known: such a carrier can be shown, but not be asked for by code.
	Code       string
	Name       string // in Chinese
	Confidence string // Certain, Likely or Possible
	Why        string // what in the number speaks for it, without the number
}

// Recognize names the carriers that a number as given by Normalize may belong
// to, best first. None is certain of digits alone. The result is empty when the
// shape is nobody's, or the number is not normal.
func Recognize(id string) []Candidate {
	if !normal(id) {
		return nil
	}
	var f finding
	if digits(id, minNumber, maxNumber) {
		f.bare(id)
	} else {
		f.prefixed(id)
		f.postal(id)
		f.jd(id)
	}
	slices.SortStableFunc(f, func(a, b Candidate) int { return cmp.Compare(rank(a.Confidence), rank(b.Confidence)) })
	return f
}

func rank(confidence string) int {
	return slices.Index([]string{Certain, Likely, Possible}, confidence)
}

// finding collects candidates.
type finding []Candidate

func (f *finding) add(code, confidence, why string) {
	name, _ := Carrier(code)
	*f = append(*f, Candidate{Code: code, Name: name, Confidence: confidence, Why: why})
}

// shape is a prefix and how many characters follow it.
type shape struct {
	prefix      string
	least, most int
	letters     bool // may be among them
	code        string
	confidence  string
}

// shapes are the numbers that a prefix gives away. Where one prefix begins
// another, the lengths or the digits keep them apart.
var shapes = []shape{
	{"SF", 13, 13, false, "shunfeng", Certain},
	{"SF", 12, 12, false, "shunfeng", Likely}, // an older length
	{"YT", 13, 13, false, "yuantong", Certain},
	{"JT", 13, 13, false, "jtexpress", Certain},
	{"DPK", 9, 13, false, "debangkuaidi", Certain},
	{"DPL", 1, maxNumber, false, "debangkuaidi", Likely},
	{"DPL", 1, maxNumber, false, "debangwuliu", Possible}, // the same house's freight
	{"KY", 8, 15, false, "kuayue", Likely},
	{"KYE", 8, 15, false, "kuayue", Likely},
	{"JJD", 10, 22, true, "dhl", Certain},
	{"JVGL", 10, 22, true, "dhl", Certain},
	{"GM", 16, maxNumber, false, "dhl", Likely},
	{"LP", 14, 14, false, "cainiao", Likely},
}

func (f *finding) prefixed(id string) {
	for _, s := range shapes {
		rest, ok := strings.CutPrefix(id, s.prefix)
		if ok && (digits(rest, s.least, s.most) || s.letters && alnum(rest, s.least, s.most)) {
			f.add(s.code, s.confidence, "the prefix "+s.prefix)
		}
	}
	if rest, ok := strings.CutPrefix(id, "1Z"); ok && alnum(rest, 16, 16) && isDigit(rune(rest[15])) {
		f.add("ups", sure(ups(id)), "the prefix 1Z, "+verdict(ups(id)))
	}
}

// jd numbers begin like some of DHL's, and 11 characters may be a postal number.
func (f *finding) jd(id string) {
	switch {
	case !jdShape(id):
	case postalShape(id) && s10(id):
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

func sure(fits bool) string {
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
