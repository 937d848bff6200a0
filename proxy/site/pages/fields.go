package pages

import (
	"slices"
	"strings"

	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
	"sundry/upstreams/fields"
	"sundry/upstreams/fixtures"
)

// fieldRow is a field of the JSON answer's data, as in items[].title.
type fieldRow struct {
	// Above is the path of what it is in, with the point; Name follows it.
	Above, Name string
	Type, About string
}

// fieldRows lists declared fields with those below them, in the order of the answer.
func fieldRows(l i18n.Language, above string, fields []*catalog.Field, in *fixtures.Shape) []fieldRow {
	var all []fieldRow
	for _, f := range fields {
		value := in.Field(f.Name)
		types := value.Types(f)
		all = append(all, fieldRow{above, f.Name, strings.TrimSpace(typeWords(l, types, value, f)), l.Say(f.EN, f.ZH)})
		below := above + f.Name + "."
		if slices.Contains(types, "array") {
			below = above + f.Name + "[]."
		}
		all = append(all, fieldRows(l, below, f.Fields, value)...)
	}
	return all
}

// typeWords names the types of a field's values, as in "time or null", "list of links".
func typeWords(l i18n.Language, types []string, value *fixtures.Shape, f *catalog.Field) string {
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = typeWord(l, t, f.Is)
		if t != "array" {
			continue
		}
		items := value.Items()
		if of := typeWords(l, items.Types(f), items, f); of != "" {
			words[i] = l.Say("list of "+of, of+"的列表")
		}
	}
	return strings.Join(words, l.Say(" or ", "或"))
}

// typeWord is the name of a type of JSON; is says what a text holds, as in Field.Is.
func typeWord(l i18n.Language, typ string, is fields.Type) string {
	switch typ {
	case "string":
		switch is {
		case fields.Time:
			return l.Say("time", "时间")
		case fields.Date:
			return l.Say("date", "日期")
		case fields.Link:
			return l.Say("link", "链接")
		}
		return l.Say("text", "文本")
	case "number":
		return l.Say("number", "数字")
	case "integer":
		return l.Say("whole number", "整数")
	case "boolean":
		return l.Say("true or false", "布尔值")
	case "array":
		return l.Say("list", "列表")
	case "object":
		return l.Say("object", "对象")
	}
	return l.Say(typ, " "+typ+" ") // null, apart from Chinese words
}
