package explain

import (
	"cmp"

	"sundry/metrics/words"
)

// ResultWord is how an attempt ended, in the words of the console.
func ResultWord(name string) words.Text {
	zh := map[string]string{
		"success":     "成功",
		"internal":    "内部错误",
		"invalid":     "输入有误",
		"forbidden":   "禁止访问",
		"negative":    "否定",
		"unavailable": "不可用",
		"timeout":     "超时",
		"limited":     "受限",
		"rejected":    "未放行",
		"throttled":   "限速",
		"busy":        "繁忙",
		"malformed":   "结构不符",
		"skipped":     "已跳过",
	}[name]
	return words.Say(name, cmp.Or(zh, name))
}
