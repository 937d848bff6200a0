package catalog

import (
	"strings"
	"testing"
	"time"

	"sundry/upstreams/replay"
)

func TestDigits(t *testing.T) {
	const declared = "type: int, min: 1, max: 9, default: \"3\", example: \"4\""
	rows := []struct{ by, allowed, good, bad string }{
		{`type: digits, min_len: 4, max_len: 4, leading_zero: true, example: "0123"`, "4 digits", "0123 0000 9999", "123 01234 012x 0１23 %20123"},
		{`type: digits, min_len: 4, max_len: 6, leading_zero: true, example: "0123"`, "4 to 6 digits", "0123 123456", "123 0123456"},
		{`type: digits, min_len: 4, max_len: 4, example: "1234"`, "4 digits, the first not 0", "1000 9999", "0123 123 12345"},
		{`type: digits, min_len: 1, max_len: 20, example: "1"`, "1 to 20 digits, the first not 0", "1 18446744073709551616", "0 -1 1.0"},
	}
	for _, r := range rows {
		e := wholeOf(t, strings.Replace(whole, declared, r.by, 1))
		if got := e.Params[0].Allowed.EN(); got != r.allowed {
			t.Errorf("%s: allowed %q, want %q", r.by, got, r.allowed)
		}
		for value := range strings.FieldsSeq(r.good) {
			if in, bad := e.Parse("n="+value, Caller{}); bad != nil || in.values[0] != value {
				t.Errorf("%s: %s gave %v, %v", r.by, value, in.values[0], bad)
			}
		}
		for value := range strings.FieldsSeq(r.bad) {
			if _, bad := e.Parse("n="+value, Caller{}); bad == nil {
				t.Errorf("%s: %s was taken", r.by, value)
			}
		}
	}
}

func TestRefusalsDoNotRepeatWhatIsPersonal(t *testing.T) {
	c := mustLoad(t, replay.New(nil))
	for endpoint, query := range map[string]string{"avatar": "uid=99", "ip": "ip=10.1.2.3.4"} {
		e, _ := c.Get(endpoint)
		_, bad := e.Parse(query, Caller{Addr: caller})
		if bad == nil || strings.Contains(bad.EN()+bad.ZH(), "99") || strings.Contains(bad.EN()+bad.ZH(), "10.1.2") {
			t.Errorf("%s: %v", endpoint, bad)
		}
	}
}

// TestDigitsSayWhatIsWrong, without the value, which may be personal.
func TestDigitsSayWhatIsWrong(t *testing.T) {
	const declared = "type: int, min: 1, max: 9, default: \"3\", example: \"4\""
	e := wholeOf(t, strings.Replace(whole, declared, `type: digits, min_len: 4, max_len: 6, personal: true, example: "1234"`, 1))
	for value, want := range map[string][2]string{
		"12x4": {"the value has characters other than digits;", "所给的值含有数字以外的字符；"},
		"123":  {"the value is 3 characters long;", "所给的值的长度为 3 个字符；"},
		"0123": {"the value begins with 0;", "所给的值以 0 开头；"},
	} {
		if _, bad := e.Parse("n="+value, Caller{}); bad == nil || !strings.Contains(bad.EN(), want[0]) || !strings.Contains(bad.ZH(), want[1]) {
			t.Errorf("%s: %v, want %q", value, bad, want)
		}
	}
}

// Values of a list are taken in any case and mean the same answer; names of
// parameters are not.
func TestListedValuesInAnyCase(t *testing.T) {
	const form, number = "{name: type, role: form, example: text}", `{name: n, type: int, min: 1, max: 9, default: "3", example: "4"}`
	file := strings.NewReplacer(number, `{name: n, type: string, enum: [pc, mobile, 热舞], as: {mobile: phone}, default: pc, example: pc}`).Replace(whole)
	e := wholeOf(t, file)
	for query, want := range map[string]string{
		"type=TEXT&n=PC": "text pc", "type=Text&n=Mobile": "text phone", "n=%E7%83%AD%E8%88%9E": "json 热舞", "TYPE=text&N=mobile": "json pc",
		"type=JSON": "json pc",
	} {
		in, bad := e.Parse(query, Caller{})
		if bad != nil || in.Form.Name+" "+in.values[0].(string) != want {
			t.Errorf("%s: %s %v, %v, want %s", query, in.Form.Name, in.values[0], bad, want)
		}
		if f := e.ErrorFormat(query); f.Text != strings.HasPrefix(query, "type=T") && !strings.HasPrefix(query, "TYPE") {
			t.Errorf("%s: errors as text: %v", query, f.Text)
		}
	}
	if _, bad := e.Parse("type=TEX", Caller{}); bad == nil || !strings.HasSuffix(bad.EN(), "expected one of json, text, for example type=text") {
		t.Error(bad)
	}
	plain, _ := e.Parse("type=text&n=mobile", Caller{})
	if other, _ := e.Parse("type=TEXT&n=MOBILE", Caller{}); other.Key() != plain.Key() {
		t.Errorf("keys %s and %s", plain.Key(), other.Key())
	}
	for replace, by := range map[string]string{
		form:   "{name: type, role: form, as: {json: json, JSON: text}, example: json}",
		number: "{name: n, type: string, enum: [pc, PC], default: pc, example: pc}",
	} {
		if _, err := loadText(t, strings.Replace(whole, replace, by, 1)); err == nil || !strings.Contains(err.Error(), "differ in more than case") {
			t.Errorf("%s: %v", by, err)
		}
	}
}

// A date is a day from the first that there is.
func TestDates(t *testing.T) {
	const declared = `{name: n, type: int, min: 1, max: 9, default: "3", example: "4"}`
	e := wholeOf(t, strings.Replace(whole, declared, `{name: n, type: date, since: 2024-12-29, example: "2026-11-20"}`, 1))
	for value, good := range map[string]bool{
		"2024-12-29": true, "2026-11-20": true, "2024-12-28": false, "2026-11-31": false, "20261120": false, "2026-11-20T00:00:00Z": false,
		"2026-1-2": false, "99999-01-01": false,
		// It is the 21st already at the date line, and the 22nd nowhere.
		"2026-11-21": true, "2026-11-22": false, "9999-12-31": false,
	} {
		in, bad := e.ParseAt("n="+value, Caller{}, func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) })
		switch {
		case good && (bad != nil || in.values[0] != value):
			t.Errorf("%s gave %v, %v", value, in.values[0], bad)
		case !good && (bad == nil || !strings.Contains(bad.EN(), "expected a date from 2024-12-29 to today, for example n=2026-11-20")):
			t.Errorf("%s: %v", value, bad)
		}
	}
	if in, bad := e.Parse("", Caller{}); bad != nil || in.values[0] != nil {
		t.Errorf("without a date: %v, %v", in.values[0], bad)
	}
}
