package idcard

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sundry/upstreams/lib/chinatime"
)

// noon is a day in China on which the tests' ages hold.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, chinatime.Zone())

func parsed(t testing.TB, card string) map[string]any {
	t.Helper()
	data, err := Parse(card, noon)
	if err != nil {
		t.Fatalf("Parse(%q): %v", card, err)
	}
	return data
}

// full is a number with its check digit, from the first 17 digits.
func full(digits string) string { return digits + string(checkDigit(digits)) }

func TestDataHasEveryKey(t *testing.T) {
	for card, want := range map[string]map[string]any{
		"110101199001010015": {
			"valid": true, "type": "resident", "length": 18, "checksum_ok": true,
			"area_code": "110101", "province": "北京市", "city": "", "county": "东城区", "area": "北京市东城区",
			"area_known": true, "abolished": false,
			"birthday": "1990-01-01", "age": 36, "sex": "male", "zodiac": "蛇", "constellation": "摩羯座",
			"masked": "1101**********0015", "upgraded_masked": nil, "reasons": []any{},
		},
		"320502198005050025": {
			"valid": true, "type": "resident", "length": 18, "checksum_ok": true,
			"area_code": "320502", "province": "江苏省", "city": "苏州市", "county": "沧浪区", "area": "江苏省苏州市沧浪区",
			"area_known": true, "abolished": true,
			"birthday": "1980-05-05", "age": 46, "sex": "female", "zodiac": "猴", "constellation": "金牛座",
			"masked": "3205**********0025", "upgraded_masked": nil, "reasons": []any{},
		},
		"610104620927690": {
			"valid": true, "type": "resident", "length": 15, "checksum_ok": nil,
			"area_code": "610104", "province": "陕西省", "city": "西安市", "county": "莲湖区", "area": "陕西省西安市莲湖区",
			"area_known": true, "abolished": false,
			"birthday": "1962-09-27", "age": 64, "sex": "female", "zodiac": "虎", "constellation": "天秤座",
			"masked": "6101*******7690", "upgraded_masked": "6101**********6908", "reasons": []any{},
		},
		"830000199201300022": {
			"valid": true, "type": "hmt_permit", "length": 18, "checksum_ok": true,
			"area_code": "830000", "province": "台湾省", "city": "", "county": "", "area": "台湾省",
			"area_known": true, "abolished": false,
			"birthday": "1992-01-30", "age": 34, "sex": "female", "zodiac": "羊", "constellation": "水瓶座",
			"masked": "8300**********0022", "upgraded_masked": nil, "reasons": []any{},
		},
		"911124198108030024": { // the sample of the standard
			"valid": true, "type": "foreigner_permanent", "length": 18, "checksum_ok": true,
			"area_code": nil, "province": "北京市", "city": nil, "county": nil, "area": nil,
			"area_known": nil, "abolished": nil, "nationality": "加拿大", "nationality_code": "CA",
			"birthday": "1981-08-03", "age": 45, "sex": "female", "zodiac": "鸡", "constellation": "狮子座",
			"masked": "9111**********0024", "upgraded_masked": nil, "reasons": []any{},
		},
		full("00000019901301002"): {
			"valid": false, "type": "resident", "length": 18, "checksum_ok": true,
			"area_code": "000000", "province": nil, "city": nil, "county": nil, "area": nil,
			"area_known": false, "abolished": nil,
			"birthday": nil, "age": nil, "sex": "female", "zodiac": nil, "constellation": nil,
			"masked": mask(full("00000019901301002")), "upgraded_masked": nil, "reasons": []any{"bad_date", "unknown_area"},
		},
	} {
		for _, key := range []string{"nationality", "nationality_code"} {
			if _, ok := want[key]; !ok {
				want[key] = nil
			}
		}
		if diff := cmp.Diff(want, parsed(t, card)); diff != "" {
			t.Errorf("%s: -want +got\n%s", card, diff)
		}
	}
}

func TestVectors(t *testing.T) {
	for card, want := range map[string]map[string]any{
		"110101199001010023": {"valid": true, "sex": "female"},
		"44030720000229003X": {"valid": true, "birthday": "2000-02-29", "sex": "male", "county": "龙岗区"},
		"11010119900307803x": {"valid": true, "birthday": "1990-03-07", "zodiac": "马", "constellation": "双鱼座"},
		"659012202401010016": {"valid": true, "province": "新疆维吾尔自治区", "city": "", "county": "白杨市", "age": 2, "zodiac": "兔"},
		"440524188001010014": {"valid": true, "birthday": "1880-01-01", "age": 146, "zodiac": "兔"},
		"130100198501010014": {"valid": true, "city": "石家庄市", "county": "", "area": "河北省石家庄市", "area_known": true},
		"110104198501010016": {"valid": true, "county": "宣武区", "abolished": true},
		"110104201501010010": {"valid": true, "county": "宣武区", "abolished": true},
		"500154199301135886": {"valid": true, "province": "重庆市", "city": "", "county": "开州区"},
		"810000199408230021": {"valid": true, "type": "hmt_permit", "area": "香港特别行政区", "county": ""},
		"820000199001010010": {"valid": true, "type": "hmt_permit", "area": "澳门特别行政区"},
		"110101900101001":    {"valid": true, "birthday": "1990-01-01", "upgraded_masked": "1101**********0015"},
		"11010119990230001X": {"valid": false, "birthday": nil, "county": "东城区", "checksum_ok": true},
		"31010420500101001X": {"valid": false, "birthday": "2050-01-01", "age": nil, "zodiac": "蛇"},
		"110101199001010016": {"valid": false, "checksum_ok": false, "birthday": "1990-01-01"},
	} {
		got := parsed(t, card)
		for key, value := range want {
			if got[key] != value {
				t.Errorf("%s: %s is %v, want %v", card, key, got[key], value)
			}
		}
	}
}

func TestReasons(t *testing.T) {
	for card, want := range map[string][]any{
		"110101199001010015":      nil,
		"110101199001010016":      {badChecksum},
		"11010119990230001X":      {badDate},
		full("11010118491231001"): {badDate},
		full("11010100000000001"): {badDate},
		full("11010118500101001"): nil,
		"31010420500101001X":      {futureDate},
		full("14990019900101001"): {unknownArea},
		full("81010119900101001"): {unknownArea},
		full("93184019900101001"): nil,
		full("90000019900101001"): {unknownProvince, unknownNationality},
		full("99999919900101001"): {unknownProvince, unknownNationality},
		full("99984019900101001"): {unknownProvince},
		full("97184019900101001"): {unknownProvince}, // Taiwan
		full("98184019900101001"): {unknownProvince}, // Hong Kong
		full("91099919900101001"): {unknownProvince, unknownNationality},
		full("91115019900101001"): {unknownNationality}, // Europe
		full("91128019900101001"): {unknownNationality}, // West Germany
		full("91181019900101001"): {unknownNationality}, // the Soviet Union
		full("91198319900101001"): {unknownNationality}, // assigned by users
		"14990120500101001X":      {badChecksum, futureDate, unknownArea},
		"149901205013010010":      {badChecksum, badDate, unknownArea},
		"110101900101001":         nil,
		"110101900230001":         {badDate},
		"149901900101001":         {unknownArea},
		"900000900101001":         {unknownArea},
	} {
		data := parsed(t, card)
		if got := data["reasons"].([]any); !slices.Equal(got, want) {
			t.Errorf("%s: reasons %v, want %v", card, got, want)
		}
		valid := len(want) == 0 || slices.Equal(want, []any{unknownArea}) && card != "900000900101001"
		if data["valid"] != valid {
			t.Errorf("%s: valid %v, want %v", card, data["valid"], valid)
		}
	}
}

// A wrong character, or two swapped neighbours, are the mistakes that the check digit
// detects.
func TestChecksumDetectsTypingErrors(t *testing.T) {
	for _, right := range []string{"110101199001010015", "44030720000229003X"} {
		typed := []string{right[:17] + "X"}
		for at := range 18 {
			for _, digit := range "0123456789" {
				typed = append(typed, right[:at]+string(digit)+right[at+1:])
			}
		}
		for at := range 16 {
			typed = append(typed, right[:at]+right[at+1:at+2]+right[at:at+1]+right[at+2:])
		}
		for _, card := range typed {
			if got := parsed(t, card)["checksum_ok"]; got != (card == right) {
				t.Errorf("%s: checksum_ok %v", card, got)
			}
		}
	}
}

func TestTheDateIsThatOfChina(t *testing.T) {
	card := full("11010120001121001") // 21 November 2000
	for at, age := range map[string]any{
		"2026-11-20T15:59:59Z":      25, // 23:59:59 in China
		"2026-11-20T16:00:00Z":      26,
		"2026-11-21T00:30:00+14:00": 25,
		"2026-11-20T08:00:00-08:00": 26,
		"2000-11-20T15:59:59Z":      nil,
		"2000-11-20T16:00:00Z":      0,
	} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		data, err := Parse(card, now)
		if err != nil {
			t.Fatal(err)
		}
		if data["age"] != age {
			t.Errorf("at %s: age %v, want %v", at, data["age"], age)
		}
		reasons := data["reasons"].([]any)
		if future := slices.Contains(reasons, any(futureDate)); future != (age == nil) || data["valid"] == future {
			t.Errorf("at %s: reasons %v, valid %v", at, reasons, data["valid"])
		}
	}
}

func TestMasksHideAllButEightCharacters(t *testing.T) {
	for _, card := range []string{"11010119900307803X", "110101900101001", "110101900230001", "９１１１５６198502200010"} {
		data := parsed(t, card)
		for _, key := range []string{"masked", "upgraded_masked"} {
			s, ok := data[key].(string)
			if !ok {
				continue
			}
			if n := len(strings.ReplaceAll(s, "*", "")); n != 8 || len(s) != 18 && len(s) != data["length"] {
				t.Errorf("%s: %s is %q, showing %d", card, key, s, n)
			}
		}
	}
	if got := parsed(t, "110101900230001")["upgraded_masked"]; got != nil {
		t.Errorf("a number without a date is upgraded to %v", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, card := range []string{"110101199001010015", "44030720000229003X", "110101900101001", " 1101 0119-9001 0100 15", "１１０１０１１９９００１０１００１５", "x", "90000000000000000X", "440524188001010014"} {
		f.Add(card, int64(1_795_000_000))
	}
	f.Fuzz(func(t *testing.T, card string, unix int64) {
		data, err := Parse(card, time.Unix(unix, 0))
		if err != nil {
			if data != nil || !errors.Is(err, ErrMalformed) {
				t.Fatalf("%v with %v", data, err)
			}
			return
		}
		sound(t, data)
	})
}

// sound checks what is true of every result.
func sound(t *testing.T, data map[string]any) {
	if len(data) != 21 {
		t.Fatalf("%d keys", len(data))
	}
	for key, value := range data {
		switch value.(type) {
		case nil, bool, int, string, []any:
		default:
			t.Fatalf("%s is a %T, which jq does not accept", key, value)
		}
	}
	if age, _ := data["age"].(int); data["valid"] == true && (data["checksum_ok"] == false || data["birthday"] == nil || data["age"] == nil || age < 0) {
		t.Fatalf("valid in spite of %v", data)
	}
	if known := data["area_known"]; known == true && (data["province"] == nil || data["city"] == nil || data["county"] == nil) {
		t.Fatalf("a known area without names: %v", data)
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("320502198005050025", noon); err != nil {
			b.Fatal(err)
		}
	}
}
