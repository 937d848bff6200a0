package openapi

import (
	"cmp"
	"strings"

	"sundry/upstreams/lib/plainjson"
)

// info says what the service is.
func (w *writer) info() plainjson.Object {
	return plainjson.Object{
		{Name: "title", Value: "Sundry"},
		{Name: "version", Value: cmp.Or(w.Version, "0.0.0")},
		{Name: "summary", Value: w.say("Public, read-only utility endpoints.", "公共只读工具接口。")},
		{Name: "description", Value: w.say(aboutEN, aboutZH)},
		{Name: "contact", Value: w.contact()},
		{Name: "license", Value: object{"name": "MIT", "identifier": "MIT"}},
	}
}

const aboutEN = "Every endpoint is called with `GET` and needs no key. Unknown parameters are ignored; if one is repeated, its first value counts; " +
	"an empty one counts as absent. Listed values are taken in any case. A query holds at most 256 parameters.\n\n" +
	"A JSON answer has all of its fields: what is not known is null. An error has an HTTP status and, in JSON, a `type` of a closed list; " +
	"its message is in the caller's language (`Accept-Language`, or `lang`).\n\n" +
	"A path may also end with a slash, or with `/index.php`."

const aboutZH = "所有接口都用 `GET` 调用，不需要密钥。未知参数会被忽略；参数重复时以第一个为准；空值等同于未传。枚举值不区分大小写。一次查询最多 256 个参数。\n\n" +
	"JSON 响应总是包含全部字段，未知的值为 null。出错时有相应的 HTTP 状态码；JSON 中的 `type` 取自一份固定的列表，错误信息使用调用者的语言（`Accept-Language` 或 `lang`）。\n\n" +
	"路径末尾也可以带斜杠或 `/index.php`。"

// contact is how to reach who runs the service, as far as the settings tell.
func (w *writer) contact() plainjson.Object {
	c := plainjson.Object{{Name: "name", Value: w.say("The operator of this service", "本服务的运营者")}}
	switch {
	case w.Contact == "":
	case strings.Contains(w.Contact, "://"):
		c = append(c, plainjson.Member{Name: "url", Value: w.Contact})
	default:
		c = append(c, plainjson.Member{Name: "email", Value: strings.TrimPrefix(w.Contact, "mailto:")})
	}
	return c
}

// tag is a group of endpoints.
type tag struct {
	Name        string `json:"name"`
	Title       string `json:"x-displayName"`
	Description string `json:"description"`
}

func (w *writer) tags() []tag {
	var out []tag
	for _, g := range w.Catalog.Groups() {
		title := w.say(g.EN, g.ZH)
		out = append(out, tag{g.Name, title, cmp.Or(w.say(g.AboutEN, g.AboutZH), title)})
	}
	return out
}
