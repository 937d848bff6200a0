package main

import (
	"bytes"
	"cmp"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"sundry/proxy/site/i18n"
)

// env looks up in pairs of a name and a value.
func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

// TestTheLanguageOfTheCommandLine: what Sundry is told, else the first variable of the locale that says something.
func TestTheLanguageOfTheCommandLine(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		want  i18n.Language
		pairs []string
	}{
		{i18n.English, nil},
		{i18n.Chinese, []string{"LANG", "zh_CN.UTF-8"}},
		{i18n.Chinese, []string{"LC_MESSAGES", "zh_TW", "LANG", "en_US.UTF-8"}},
		{i18n.Chinese, []string{"LC_ALL", "", "LANG", "zh"}},
		{i18n.English, []string{"LC_ALL", "C", "LANG", "zh_CN.UTF-8"}},
		{i18n.English, []string{"LANG", "de_DE.UTF-8"}},
		{i18n.English, []string{"SUNDRY_LANGUAGE", "en", "LC_ALL", "zh_CN.UTF-8"}},
		{i18n.Chinese, []string{"SUNDRY_LANGUAGE", "zh", "LC_ALL", "C"}},
		{i18n.Chinese, []string{"SUNDRY_LANGUAGE", "", "LC_ALL", "zh_CN.UTF-8"}},
	} {
		if got := languageOf(env(row.pairs...)); got != row.want {
			t.Errorf("%v: %s, want %s", row.pairs, got, row.want)
		}
	}
}

// TestCommandsAreExplainedInChinese, each of them, with its flags and arguments.
func TestCommandsAreExplainedInChinese(t *testing.T) {
	t.Parallel()
	inChinese := func(text string) bool {
		return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
	}
	for _, zh := range []bool{false, true} {
		locale := map[string]string{"LANG": "zh_CN.UTF-8"}
		if !zh {
			locale = nil
		}
		parser, _, err := newParser(processOf(t, locale), &cli{})
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range parser.Model.Children {
			texts := []string{command.Help, cmp.Or(command.Detail, command.Help)}
			for _, argument := range command.Positional {
				texts = append(texts, argument.Help)
			}
			for _, group := range command.AllFlags(false) {
				for _, flag := range group {
					texts = append(texts, flag.Help)
				}
			}
			for _, text := range texts {
				if inChinese(text) != zh {
					t.Errorf("Chinese %v: %s: %q", zh, command.Name, text)
				}
			}
		}
		if out, _, err := call(t, locale, "help"); err != nil || inChinese(out) != zh || strings.Contains(out, "A caching reverse proxy") == zh {
			t.Errorf("Chinese %v: %v\n%s", zh, err, out)
		}
	}
}

// TestTheCommandLineInChinese: its frames, what is wrong with it, and most of what is wrong in files.
func TestTheCommandLineInChinese(t *testing.T) {
	t.Parallel()
	took := regexp.MustCompile("用时 [0-9.]+m?s") // differs from run to run
	env := onlyIn(t, "60s", "dailywp", "ip")
	env["SUNDRY_LANGUAGE"], env["SUNDRY_IPINFO_TOKEN"] = "zh", "x"
	dir := t.TempDir()
	reply := write(t, dir, "reply.json", `{"text":"a"}`)
	bad := filepath.Dir(write(t, t.TempDir(), "bad.yaml", "naem: bad\ncache: {ttl: soon}\nparams: 7\n"))
	grouped := filepath.Dir(write(t, t.TempDir(), "one.yaml", "version: 1\ngroup: txt\n"))
	addresses := filepath.Dir(write(t, t.TempDir(), "api.yaml", "version: 1\nname: api\nsummary: x\nproxy: {to: foo}\n"))
	refused := filepath.Dir(write(t, t.TempDir(), "away.yaml", "version: 1\nname: away\ngroup: text\nsummary: x\ncache: {class: shared, ttl: 1m}\n"+
		"forms: [{name: json, json: .}]\nsources: [{name: s, http: {url: 'http://127.0.0.1:1/'}}]\n"))
	origin := filepath.Dir(write(t, t.TempDir(), "api.yaml", "version: 1\nname: api\nsummary: x\nproxy: {to: 'http://127.0.0.1:1'}\n"))
	least := "version: 1\nname: least\ngroup: text\nsummary: x\nparams: [{name: n, type: int, min: 5, max: 1, summary: x}]\n" +
		"cache: {class: keyed, ttl: 1m}\nforms: [{name: json, json: .}]\nsources: [{name: s, http: {url: foo}}]\n"
	misspelt := jokeCatalog(t, "testdata/jokes/own/good/exchange.yaml", "params:", "parms:")
	minima := filepath.Dir(write(t, t.TempDir(), "least.yaml", least))
	syntax := write(t, t.TempDir(), "s.yaml", "log_level: debug\nlimits:\n\trate: 1\n")
	settings := write(t, t.TempDir(), "s.yaml", "limits: {rate: abc}\nlanguage: fr\ngeo_file: x\nproxy: q\nredis: foo\nlisten: [a]\n")
	for line, want := range map[string]string{
		"":                      "sundry: 缺少命令\n  命令：serve、check、|\n  示例：sundry serve --replay\n  详情：sundry help\n",
		"serv":                  `sundry: 没有命令 serv；是不是“serve”？` + "\n",
		"serve --lisen :80":     `sundry serve: 没有选项 --lisen；是不是“--listen”？` + "\n  用法：sundry serve |\n  选项：--help、|\n  示例：sundry serve --replay\n  详情：sundry help serve\n",
		"serve -replay":         `sundry serve: 没有选项 -replay；是不是“--replay”？` + "\n",
		"serve —replay":         `sundry serve: 没有选项 —replay；是不是“--replay”？` + "\n",
		"serve －－listen=:80":    `sundry serve: 没有选项 －－listen=:80；是不是“--listen”？` + "\n",
		"serve --to":            "sundry serve: --to：后面应有一个值\n",
		"try":                   "sundry try: 缺少 <endpoint>\n",
		"try --replay ipp":      "sundry try: 没有接口 ipp；是不是 ip？应为以下之一：dailywp、ip、60s\n",
		"try --replay ip foo=1": "sundry try: 没有参数 foo（接口 ip）；应为以下之一：ip、type、callback\n",
		"try --replay ip foo":   `sundry try: 参数“foo”：应为 名称=值` + "\n",
		"explain :ip":           "sundry explain: 应为 URL，或路径加查询串，例如 /api/ip?ip=8.8.8.8\n",
		"explain --catalog " + t.TempDir() + " ip ip=8.8.8.8": "\n参数\n  ip        （个人信息，不予显示）\n",
		"explain ip 8.8.8.8":   "sundry explain: 参数“8.8.8.8”：应为 名称=值\n",
		"explain /api/ip ip=8": "sundry explain: /api/ip：参数前应为接口的名称，例如 ip\n",
		"help nonsense":        "sundry help: 没有命令 nonsense；应为以下之一：serve、check、",
		"help try":             "用法：sundry try <endpoint> |\n参数：\n  <endpoint> |\n选项：\n  -h, --help                 显示这份说明。\n      --version              输出版本和构建信息。\n",
		"help":                 "\n命令：\n  serve |sundry <command> --help 说明一个命令。\n",
		"try --replay ip ip=8.8.8.8": "数据源 replay:reserved\n  判定             已跳过，用时 |用时 0s\n数据源 replay:qifu\n  请求             GET https://|\n  回复             200 OK|" +
			"\n  数据             {|\n响应来自 replay:qifu，用时 |\n  type=json：200 application/json; charset=utf-8，378 字节\n",
		"try --replay dailywp":            "，版次 20|\n其他格式（其数据源链未调用）：type=json、type=text",
		"check":                           "通过：3 个接口，|个数据源\nSUNDRY_ALAPI_TOKEN   未设置  停用 60s/alapi\nSUNDRY_IPINFO_TOKEN  已设置  用于 ip/ipinfo\nSUNDRY_UAPIS_KEY     未设置  不带它调用 ip/uapis\n",
		"check --catalog /does/not/exist": "--catalog: “/does/not/exist”：没有这个文件或目录；应为目录，例如 /etc/sundry/catalog\nsundry: 检查未通过\n",
		"check --catalog " + bad:          "/bad.yaml:1: 没有键 naem；是不是 name？应为以下之一：version、|/bad.yaml:2: cache.ttl: “soon”不是时长；|/bad.yaml:3: params: 应为列表，而不是 7",
		"check --catalog " + grouped:      "/one.yaml:2: group: 应为 images、media、lookups、text 之一，或自己的分组，例如 {name: tools, en: Tools, zh: 工具}，而不是“txt”\n",
		"check --config " + settings: "/s.yaml:1: limits.rate: “abc”：应为每秒的请求数，从 0.001 到 1000000，0 为不限，例如 20\n|/s.yaml:2: language: “fr”：应为 zh 或 en，例如 en\n" +
			"|/s.yaml:3: geo_file: “x”：应为以 .mmdb 或 .xdb 结尾的文件，例如 |/s.yaml:4: proxy: 应为 http、https、|/s.yaml:5: redis: 应为 redis://|/s.yaml:6: listen: 应为地址和端口，例如 :8080\n",
		"check --config /does/not/exist":                            "设置文件 /does/not/exist：没有这个文件或目录\n",
		"try --catalog " + refused + " away":                        "\n  错误             连接被拒绝（详情为英文）：s: unavailable: ",
		"try --replay --replay-fault 60s/60s-mirror=status:503 60s": "\n  错误             状态码 503（详情为英文）：replay:60s-mirror: unavailable (status 503)",
		"try --catalog " + origin + " api /x":                       "\n  错误             连接被拒绝（详情为英文）：dial tcp |sundry: api：连接被拒绝（详情为英文）：dial tcp ",
		"try --replay --catalog " + origin + " api /x":              "sundry: api：回放时没有网络（详情为英文）：connect to 127.0.0.1:1: there is no network in replay\n",
		"try --replay --replay-fault 60s/60s-mirror=body:html 60s":  "\n  错误             返回的是网页，不是数据（详情为英文）：replay:60s-mirror: malformed (status 200): ",
		"try --replay --replay-fault 60s/60s-mirror=body:empty 60s": "\n  错误             正文是空的（详情为英文）：replay:60s-mirror: malformed (status 200): ",
		"check --config " + syntax:                                  "/s.yaml:3: 值不能这样开头；缩进应为空格，",
		"check --catalog " + addresses:                              "/api.yaml:4: proxy: to: 应为 API 的地址（冒号和点用半角），例如 https://api.example.org、http://127.0.0.1:3000/v1、不用 TLS 的 HTTP/2 h2c://127.0.0.1:50051，或 unix:/run/app.sock，而不是“foo”\n",
		"check --catalog " + minima:                                 "/least.yaml:5: 参数 n：min 不应大于 max，而这里是 min: 5, max: 1\n|/least.yaml:8: url: 应为 http 或 https 地址（冒号和点用半角），",
		"serve --to foo":                                            "sundry serve: --to foo：应为 API 的地址（冒号和点用半角），例如 https://api.example.org、http://127.0.0.1:3000/v1、不用 TLS 的 HTTP/2 h2c://127.0.0.1:50051，或 unix:/run/app.sock\n",
		"serve --to http://127.0.0.1:1 --replay":                    "sundry serve: --to：不能与 --replay 同时使用；回放时没有网络\n",
		"explain --admin 127.0.0.1:1 /api/ip":                       "没有运行中的实例：连接被拒绝（可用 --admin 指定别处）；仅按接口目录说明：\n",
		"advise /nope":                                              "sundry: /nope：没有这个文件或目录\n",
		"advise --target old=abc /nope":                             "sundry advise: --target：“old=abc”：应为 old=2%（旧响应至多这么多）或 calls=100/h（每小时上游调用至多这么多次）\n",
		"advise --ttl abc /nope":                                    "sundry advise: --ttl：“abc”：应为 1s 到 366d 的时长，例如 90s、6h 或 30d\n",
		"serve --replay --listen foo":                               "sundry: --listen: “foo”：应为地址和端口，例如 :8080\n",
		"serve --replay --admin 0.0.0.0:22040":                      "sundry: --admin: “0.0.0.0:22040”：管理端口不限于本机时须有令牌：请设置 SUNDRY_ADMIN_TOKEN，或在 127.0.0.1 监听\n",
		"new own --url foo":                                         "sundry new: --url “foo”：应为 http 或 https 地址，例如 https://api.example.org/v1/joke?id=7\n",
		"new own --url http://127.0.0.1:1/":                         "sundry: 未能调用地址：连接被拒绝\n",
		"health --listen 127.0.0.1:1":                               "sundry: health：127.0.0.1:1 没有回答：连接被拒绝；换地址可用 --listen、SUNDRY_LISTEN 或设置文件\n",
		"explain --admin foo /api/ip":                               "sundry explain: --admin：“foo”：应为地址和端口，例如 127.0.0.1:9090，或控制台的 URL，",
		"doctor --replay --progress ip":                             "] ip/reserved：正常，用时 ",
		"new Bad_Name --url http://a.example/":                      "sundry new: 名称“Bad_Name”：应由小写字母、数字和连字符组成，例如 joke\n",
		"new own --url http://a.example/{id}":                       "sundry new: --url：{id} 没有值；应有一个，例如 --param id=7\n",
		"serve --replay --replay-fault kd=error:7":                  "sundry: --replay-fault kd=error:7：应为调用中失败的比例，从 0 到 1，例如 error:0.3\n",
		"doctor --replay ip":                                        "接口  数据源    状况  用时  |说明\nip    reserved  正常  ",
		"doctor --replay --catalog " + misspelt + " jokes":          "警告：一份录制的往来未采用：" + misspelt + "/testdata/jokes/own/good/exchange.yaml:3: 没有键 parms；是不是 params？",
		"schema foo":                       `sundry schema: [<of>] 应为以下之一："catalog"、"part"、"config"，而不是 "foo"` + "\n",
		"doctor --replay --record":         "sundry doctor: --record 和 --replay 不能同时用",
		"new ip --url http://127.0.0.1:1/": "sundry new: ip 是内置接口，同名的文件会取代它；请换一个名称\n",
		"new own --url http://a.example/ --reply " + reply + " --out " + dir: "已写入 " + dir + "/own.yaml，录制的往来在 |\n下一步：sundry try own --replay --catalog " + dir + "，",
	} {
		out, errs, err := call(t, env, strings.Fields(line)...)
		var said bytes.Buffer
		if err != nil {
			report(&said, "sundry", i18n.Chinese, err)
		}
		for rest := range strings.SplitSeq(want, "|") {
			if all := took.ReplaceAllString(out+errs+said.String(), "用时 0s"); !strings.Contains(all, rest) {
				t.Errorf("%s: no %q in\n%s", line, rest, all)
			}
		}
	}
}

// TestColumnsOfChinese: a character of Chinese takes two.
func TestColumnsOfChinese(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"a": "a     .", "规则": "规则  .", "a（b）": "a（b）.", "缓存条目": "缓存条目."} {
		if got := padded(text, 6) + "."; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
