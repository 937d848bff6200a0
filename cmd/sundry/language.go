package main

import (
	"cmp"
	"io/fs"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
	"golang.org/x/text/width"

	"sundry/metrics/words"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
)

// language is that in which people are told things at the terminal.
func (w *process) language() i18n.Language { return languageOf(w.getenv) }

// languageOf is what SUNDRY_LANGUAGE says, else the locale. A locale that is neither English nor Chinese gets English.
func languageOf(getenv func(string) (string, bool)) i18n.Language {
	value := func(name string) string { v, _ := getenv(name); return v }
	if l, ok := i18n.Parse(value("SUNDRY_LANGUAGE")); ok {
		return l
	}
	if strings.HasPrefix(cmp.Or(value("LC_ALL"), value("LC_MESSAGES"), value("LANG")), "zh") {
		return i18n.Chinese
	}
	return i18n.English
}

// checkLanguage refuses a SUNDRY_LANGUAGE that there is not. Commands that read the settings need it not.
func (w *process) checkLanguage() error {
	value, _ := w.getenv("SUNDRY_LANGUAGE")
	if _, ok := i18n.Parse(value); ok || value == "" {
		return nil
	}
	return misconfigured(words.Errorf("SUNDRY_LANGUAGE: %q: expected zh or en, such as en", "SUNDRY_LANGUAGE: %q：应为 zh 或 en，例如 en", value))
}

// say is a text with the verbs of package fmt, in the language of the terminal.
func (w *process) say(en, zh string, args ...any) string {
	return w.language().Of(words.Sayf(en, zh, args...))
}

// inLanguage is what is said of an error in a language.
func inLanguage(err error, in i18n.Language) string {
	if in == i18n.Chinese {
		return inChinese(err)
	}
	return err.Error()
}

// inChinese is what is said of an error, each of several in a line. One that has no words, or that is more than what it wraps, is
// in English.
func inChinese(err error) string {
	switch e := err.(type) { //nolint:errorlint // see above
	case exit:
		return inChinese(e.error)
	case misuse:
		return inChinese(e.error)
	case catalog.Mistake:
		return e.Told().ZH()
	case words.Teller:
		return e.Words().ZH()
	case *fs.PathError:
		return words.Failure(e).ZH()
	case interface{ Unwrap() []error }:
		var lines []string
		for _, one := range e.Unwrap() {
			lines = append(lines, inChinese(one))
		}
		return strings.Join(lines, "\n")
	}
	return err.Error()
}

// expected adds to the message about an unknown name the nearest that is allowed, and all of them.
func expected(name string, allowed []string) words.Text {
	if len(allowed) == 0 {
		return words.Say("; there are none", "；这里一个也没有")
	}
	return declare.Expected(name, allowed)
}

const (
	descriptionInChinese = `缓存反向代理，汇集许多上游的公开、只读的小接口。可以这样开始：sundry serve --replay`
	detailInChinese      = `退出状态：0 完成；1 失败；2 命令行有误；3 设置或接口文件有误；4 有接口没有可用的数据源（doctor）。`
)

// translate puts the help into Chinese: that of commands, flags and arguments by their tag zh.
func translate(parser *kong.Kong) {
	parser.Model.Help, parser.Model.Detail, parser.Model.HelpFlag.Help = descriptionInChinese, detailInChinese, "显示这份说明。"
	translateFlags(parser.Model.Node)
	for _, command := range parser.Model.Children {
		command.Help = command.Tag.Get("zh")
		if more, ok := reflect.TypeAssert[interface{ HelpInChinese() string }](command.Target.Addr()); ok {
			command.Detail = more.HelpInChinese()
		}
		translateFlags(command)
		for _, argument := range command.Positional {
			argument.Help = argument.Tag.Get("zh")
		}
	}
}

func translateFlags(of *kong.Node) {
	for _, flag := range of.Flags {
		flag.Help = cmp.Or(flag.Tag.Get("zh"), flag.Help)
	}
}

// helpIn prints help with its titles in a language.
func helpIn(l i18n.Language) kong.HelpPrinter {
	if l != i18n.Chinese {
		return kong.DefaultHelpPrinter
	}
	titles := strings.NewReplacer("Usage: ", "用法：", "\nArguments:\n", "\n参数：\n", "\nFlags:\n", "\n选项：\n", "\nCommands:\n", "\n命令：\n",
		`Run "sundry <command> --help" for more information on a command.`, "sundry <command> --help 说明一个命令。")
	return func(options kong.HelpOptions, k *kong.Context) error {
		var text strings.Builder
		out := k.Stdout
		k.Stdout = &text
		err := kong.DefaultHelpPrinter(options, k)
		k.Stdout = out
		if err != nil {
			return err
		}
		_, err = titles.WriteString(out, text.String())
		return err
	}
}

// mistakeInChinese is one that the parser finds, from its words in English.
func mistakeInChinese(text string) string {
	return strings.NewReplacer("missing command", "缺少命令", "missing flags: ", "缺少选项：", "missing <", "缺少 <",
		"unknown flag ", "没有选项 ", "unknown command ", "没有命令 ", "unexpected argument ", "多余的参数 ", `; did you mean "`, "；是不是“", `"?`, "”？",
		": expected a value after it", "：后面应有一个值", " must be one of ", " 应为以下之一：", " but got ", "，而不是 ", `","`, `"、"`).Replace(text)
}

// stageInChinese names what try shows.
func stageInChinese(name string) string {
	if step, ok := strings.CutPrefix(name, "result of "); ok {
		return step + " 的结果"
	}
	if step, ok := strings.CutPrefix(name, "failure of "); ok {
		return step + " 的错误"
	}
	return cmp.Or(map[string]string{
		"request": "请求", "reply": "回复", "data": "数据", "verdict": "判定", "error": "错误", "picture": "图片", "picture request": "图片请求",
		"picture reply": "图片回复", "failed part": "失败的部分", "sent": "请求字段", "fields": "响应字段", "caching": "缓存", "body": "正文",
	}[name], name)
}

// padded fills a text up to a number of the terminal's columns, of which a Chinese character takes two.
func padded(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-columnsOf(text)))
}

func columnsOf(text string) (n int) {
	for _, r := range text {
		switch n++; width.LookupRune(r).Kind() {
		case width.EastAsianWide, width.EastAsianFullwidth:
			n++
		}
	}
	return n
}
