package tracking

import "strings"

// carriers are kuaidi100's codes, with the carriers' own names. The posts of other countries are in posts.
var carriers = map[string]string{
	"aliexpress":       "速卖通无忧物流",
	"annengwuliu":      "安能物流",
	"baishiwuliu":      "百世快运",
	"cainiao":          "菜鸟速递",
	"danniao":          "丹鸟",
	"debangkuaidi":     "德邦快递",
	"debangwuliu":      "德邦物流",
	"dhl":              "DHL",
	"dpd":              "DPD",
	"ems":              "EMS",
	"emsguoji":         "EMS国际",
	"fedex":            "FedEx",
	"fengwang":         "丰网速运",
	"huitongkuaidi":    "百世快递",
	"jd":               "京东物流",
	"jingdongkuaiyun":  "京东快运",
	"jtexpress":        "极兔速递",
	"kuayue":           "跨越速运",
	"lianbangkuaidi":   "联邦快递",
	"shentong":         "申通快递",
	"shunfeng":         "顺丰速运",
	"shunfengkuaiyun":  "顺丰快运",
	"suning":           "苏宁物流",
	"sxjdfreight":      "顺心捷达",
	"tiantian":         "天天快递",
	"tnt":              "TNT",
	"ups":              "UPS",
	"yimidida":         "壹米滴答",
	"youshuwuliu":      "优速快递",
	"youzhengbk":       "邮政标准快递",
	"youzhengguoji":    "邮政国际包裹",
	"youzhengguonei":   "邮政快递包裹",
	"yuantong":         "圆通速递",
	"yunda":            "韵达快递",
	"yundakuaiyun":     "韵达快运",
	"zhaijisong":       "宅急送",
	"zhongtong":        "中通快递",
	"zhongtongkuaiyun": "中通快运",
}

// Carrier returns the Chinese name of a kuaidi100 code in lower case, and whether
// the code is known here. kuaidi100 has many more.
func Carrier(code string) (name string, ok bool) {
	if name, ok = carriers[code]; ok {
		return name, true
	}
	return postByCode(code)
}

// NeedsPhone reports whether a query of this carrier's events requires the last
// four digits of the sender's or the addressee's phone number.
func NeedsPhone(code string) bool {
	return code == "shunfeng" || code == "shunfengkuaiyun" || code == "zhongtong"
}

// kdniao are kdniao's codes: https://www.kdniao.com/documents.
var kdniao = map[string]string{
	"ANE":      "annengwuliu",
	"BTWL":     "baishiwuliu",
	"DBL":      "debangkuaidi",
	"DBLKY":    "debangwuliu",
	"DHL":      "dhl",
	"EMS":      "ems",
	"FEDEX":    "lianbangkuaidi", // within China
	"FEDEX_GJ": "fedex",
	"HHTT":     "tiantian",
	"HTKY":     "huitongkuaidi",
	"JD":       "jd",
	"JDKY":     "jingdongkuaiyun",
	"JTSD":     "jtexpress",
	"KYSY":     "kuayue",
	"SF":       "shunfeng",
	"STO":      "shentong",
	"TNT":      "tnt",
	"UC":       "youshuwuliu",
	"UPS":      "ups",
	"USPS":     "usps",
	"YD":       "yunda",
	"YTO":      "yuantong",
	"YZPY":     "youzhengguonei",
	"ZJS":      "zhaijisong",
	"ZTO":      "zhongtong",
	"ZTOKY":    "zhongtongkuaiyun",
}

// alibaba are codes that are used on Alibaba's markets in addition to those of
// kdniao. The provider lists its own at /getExpressList; several variants exist.
var alibaba = map[string]string{
	"ANNENG":    "annengwuliu",
	"CHINAPOST": "youzhengguonei",
	"DBKD":      "debangkuaidi",
	"DEBANG":    "debangkuaidi",
	"DEPPON":    "debangkuaidi",
	"HUITONG":   "huitongkuaidi",
	"JINGDONG":  "jd",
	"JITU":      "jtexpress",
	"JT":        "jtexpress",
	"POSTB":     "youzhengguonei",
	"SFEXPRESS": "shunfeng",
	"TTKDEX":    "tiantian",
	"YUNDA":     "yunda",
}

// FromKdniao converts kdniao's ShipperCode (YTO); empty when it is unknown.
func FromKdniao(code string) string { return kdniao[fold(code)] }

// ToKdniao converts a code to kdniao's ShipperCode, if there is one.
func ToKdniao(code string) (string, bool) {
	for theirs, ours := range kdniao { // each of ours occurs once
		if ours == code {
			return theirs, true
		}
	}
	return "", false
}

// FromAli converts the type of "全国快递物流查询" on Alibaba Cloud's market
// (YTO, also YUNDA, or a code of kuaidi100); empty when it is unknown.
func FromAli(code string) string {
	if ours, ok := alibaba[fold(code)]; ok {
		return ours
	}
	if ours := FromKdniao(code); ours != "" {
		return ours
	}
	ours := strings.ToLower(fold(code))
	if _, ok := Carrier(ours); ok {
		return ours
	}
	return ""
}

func fold(code string) string { return strings.ToUpper(strings.TrimSpace(code)) }
