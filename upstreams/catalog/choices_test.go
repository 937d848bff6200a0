package catalog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The names of values come in the order of the file, for an enum, a short range of ints,
// and the values of a form parameter.
func TestChoices(t *testing.T) {
	const number, form = `type: int, min: 1, max: 9, default: "3", example: "4"`, "role: form"
	rows := map[string]struct {
		number, form string
		param        int
		want         []Choice
	}{
		"an enum": {number: `type: string, enum: [pc, mobile], choices: {mobile: {en: Portrait, zh: 竖屏}, pc: {en: Landscape, zh: 横屏}}, example: pc`,
			want: []Choice{{"mobile", "Portrait", "竖屏"}, {"pc", "Landscape", "横屏"}}},
		"ints": {number: `type: int, min: 1, max: 2, also: [26], choices: {1: {en: A, zh: 甲}, 2: {en: B, zh: 乙}, 26: {en: C, zh: 丙}}, example: "1"`,
			want: []Choice{{"1", "A", "甲"}, {"2", "B", "乙"}, {"26", "C", "丙"}}},
		"forms": {form: "role: form, choices: {json: {en: Data, zh: 数据}, text: {en: Text, zh: 文本}}", param: 1,
			want: []Choice{{"json", "Data", "数据"}, {"text", "Text", "文本"}}},
		"none": {},
	}
	for name, row := range rows {
		file := whole
		if row.number != "" {
			file = strings.Replace(file, number, row.number, 1)
		}
		if row.form != "" {
			file = strings.Replace(file, form, row.form, 1)
		}
		e := wholeOf(t, file)
		if diff := cmp.Diff(row.want, e.Params[row.param].Choices); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestMistakesOfChoices(t *testing.T) {
	const declared = `type: int, min: 1, max: 9, default: "3", example: "4"`
	const two = `type: string, enum: [a, b], example: a, choices: `
	for by, want := range map[string]string{
		two + `[a, b]`:                     "whole.yaml:6: params[0].choices: expected names by value",
		two + `{a: {en: A, zh: 甲}}`:        "whole.yaml:6: param n: choices: expected a name for every value, without one are b",
		two + `{a: {en: A, zh: 甲}, b: {}}`: "whole.yaml:6: expected a text, or one in each language, as in {en: A joke., zh: 笑话}",
		two + `{a: {en: A, zh: 甲}, b: {en: B, zh: 乙}, c: {en: C, zh: 丙}}`:         `whole.yaml:6: param n: choices: expected only values that are allowed and each of them once, got "c"`,
		`type: int, min: 1, max: 900, example: "4", choices: {1: {en: A, zh: 甲}}`: "whole.yaml:6: param n: choices: expected beside an enum, forms, or an int of at most 64 values",
		`type: string, example: "4", choices: {1: {en: A, zh: 甲}}`:                "whole.yaml:6: param n: choices: expected beside an enum",
	} {
		_, err := loadText(t, strings.Replace(whole, declared, by, 1))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n%v, want\n%s", by, err, want)
		}
	}
}
