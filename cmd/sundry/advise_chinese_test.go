package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"sundry/proxy/site/i18n"
)

// latinSentence is three Latin words in a row: names, options and units do not stand like that.
var latinSentence = regexp.MustCompile(`\b[A-Za-z]{2,}\b( \b[A-Za-z]+\b){2}`)

// adviseInChinese is all that the command tells a reader of Chinese.
func adviseInChinese(t *testing.T, env map[string]string, args ...string) string {
	t.Helper()
	env["SUNDRY_LANGUAGE"] = "zh"
	out, errs, err := call(t, env, append([]string{"advise"}, args...)...)
	said := bytes.NewBufferString(errs + out)
	if err != nil {
		report(said, "sundry", i18n.Chinese, err)
	}
	if rest := latinSentence.FindString(said.String()); rest != "" {
		t.Errorf("%q is not in Chinese:\n%s", rest, said)
	}
	return said.String()
}

// TestAdviseInChinese: the table with each kind of reason that a log leads to, what became of its lines, and notes.
func TestAdviseInChinese(t *testing.T) {
	t.Parallel()
	const own = "time=2026-03-01T00:00:00Z msg=request endpoint=own outcome=hit"
	long := writeLog("text", 20_000, 20, 9*time.Hour).text.String()
	quick := writeLog("text", 5_000, 1, time.Second).text.String()
	nginx := writeLog("combined", 5_000, 20, time.Hour).text.String()
	others := "no line of a log\ntime=2199-01-01T00:00:00Z msg=request endpoint=own outcome=hit\n" +
		"time=2026-03-01T00:00:00Z msg=serving\n" + strings.Repeat("x", 64<<10+1) + "\n" + own + "\n" + strings.Replace(own, "hit", "limited", 1) +
		"\ntime=1970-01-01T00:00:00Z msg=request endpoint=own outcome=hit key=01\ntime=2026\n" +
		"time=2026-03-01T00:00:00Z msg=fill endpoint=own key=01 outcome=odd\n"
	for name, test := range map[string]struct {
		log, args string
		want      []string
	}{
		"longest": {log: long, want: []string{
			`^接口  TTL  建议  旧响应占比 +每小时调用 +依据 +原因$`,
			`^own   10m  20m   0\.\d+%（\d\.\d+% 到 \d\.\d+%） → 1\.\d+%（.*）  [\d.]+（[\d.]+ 到 [\d.]+） → .*）  \d+ 次刷新，\d+ 次变化，\d\.\d\d 天  旧响应不超过 2 % 的最长 TTL$`,
			`^20000 行：\d+ 次请求、\d+ 次回源$`,
		}},
		"each TTL":       {long, "--ttl 5m,1h", []string{`^own +5m +20m `, `^ +10m（当前） +\d`, `^ +1h +\d`}},
		"every one":      {quick, "", []string{`^own +10m +无 +至多 \d+(\.\d+)?% .* 部分键每次刷新内容都有变化，无法得知变化有多快；缩短 TTL 后才能判断$`}},
		"too few":        {own + " key=01\ntime=2026-03-01T00:00:00Z msg=fill endpoint=own outcome=first key=01\n", "", []string{` 0 次刷新，0 次变化，0 天 +只见过 0 次刷新，不足以给出建议，至少需要 20 次$`}},
		"too short":      {own + " key=01\n", "--target calls=1/h", []string{` 见过 1 次请求；要给出建议，至少需要一小时以上的 20 次$`}},
		"calls":          {nginx, "--target calls=60/h", []string{` 每小时调用不超过 60 次的最短 TTL$`}},
		"too many calls": {nginx, "--target calls=0.001/h", []string{`^own .* 无 +- .* TTL 延长到 .*，每小时调用仍超过 0\.001 次$`}},
		"nginx":          {nginx, "", []string{` 日志没有记录刷新的结果，因此只知道调用次数；请提供 Sundry 的日志，或使用 --target calls=100/h 这样的目标$`}},
		"others": {long + others, "", []string{
			`^警告：无法识别：.*own\.log:20001：应为 nginx 的 combined 格式，例如 192\.0\.2\.1 `,
			`^警告：无法识别：.*own\.log:20004：超过 65536 字节$`,
			`^警告：无法识别：.*own\.log:20007：是十年以前的，应为请求的时间$`,
			`^20009 行：\d+ 次请求、\d+ 次回源、1 行与此无关、1 次请求被拒绝、1 行没有键、1 行比现在晚一个月以上、5 行无法识别$`,
			`^说明：无法对 own 给出建议：Sundry 的日志中没有键；请设置 log_keys: true，`,
		}},
		"timetable": {strings.ReplaceAll(own, "own", "60s") + " key=01\n", "", []string{` 响应的保鲜期由发布时刻（until）决定，没有可以建议的 TTL$`}},
		"no key":    {own, "", []string{`^sundry: .*own\.log：无法对 own 给出建议：Sundry 的日志中没有键；请设置 log_keys: true，或提供前面的代理以 nginx 的 combined 格式写的日志$`}},
		"empty":     {"", "", []string{`^sundry: .*own\.log：没有请求过任何会缓存的接口（0 行：0 次请求、0 次回源）；日志中应有这样的行：time=`}},
		"not gzip":  {"\x1f\x8b" + own, "", []string{`^sundry: .*own\.log：gzip 数据已损坏$`}},
		"cut gzip":  {packed(t, long)[:5_000], "", []string{`^sundry: .*own\.log：gzip 数据不完整$`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := write(t, t.TempDir(), "own.log", test.log)
			args := append([]string{"--catalog", ownCatalog(t), file}, strings.Fields(test.args)...)
			got := adviseInChinese(t, onlyIn(t, "60s"), args...)
			for _, want := range test.want {
				wantMatch(t, got, "(?m)"+want)
			}
		})
	}
	dir := t.TempDir()
	wantMatch(t, adviseInChinese(t, onlyIn(t, "ip"), dir), `^sundry: `+dir+`：是目录，不是文件\n$`)
}

// TestAdviseSaysWhyThereAreNoKeys: those of personal or secret parameters have no marks, whatever log_keys says.
func TestAdviseSaysWhyThereAreNoKeys(t *testing.T) {
	t.Parallel()
	dir := ownCatalog(t)
	config := write(t, t.TempDir(), "sundry.yaml", "log_keys: true\n"+only("ip", "kd"))
	const personal = "the log of Sundry never has the keys of personal or secret parameters; give the log of the proxy in front, in nginx's combined format"
	const keyless = "the keys are not in the log of Sundry; set log_keys: true, or give the log of the proxy in front, in nginx's combined format"
	for want, names := range map[string][]string{
		"nothing can be said about ip, kd: " + personal:                                             {"kd", "ip"},
		"nothing can be said about own: " + keyless:                                                 {"own"},
		"nothing can be said about own: " + keyless + "; nothing can be said about kd: " + personal: {"kd", "own"},
	} {
		var log strings.Builder
		for _, name := range names {
			fmt.Fprintf(&log, "time=2026-03-01T00:00:00Z msg=request endpoint=%s outcome=hit\n", name)
		}
		args := []string{"--config", config, "--catalog", dir, write(t, t.TempDir(), "a.log", log.String())}
		_, _, err := call(t, nil, append([]string{"advise"}, args...)...)
		if err == nil || !strings.HasSuffix(err.Error(), "/a.log: "+want) {
			t.Errorf("%v\nexpected %s", err, want)
		}
		said := adviseInChinese(t, map[string]string{}, args...)
		if strings.Contains(said, "log_keys") != strings.Contains(want, "log_keys") {
			t.Error(said)
		}
	}
}
