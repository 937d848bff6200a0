package pages

import (
	"fmt"
	"strings"
	"time"

	"sundry/cache/policy"
	"sundry/metrics/words"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
)

// cachingRule is what callers may know of how the answers of an endpoint are kept.
type cachingRule struct {
	Policy policy.Policy
	// LimitsItself: what is in an answer may shorten its life.
	LimitsItself bool
	// Pool: each request gets one of many candidates.
	Pool bool
}

// Caching describes in sentences how the answers of an endpoint are kept, the most important one first.
func Caching(e *catalog.Endpoint) []words.Text {
	r := cachingOf(e)
	en, zh := r.words(i18n.English), r.words(i18n.Chinese)
	all := make([]words.Text, len(en))
	for i := range en {
		all[i] = words.Say(en[i], zh[i])
	}
	return all
}

// words describe the rule in sentences, the most important one first.
func (r *cachingRule) words(l i18n.Language) []string {
	p := &r.Policy
	if !p.Stores() {
		return []string{l.Say("Nothing is kept: every request is answered anew.", "不缓存，每次请求都重新处理。")}
	}
	all := []string{r.freshness(l)}
	if r.LimitsItself {
		all = append(all, l.Say("Some responses are kept for less, by what is in them.", "部分响应会因内容而缩短保存时间。"))
	}
	if p.Grace > 0 {
		all = append(all, fmt.Sprintf(l.Say("Once outdated, a copy is still served for up to %s while it is refreshed in the background.", "过期后 %s内仍先返回旧响应，同时在后台刷新。"), span(l, p.Grace)))
	}
	if p.Until != nil && p.Poll > 0 {
		all = append(all, fmt.Sprintf(l.Say("An edition that is late is asked for every %s; until it is out, the one before is served.", "新一期未按时发布时，每 %s查询一次，此前返回上一期。"), span(l, p.Poll)))
	}
	if p.StaleIfError > p.Grace {
		all = append(all, fmt.Sprintf(l.Say("While no source answers, the last copy is served for up to %s.", "所有数据源都不可用时，%s内仍返回最后一次的响应。"), span(l, p.StaleIfError)))
	}
	if p.Negative > 0 {
		all = append(all, fmt.Sprintf(l.Say("That something does not exist is remembered for %s.", "“查无结果”也会缓存 %s。"), span(l, p.Negative)))
	}
	if r.Pool {
		all = append(all, l.Say("Each request gets one of the kept candidates at random.", "每次请求从缓存的候选中随机返回一个。"))
	}
	return all
}

// freshness says for how long an answer counts as new.
func (r *cachingRule) freshness(l i18n.Language) string {
	p := &r.Policy
	switch {
	case p.Until == nil && p.Class == policy.Computed:
		return fmt.Sprintf(l.Say("Computed here in a moment, and kept for %s.", "本地即时生成，保存 %s。"), span(l, p.TTL))
	case p.Until == nil:
		return fmt.Sprintf(l.Say("Kept for %s.", "响应保存 %s。"), span(l, p.TTL))
	case p.TTL > 0 && p.TTL < 24*time.Hour:
		return fmt.Sprintf(l.Say("Published daily at %s. Between editions, a response is kept for %s, since it may be corrected.", "每天%s 发布。两次发布之间，响应保存 %s，以便及时更正。"), timetable(l, p.Until), span(l, p.TTL))
	}
	return fmt.Sprintf(l.Say("Published daily at %s, and kept until then.", "每天%s 发布，响应保存到下一次发布。"), timetable(l, p.Until))
}

// timetable is a calendar in words, as in "07:00 and 19:00 Beijing time".
func timetable(l i18n.Language, c *policy.Calendar) string {
	words := strings.Fields(c.String())
	times, zone := words[:len(words)-1], words[len(words)-1]
	if zone == "Asia/Shanghai" {
		zone = l.Say("Beijing time", "北京时间")
	}
	if l == i18n.Chinese {
		return zone + " " + strings.Join(times, "、")
	}
	last := len(times) - 1
	if last == 0 {
		return times[0] + " " + zone
	}
	return strings.Join(times[:last], ", ") + " and " + times[last] + " " + zone
}

// span is a duration in the largest unit in which it is a whole number, as in "6 hours".
func span(l i18n.Language, d time.Duration) string {
	for _, unit := range []struct {
		is          time.Duration
		one, en, zh string
	}{
		{24 * time.Hour, "a day", "days", "天"}, {time.Hour, "an hour", "hours", "小时"},
		{time.Minute, "a minute", "minutes", "分钟"}, {time.Second, "a second", "seconds", "秒"},
	} {
		if d < unit.is || d%unit.is != 0 {
			continue
		}
		switch n := d / unit.is; {
		case l == i18n.Chinese:
			return fmt.Sprintf("%d %s", n, unit.zh)
		case n == 1:
			return unit.one
		default:
			return fmt.Sprintf("%d %s", n, unit.en)
		}
	}
	return d.String()
}
