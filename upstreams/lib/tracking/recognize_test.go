package tracking

import (
	"slices"
	"strings"
	"testing"
)

// format writes candidates as code:confidence.
func format(found []Candidate) string {
	var list []string
	for _, c := range found {
		list = append(list, c.Code+":"+c.Confidence)
	}
	return strings.Join(list, " ")
}

func TestRecognize(t *testing.T) {
	for id, want := range map[string]string{
		// Prefixes.
		"SF1234567890123": "shunfeng:certain", "SF123456789012": "shunfeng:likely", "SF12345678901": "", "SF12345678901234": "", "SFA234567890123": "",
		"YT0000000000001": "yuantong:certain", "YT000000000001": "", "JT0000000000001": "jtexpress:certain", "JT00000000000012": "",
		"JDVA01234567890": "jd:certain", "JD0012345678901": "jd:certain", "JDX0123456789": "jd:certain", "JD0123456789": "", "JD0123456789012345678": "",
		"JD014600006281230704": "jd:likely dhl:possible",
		"DPK123456789":         "debangkuaidi:certain", "DPK1234567890123": "debangkuaidi:certain", "DPK12345678": "", "DPL12345": "debangkuaidi:likely debangwuliu:possible", "DPLA2345": "",
		"KY12345678": "kuayue:likely", "KYE123456789012": "kuayue:likely", "KY1234567": "", "KYA12345678": "",
		"JJD000390007887665447": "dhl:certain", "JVGL0123456789": "dhl:certain", "JJD012345678": "", "GM1234567890123456": "dhl:likely", "GM123456789012345": "",
		"LP00123456789012": "cainiao:likely", "LP0012345678901": "", "XY12345678": "", "ABCDEF": "",
		// UPS.
		"1Z5R89390357567127": "ups:certain", "1ZA1B2C30300123452": "ups:certain", "1Z879E930346834440": "ups:certain", "1Z410E7W0392751591": "ups:certain", "1ZXX3150YW44070023": "ups:certain",
		"1ZZZZZZZ0099999997": "ups:certain", "1ZABCDEFGHIJKLMNO2": "ups:certain", "1ZPQRSTUVWXYZ01230": "ups:certain", "1Z0000000000000000": "ups:certain",
		"1Z5R89390357567128": "ups:possible", "1Z1111111111111111": "ups:possible", "1Z5R8939035756712A": "", "1Z5R8939035756712": "", "2Z5R89390357567127": "",
		// Postal numbers: check digits 0 and 5 for remainders 10 and 11 as well.
		"RB123456785GB": "royalmail:certain", "RX001122337DE": "deutschepost:certain", "RX202466334DE": "deutschepost:certain", "CP529923124US": "usps:certain", "EE064808943JP": "japanposten:certain",
		"RR097222334MO": "macao:certain", "RB490819358HK": "hkpost:certain", "XA782204829TW": "postserv:certain", "UA719248650TV": ":certain", "RB123456785CV": ":certain",
		"EA123456785CN": "ems:certain emsguoji:likely", "EA434640975CN": "ems:certain emsguoji:likely", "LZ873669464CN": "youzhengguonei:certain youzhengguoji:likely",
		"RA000316760SG": "singpost:certain", "RA000000005FR": "csuivi:certain",
		"RB123456786GB": "royalmail:possible", "EA123456786CN": "ems:possible", "RX001122338CN": "youzhengguonei:possible", "RB123456785XX": "", "RB123456785UK": "", "RB12345678GB": "", "R1123456785GB": "",
		"JD126339200GB": "royalmail:certain jd:possible", "JD126339201GB": "jd:certain royalmail:possible",
		// Ten and twelve digits.
		"3318810025": "dhl:likely yuantong:possible", "1234567891": "dhl:likely yuantong:possible", "8487135506": "dhl:likely yuantong:possible", "9999999995": "dhl:likely yuantong:possible", "0000000070": "dhl:likely yuantong:possible",
		"3318810010": "yuantong:possible", "3318810034": "yuantong:possible",
		"986578788855": "fedex:likely shentong:possible zhongtong:possible shunfeng:possible", "477179081230": "fedex:likely shentong:possible zhongtong:possible shunfeng:possible",
		"800042165010": "fedex:likely shentong:possible zhongtong:possible shunfeng:possible", "083653462175": "fedex:likely shentong:possible zhongtong:possible shunfeng:possible",
		"996578788855": "shentong:possible zhongtong:possible shunfeng:possible",
		// Thirteen to fifteen.
		"1234567890123": "yunda:possible youzhengguonei:possible ems:possible shentong:possible", "3914712788236": "yunda:likely shentong:possible", "5000000000000": "yunda:likely shentong:possible",
		"9800000000000": "youzhengguonei:likely shentong:possible", "2680000000000": "shentong:possible",
		"73111111111111": "zhongtong:likely dpd:possible", "79999999999999": "zhongtong:likely dpd:possible", "72000000000000": "dpd:possible", "83000000000000": "dpd:possible",
		"777044410483870": "shentong:likely", "431234567890123": "yunda:likely", "331234567890123": "yunda:likely", "761234567890123": "", "123456789012345": "",
		// USPS.
		"9400111201080805483016": "usps:likely", "9361289878700317633795": "usps:likely", "92748931507708513018050063": "usps:likely", "9101123456789000000013": "usps:likely",
		"9499603082462819482192": "usps:likely", "94935181909378657975432316": "usps:likely", "949487574911862527601890": "usps:likely",
		"420221539101026837331000039521": "usps:likely", "4201002334249200190132607600833457": "usps:likely", "4201028200009261290113185417468510": "usps:likely",
		"9400111201080805483017": "usps:possible", "4201028200009261290113185417468511": "usps:possible", "420221539101026837331000039522": "usps:possible",
		"9600111201080805483016": "", "420221538101026837331000039521": "", "4202215391010268373310000395211": "", "8400111201080805483016": "", "94001112010808054830": "",
		"123456": "", "12345678901": "", "1234567890123456": "",
		// Not normalized.
		"": "", "12345": "", "yt0000000000001": "", "YT 0000000000001": "", "１２３４５６７８９１": "",
	} {
		if got := format(Recognize(id)); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}

func TestCandidatesAreNamed(t *testing.T) {
	for id, want := range map[string]string{
		"RB123456785GB": "英国邮政", "RX001122337DE": "德国邮政", "CP529923124US": "美国邮政", "UA719248650TV": "图瓦卢邮政", "RR097222334MO": "澳门邮政", "RB490819358HK": "香港邮政",
		"EA123456785CN": "EMS", "LZ873669464CN": "邮政快递包裹", "SF1234567890123": "顺丰速运", "LP00123456789012": "菜鸟速递",
	} {
		found := Recognize(id)
		if len(found) == 0 || found[0].Name != want {
			t.Errorf("%s: %v, want %s", id, found, want)
		}
	}
}

func TestBareDigitsAreNeverCertain(t *testing.T) {
	for n := minNumber; n <= maxNumber; n++ {
		for first := '0'; first <= '9'; first++ {
			for last := '0'; last <= '9'; last++ {
				check(t, string(first)+strings.Repeat("7", n-2)+string(last))
			}
		}
	}
}

// check asserts what is true of all results.
func check(t *testing.T, id string) {
	t.Helper()
	found := Recognize(id)
	bare := digits(id, 1, maxNumber)
	var names []string
	for i, c := range found {
		level := rank(c.Confidence)
		if level < 0 || c.Name == "" || c.Why == "" || len(id) > 9 && strings.Contains(c.Why, id) || bare && c.Confidence == Certain {
			t.Errorf("%s: %+v", id, c)
		}
		if i > 0 && rank(found[i-1].Confidence) > level {
			t.Errorf("%s: %s is not best first", id, format(found))
		}
		if name, ok := Carrier(c.Code); c.Code != "" && (!ok || name != c.Name) {
			t.Errorf("%s: %q is named %q, not %q", id, c.Code, c.Name, name)
		}
		if slices.Contains(names, c.Name) {
			t.Errorf("%s: %s twice", id, c.Name)
		}
		names = append(names, c.Name)
	}
}
