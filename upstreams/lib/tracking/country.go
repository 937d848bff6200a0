package tracking

import (
	"cmp"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// shortened are the names of countries that CLDR has in another wording than parcels.
var shortened = map[string]string{
	"AE": "阿联酋", "FK": "福克兰群岛（马尔维纳斯）", "HK": "香港", "MK": "北马其顿", "MO": "澳门", "PS": "巴勒斯坦",
}

// noPost are codes of CLDR that end no postal number: those that are not in use (any more),
// and of places without a post. China is among them: its numbers belong to two carriers.
const noPost = "AC AN AQ BU BV CN CP CQ CS CT DD DG DY EA EZ FQ FX HM HV IC JT MI NH NQ NT " +
	"PC PU PZ RH SU TA TF TP UK UM UN VD WK XK YD YU ZR"

// countryName is the Chinese name of the country code at the end of a postal number; "" for
// one that ends none.
func countryName(code string) string {
	region, err := language.ParseRegion(code)
	if err != nil || !region.IsCountry() || strings.Contains(noPost, code) {
		return ""
	}
	return cmp.Or(shortened[code], display.Regions(language.SimplifiedChinese).Name(region))
}

// posts are kuaidi100's codes of posts.
var posts = map[string]string{
	"AE": "emirates", "AT": "austria", "AU": "auspost",
	"BE": "bpost", "BG": "bulgarian", "BR": "brazilposten", "BY": "belpost",
	"CA": "canpost", "CH": "swisspost", "CZ": "ceskaposta",
	"DE": "deutschepost", "DK": "postdanmarken",
	"EE": "omniva", "ES": "correosdees",
	"FI": "finland", "FR": "csuivi",
	"GB": "royalmail", "GR": "elta",
	"HK": "hkpost", "HR": "hrvatska", "HU": "hungary",
	"IE": "anposten", "IL": "israelpost", "IN": "india", "IT": "italiane",
	"JP": "japanposten",
	"KR": "koreapost", "KZ": "kazpost",
	"LT": "lithuania", "LU": "luxembourg", "LV": "latvia",
	"MO": "macao", "MX": "mexico", "MY": "malaysiapost",
	"NL": "postnl", "NO": "postennorge", "NZ": "newzealand",
	"PH": "phlpost", "PK": "pakistan", "PL": "emonitoring", "PT": "portugalctt",
	"RO": "romanian", "RU": "pochta",
	"SA": "saudipost", "SE": "ruidianyouzheng", "SG": "singpost", "SI": "slovenia", "SK": "slovak",
	"TH": "thailand", "TR": "ptt", "TW": "postserv",
	"UA": "ukrpost", "US": "usps",
	"VN": "vietnam",
	"ZA": "southafrican",
}

// post returns the post of a country: its code, empty if none of kuaidi100's is
// known here, and its name, empty for an unknown country.
func post(country string) (code, name string) {
	if name = countryName(country); name == "" {
		return "", ""
	}
	return posts[country], name + "邮政"
}

// postByCode is Carrier for the codes of posts.
func postByCode(code string) (string, bool) {
	for country, c := range posts {
		if c == code {
			return countryName(country) + "邮政", true
		}
	}
	return "", false
}
