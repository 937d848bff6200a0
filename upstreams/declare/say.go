package declare

import (
	"fmt"
	"sync"

	"sundry/metrics/words"
)

// Say is what is said about a mistake, with the verbs of package fmt. In Chinese it is said where there is
// a translation of the format, else in English.
func Say(format string, args ...any) words.Text {
	if zh, ok := chinese()[format]; ok {
		return words.Sayf(format, zh, args...)
	}
	return words.Name(fmt.Sprintf(format, args...))
}

// chinese has translations by the English format: of what is wrong most often, and of the parts that messages have in common.
var chinese = sync.OnceValue(func() map[string]string {
	return map[string]string{ //nolint:gosec // messages about secrets are none
		"%s": "%s", "%s: %s": "%s: %s", "%s%s": "%s%s", "%s%s; %s": "%s%s；%s", "%q: ": "%q：",

		// What a file has, and what is expected.
		"there is nothing in it; expected %s": "文件是空的；应为%s",
		"expected a file, or a link to one":   "应为文件，或指向文件的链接",
		indentedWide:                          "这一行的缩进里有全角空格或不间断空格；应为半角空格",
		"%s: expected %s, got %q":             "%s: 应为 %s，而不是%q",
		"%s: expected %s, got %s":             "%s: 应为 %s，而不是 %s",
		"; for example %s":                    "；例如 %s",
		"unknown key %s%s%s":                  "没有键 %s%s%s",
		"unknown key %s%s":                    "没有键 %s%s",
		"; it may be of a newer version of Sundry: upgrade Sundry, or remove it": "；可能属于更新版本的 Sundry：请升级 Sundry，或删除它",
		"%sexpected keys with values":                                            "%s应有键和值，中间为半角冒号加空格",
		"%s: unknown endpoint or source%s":                                       "没有接口或数据源 %s%s",
		" in %s":                                                                 "（在 %s 中）",
		"key %s: set twice, first in line %d":                                    "键 %s 设置了两次，第一次在第 %d 行",
		"%s%s: set twice":                                                        "%s%s 设置了两次",
		"; did you mean %s?":                                                     "；是不是 %s？",
		"%s Expected one of %s":                                                  "%s应为以下之一：%s",
		"; expected one of %s":                                                   "；应为以下之一：%s",
		"; no keys are allowed there":                                            "；这里不能有任何键",
		"at least %s":                                                            "不小于 %s 的数",
		"at most %s":                                                             "不大于 %s 的数",
		"%s to %s":                                                               "%s 到 %s",
		"%s or %s":                                                               "%s 或 %s",
		"a mapping":                                                              "映射",
		"a list":                                                                 "列表",
		"nothing":                                                                "空值",
		"the text %q":                                                            "文本%q",
		"a text":                                                                 "文本",
		"a number":                                                               "数",
		"a whole number":                                                         "整数",
		"true or false":                                                          "true 或 false",
		"a jq program":                                                           "jq 程序",
		"jq programs by name":                                                    "以名称为键的 jq 程序",
		"fields by name":                                                         "以名称为键的字段",
		"names by value":                                                         "以取值为键的名称",
		"a duration such as 90s, 6h or 30d":                                      "时长，例如 90s、6h 或 30d",
		"a number of calls, a slash and a duration, such as 45/1m": "次数、斜杠和时长，例如 45/1m",

		// The endpoint as a whole.
		"version: expected that of the grammar, as in version: 1":                                        "version: 应为文件格式的版本，即 version: 1",
		"version: expected at most 1, got %d; the file is for a newer version of Sundry: upgrade Sundry": "version: 最大为 1，而不是 %d；这个文件属于更新版本的 Sundry：请升级 Sundry",
		"file name: expected lower-case letters, digits and hyphens, for example joke.yaml, got %q":      "文件名应由小写字母、数字和连字符组成，例如 joke.yaml，而不是%q",
		"name: expected the name of the file, %q, got %q":                                                "name: 应与文件同名，即%q，而不是%q",
		"summary: expected a sentence, for example {en: A joke., zh: 笑话}, or one for both languages":     "summary: 应有一句说明，例如 {en: A joke., zh: 笑话}，也可以两种语言共用一句",
		"endpoints: %s: not an endpoint%s":                                                               "endpoints: 没有接口 %s%s",
		"uses: there is no shared/%s.yaml%s":                                                             "uses: 没有 shared/%s.yaml%s",
		"cache: class: expected shared (few keys that all callers ask for), keyed (keys from callers' input) or computed (keys from callers' input, answers computed here), got nothing": "cache: class: 没有设置；应为 shared（人人都要的少数键）、keyed（键随调用者的输入而变）或 computed（键随输入而变，响应在本地计算）",

		// What is not read, or seems to be another key than it was to be.
		"unknown key %s%s; expected an ASCII colon and a space after a key, such as ttl: 1h": "没有键 %s%s；键后应为半角冒号加空格，例如 ttl: 1h",
		"not read: expected a name that ends in .yaml":                                       "未读取：文件名应以 .yaml 结尾",
		"not read: there is no %s beside it, the file about the endpoint as a whole":         "未读取：旁边没有 %s，即这个接口的主文件",

		// A recorded exchange that a file answers differently.
		"%s: %s, but source %s makes it %s; expected the map to make what is wanted, or the file to have what it makes": "%s: 这里是 %s，而数据源 %s 得到 %s；应改 map，或把本文件改成得到的值（改了 map 之后通常如此）",
		"source %s: %s: want: %s, but it is %v; expected a map and rules that fit the reply, or want: %s":               "数据源 %s：%s：want: %s，而实际为（详情为英文）%v；map 和规则应与回复相符，或改为 want: %s",
		"source %s: map: %s%s is not declared below fields%s":                                                           "数据源 %s：map 得到的 %s%s 没有在 fields 中声明%s",

		// What a recorded exchange says, and what it shows of its endpoint.
		"want: expected one of %s, got %q":                        "want: 应为以下之一：%s，而不是%q",
		"origin: expected composed, attested or recorded, got %q": "origin: 应为 composed（手写）、attested（有佐证）或 recorded（录制），而不是%q",
		"origin: an attested exchange needs witnesses, for example witnesses: [{document: https://docs.example.org/api, fields: [data.title]}]": "origin: attested 的往来应有 witnesses，例如 witnesses: [{document: https://docs.example.org/api, fields: [data.title]}]",
		"witnesses: only an attested exchange has any; expected origin: attested, got %s":                                                       "witnesses: 只有 attested 的往来才有；应为 origin: attested，而不是 %s",
		"unattested: only a composed exchange says why it has no witness; expected origin: composed, got %s":                                    "unattested: 只有 composed 的往来才说明为何没有佐证；应为 origin: composed，而不是 %s",
		"caller: expected an IP address, for example 8.8.8.8, got %q":                                                                           "caller: 应为 IP 地址，例如 8.8.8.8，而不是%q",
		"now: expected the time of the call, for example 2026-11-21T09:00:00+08:00":                                                             "now: 应为调用的时间，例如 2026-11-21T09:00:00+08:00",
		"params: %s":                 "params: %s",
		"steps: the reply to %s: %s": "steps: %s 的回复：%s",
		"the data of a success: %s":  "成功时的数据：%s",
		"want: %s, but source %s answers it as a success; expected a rule that says otherwise, for example judge: [{if: .code != 0, is: %s}], or want: success":                                                               "want: %s，而数据源 %s 判为成功；应有另作判定的规则，例如 judge: [{if: .code != 0, is: %s}]，或改为 want: success",
		"form %s: of %s: %v; expected a program that fits the data, for example text: .title":                                                                                                                                 "格式 %s：%s 出错（详情为英文）：%v；程序应与数据相符，例如 text: .title",
		"form %s: it is empty for every recorded exchange; expected a field that the data have, for example text: .title, or an exchange that has it":                                                                         "格式 %s：对所有录制的往来都是空的；应用数据中有的字段，例如 text: .title，或录制一次不为空的往来",
		"field %s: it is null or absent in every recorded exchange; expected a source that makes it, for example map: '{%s: .%s}', or an exchange that has it":                                                                "字段 %s：在所有录制的往来中都没有值；应有数据源得到它，例如 map: '{%s: .%s}'，或录制一次有它的往来",
		"source %s: when: it is true of no exchange, example or choice of a parameter; expected a condition that holds for some input, for example when: $params.kind == \"a\", or an exchange of an input for which it does": "数据源 %s：when: 没有往来、示例或参数的取值满足它；应为某些输入能满足的条件，例如 when: $params.kind == \"a\"，或录制一次满足它的往来",

		// Its group.
		"group: expected one of %s, or one of your own as in {name: tools, en: Tools, zh: 工具}, got %q": "group: 应为 %s 之一，或自己的分组，例如 {name: tools, en: Tools, zh: 工具}，而不是%q",
		"group: %s is built in, with its own titles; expected group: %s, or another name":              "group: %s 是内置的分组，有自己的标题；应为 group: %s，或换一个名称",
		"group: name: expected lower-case letters, digits and hyphens, for example tools, got %q":      "group: name: 应由小写字母、数字和连字符组成，例如 tools，而不是%q",
		"group: %s: expected a title, for example {name: tools, en: Tools, zh: 工具}":                    "group: %s: 应有标题，例如 {name: tools, en: Tools, zh: 工具}",
		"group: %s has the titles %q and %q, but %q and %q in %s; expected the same in both files":     "group: %s 的标题是%q和%q，而在 %[6]s 中是%[4]q和%[5]q；两个文件中应当相同",

		// Addresses.
		"proxy: to: %s, got %q": "proxy: to: %s，而不是%q",
		"proxy: to: expected the address of an API, for example https://api.example.org":                                                                              "proxy: to: 应为 API 的地址，例如 https://api.example.org",
		"proxy: %s: expected statuses from %d to 599, for example %s, got %q":                                                                                         "proxy: %s: 应为 %d 到 599 的状态码，例如 %s，而不是%q",
		"proxy: hosts: expected a name such as weather.example.org, or *.example.org for all names below example.org, got %q":                                         "proxy: hosts: 应为域名，例如 weather.example.org，或表示其下所有域名的 *.example.org，而不是%q",
		"proxy: hosts: %s belongs to %s already":                                                                                                                      "proxy: hosts: %s 已属于 %s",
		"proxy: host: expected origin, caller or a name such as weather.internal, got %q":                                                                             "proxy: host: 应为 origin、caller 或名称，例如 weather.internal，而不是%q",
		"proxy: cache: tags: expected another field than Cache-Groups, such as Cache-Tag; cache groups can be purged without this, and clients get the field":         "proxy: cache: tags: 应为 Cache-Groups 以外的字段，例如 Cache-Tag；缓存组不用在此声明就能清除，该字段也会传给客户端",
		"proxy: health: path: expected a path of the API that answers quickly, for example /healthz, got %q":                                                          "proxy: health: path: 应为 API 中很快返回的路径，例如 /healthz，而不是%q",
		"proxy: health: every: expected at least 1s, got %s":                                                                                                          "proxy: health: every: 不能小于 1s，而这里是 %s",
		"proxy: tls: expected an address in to that begins with https://":                                                                                             "proxy: tls: to 中应有以 https:// 开头的地址",
		"proxy: tls: server_name: expected the name of its certificate such as weather.internal, got %q":                                                              "proxy: tls: server_name: 应为其证书中的名称，例如 weather.internal，而不是%q",
		"proxy: tls: ca: %s: expected certificates in PEM, which begin with -----BEGIN CERTIFICATE-----":                                                              "proxy: tls: ca: %s: 应为 PEM 格式的证书，以 -----BEGIN CERTIFICATE----- 开头",
		"proxy: tls: expected both cert and key, for example {cert: client.pem, key: client-key.pem}":                                                                 "proxy: tls: cert 和 key 应同时给出，例如 {cert: client.pem, key: client-key.pem}",
		"proxy: tls: cert and key: expected a certificate and its private key in PEM: %v":                                                                             "proxy: tls: cert 和 key: 应为 PEM 格式的证书及其私钥：%v",
		"proxy: tls: %s: expected a file in PEM beside this one, or an absolute path: %s":                                                                             "proxy: tls: %s: 应为本文件旁的 PEM 文件，或绝对路径：%s",
		"url: expected an http or https URL with a literal host and without a query, for example https://api.example.org/v1/{id}, got %q; parameters go below query:": "url: 应为 http 或 https 地址（冒号和点用半角），主机不用占位符，也不带查询串，例如 https://api.example.org/v1/{id}，而不是%q；参数写在 query: 下",
		"url: expected a literal host, without placeholders, for example https://api.example.org/v1/{id}, got %q":                                                     "url: 主机不能用占位符，例如 https://api.example.org/v1/{id}，而不是%q",

		// Parameters and forms.
		"param %q: expected a name of lower-case letters, digits and underscores, for example page_size": "参数%q：名称应由小写字母、数字和下划线组成，例如 page_size",
		"param %s: declared twice": "参数 %s 声明了两次",
		"param %s: expected the type of its values, for example type: string":                                              "参数 %s：应有值的类型，例如 type: string",
		"param %s: expected min and max for an int, for example min: 1, max: 100":                                          "参数 %s：int 应有 min 和 max，例如 min: 1, max: 100",
		"param %s: expected min up to max, got min: %d, max: %d":                                                           "参数 %s：min 不应大于 max，而这里是 min: %d, max: %d",
		"param %s: default %q %s; expected %s":                                                                             "参数 %s：默认值%q%s；可用的值：%s",
		"param %s: example %q %s; expected %s":                                                                             "参数 %s：示例%q%s；可用的值：%s",
		"param %s: example: expected a value that the parameter accepts":                                                   "参数 %s：example 应为这个参数接受的值",
		"param %s: required and default: expected one of them: a required parameter is never absent, as in required: true": "参数 %s：required 和 default 应只有一个：必填的参数总会有值，例如 required: true",
		"forms: expected at least one, for example {name: json, json: .}":                                                  "forms: 至少应有一种格式，例如 {name: json, json: .}",
		"form without a name; expected one, for example name: json":                                                        "格式没有名称；应有一个，例如 name: json",
		"form %q: declared twice":                                                                                          "格式%q声明了两次",
		"form %q: expected exactly one of json, text, markdown, script, redirect, interstitial and picture":                "格式%q：json、text、markdown、script、redirect、interstitial 和 picture 应有且只有一个",
		"form %s: chain: expected main or a name below chains:, got %q":                                                    "格式 %s：chain 应为 main 或 chains: 下的名称，而不是%q",

		// Sources.
		"source without a name; expected one, for example name: kuaidi100":        "数据源没有名称；应有一个，例如 name: kuaidi100",
		"source %q: declared twice in this endpoint":                              "数据源%q在这个接口中声明了两次",
		"source %q: expected the section of one kind, got %s":                     "数据源%q：应只有一种类别的一节，而不是 %s",
		"source %q: it has no kind; expected one of %s, for example computed: {}": "数据源%q：没有类别；应为以下之一：%s，例如 computed: {}",
		"chain %s: no sources":      "数据源链 %s：没有数据源",
		"chain %s: no form uses it": "数据源链 %s：没有格式用到它",
		"steps: %s: declared twice": "steps: %s 声明了两次",
		"rules: %s: declared twice": "rules: %s 声明了两次",
		"judge rule: is: expected its verdict, for example {status: [404], is: negative}":                                                             "判定规则：is 应为它的判定，例如 {status: [404], is: negative}",
		"judge rule: status: there is no status %d; expected 100 to 599, for example [404]":                                                           "判定规则：status: 没有状态码 %d；应为 100 到 599，例如 [404]",
		"judge rule without a condition; expected status, as in status: [404], or if: a jq condition":                                                 "判定规则没有条件；应有 status，例如 status: [404]，或 if，即 jq 条件",
		"secret %s: nothing reads it; expected {%s} in a template or $secrets.%s in a program, for example headers: {Authorization: \"Bearer {%s}\"}": "密钥 %s 没有用到；应在模板中写 {%s}，或在程序中写 $secrets.%s，例如 headers: {Authorization: \"Bearer {%s}\"}",
		"%s %s: nothing reads it; expected {%s} in a template or $vars.%s in a program, for example query: {%s: \"{%s}\"}":                            "%s %s 没有用到；应在模板中写 {%s}，或在程序中写 $vars.%s，例如 query: {%s: \"{%s}\"}",

		// Placeholders and programs.
		"placeholder {%s}: not found; expected the name of a parameter, var, step or secret%s":        "占位符 {%s} 不存在；应为参数、变量、步骤或密钥的名称%s",
		"%q: {%s: expected {%s}, a name of lower-case letters, digits and underscores between braces": "%q：{%s 应为 {%s}，即花括号中由小写字母、数字和下划线组成的名称",
		"%q: {{%s}}: expected single braces, {%s}":                                                    "%q：{{%s}} 应为单层花括号 {%s}",
		"%q: ${%s}: expected no $ before it, {%s}":                                                    "%q：${%s} 前不应有 $，应为 {%s}",
		"defs: %s: declared twice":                                                                    "defs: %s 声明了两次",
		"defs: %s: there is a built-in function of this name; choose another":                         "defs: 已有名为 %s 的内置函数；请换一个名称",
		"defs: %s: no program of this file calls it; expected a call, for example map: .data | %s":    "defs: 这个文件中没有程序调用 %s；应调用它，例如 map: .data | %s",
		"%sjq: %s%s%s":         "%sjq: %s%s%s",
		"jq: %s":               "jq: %s",
		", at column %d of %q": "，位于%[2]q的第 %[1]d 列",
		"the program ends too early; expected what follows, such as ), ], } or end": "程序没有写完；末尾还应有内容，例如 )、]、} 或 end",
		"unexpected token %s":      "这里不应有 %s",
		"function not defined: %s": "没有函数 %s",
		"variable not defined: %s": "没有变量 %s",
		"; there is a function %s, but not with %s arguments, for example test(\"^a\") with one":                                                 "；有函数 %s，但参数不是 %s 个，例如 test(\"^a\") 有一个",
		"; expected a function of jq, or one below defs:, for example defs: {%s: .title}":                                                        "；应为 jq 的函数，或 defs: 下的函数，例如 defs: {%s: .title}",
		"; expected it declared, for example %s":                                                                                                 "；应先声明，例如 %s",
		"jq: $vars.%s: no step and no variable has this name%s":                                                                                  "jq: $vars.%s: 没有这个名称的步骤或变量%s",
		"$secrets.%s: no secret and no option has this name%s":                                                                                   "$secrets.%s: 没有这个名称的密钥或选项%s",
		"$params.%s: no input has this name%s":                                                                                                   "$params.%s: 没有这个名称的输入%s",
		"$vars: only programs of a source have them; expected what it makes in its data, for example map: {x: $vars.x}":                          "$vars: 只在数据源的程序中可用；应由数据源把它放进数据，例如 map: {x: $vars.x}",
		"$secrets: there are none once the service has replied; expected them in a program before, for example vars: {sign: $secrets.key | md5}": "$secrets: 收到回复之后就不可用；应在之前的程序中使用，例如 vars: {sign: $secrets.key | md5}",
	}
})
