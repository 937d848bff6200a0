package waybill

import "strings"

// bare adds who numbers parcels by so many digits. The sources for Chinese
// carriers contradict each other here, so nothing is better than likely.
func (f *finding) bare(id string) {
	switch len(id) {
	case 10:
		f.ten(id)
	case 12:
		f.twelve(id)
	case 13:
		f.thirteen(id)
	case 14:
		f.fourteen(id)
	case 15:
		f.fifteen(id)
	default:
		f.american(id)
	}
}

func (f *finding) ten(id string) {
	if dhl(id) {
		f.add("dhl", Likely, "10 digits, the check digit fits")
	}
	f.add("yuantong", Possible, "10 digits, as in older numbers")
}

func (f *finding) twelve(id string) {
	if fedex(id) { // one in ten does by chance
		f.add("fedex", Likely, "12 digits, the check digit fits")
	}
	f.add("shentong", Possible, "12 digits")
	f.add("zhongtong", Possible, "12 digits")
	f.add("shunfeng", Possible, "12 digits, as in older numbers")
}

func (f *finding) thirteen(id string) {
	switch id[0] {
	case '1':
		f.add("yunda", Possible, "13 digits from 1")
		f.add("youzhengguonei", Possible, "13 digits from 1")
		f.add("ems", Possible, "13 digits from 1")
	case '3', '4', '5':
		f.add("yunda", Likely, "13 digits from 3, 4 or 5")
	case '9':
		f.add("youzhengguonei", Likely, "13 digits from 9")
	}
	f.add("shentong", Possible, "13 digits")
}

func (f *finding) fourteen(id string) {
	if id[0] == '7' && id[1] >= '3' {
		f.add("zhongtong", Likely, "14 digits from 73 to 79")
	}
	f.add("dpd", Possible, "14 digits")
}

func (f *finding) fifteen(id string) {
	switch {
	case strings.HasPrefix(id, "77"):
		f.add("shentong", Likely, "15 digits from 77")
	case id[0] == '3', id[0] == '4':
		f.add("yunda", Likely, "15 digits from 3 or 4")
	}
}

// american adds the USPS: 22 to 26 digits from 91 to 95, or 22 from 9 behind
// 420 and the addressee's ZIP code of five or nine digits.
func (f *finding) american(id string) {
	number := id
	if strings.HasPrefix(id, "420") && (len(id) == 30 || len(id) == 34) {
		number = id[len(id)-22:]
	} else if len(id) < 22 || len(id) > 26 || id[1] < '1' || id[1] > '5' {
		return
	}
	if number[0] != '9' {
		return
	}
	if usps(number) {
		f.add("usps", Likely, "as many digits as at the USPS, the check digit fits")
	} else {
		f.add("usps", Possible, "as many digits as at the USPS, though the check digit does not fit")
	}
}
