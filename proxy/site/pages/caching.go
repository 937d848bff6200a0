package pages

import (
	"slices"
	"strings"
	"time"

	"sundry/cache/policy"
	"sundry/metrics/words"
	"sundry/upstreams/catalog"
)

// Caching describes in sentences how the answers of an endpoint are kept, the most important one first.
func Caching(e *catalog.Endpoint) []words.Text {
	p := &e.Policy
	if !p.Stores() {
		return []words.Text{words.Say("Nothing is kept: every request is answered anew.", "不缓存，每次请求都重新处理。")}
	}
	all := []words.Text{freshness(p)}
	switch least := e.LeastFresh(); {
	case least > 0 && least < p.TTL && p.Until == nil:
		all[0] = words.Sayf("Kept for %s to %s, by what is in the response.", "响应保存 %s至 %s，视内容而定。", span(least), span(p.TTL))
	case least > 0 && least < p.TTL:
		all = append(all, words.Sayf("Some responses are kept for %s only, by what is in them.", "部分响应视内容只保存 %s。", span(least)))
	case e.LimitsItself():
		all = append(all, words.Say("Some responses are kept for less, by what is in them.", "部分响应会因内容而缩短保存时间。"))
	}
	if (p.TTL == 0 || p.TTL > policy.LastResort) && e.HasLastResort() {
		all = append(all, words.Sayf("Where no other source has an answer, the last resort's is kept for %s at most.", "其他数据源都没有结果时，兜底数据源的响应最多保存 %s。", span(policy.LastResort)))
	}
	if p.Grace > 0 {
		all = append(all, words.Sayf("Once outdated, a copy is still served for up to %s while it is refreshed in the background.", "过期后 %s内仍先返回旧响应，同时在后台刷新。", span(p.Grace)))
	}
	if p.Until != nil && p.Poll > 0 {
		all = append(all, words.Sayf("An edition that is late is asked for every %s; until it is out, the one before is served.", "新一期未按时发布时，每 %s查询一次，此前返回上一期。", span(p.Poll)))
	}
	if p.StaleIfError > p.Grace {
		all = append(all, words.Sayf("While no source answers, the last copy is served for up to %s.", "所有数据源都不可用时，%s内仍返回最后一次的响应。", span(p.StaleIfError)))
	}
	if p.Negative > 0 {
		all = append(all, words.Sayf("“Not found” is kept for %s too.", "“查无结果”也会缓存 %s。", span(p.Negative)))
	}
	if slices.ContainsFunc(e.Forms, func(f *catalog.Form) bool { return f.Pool }) {
		all = append(all, words.Say("Each request gets one of the kept candidates at random.", "每次请求从缓存的候选中随机返回一个。"))
	}
	return all
}

// freshness says for how long an answer counts as new.
func freshness(p *policy.Policy) words.Text {
	switch {
	case p.Until == nil && p.Class == policy.Computed:
		return words.Sayf("Computed here in a moment, and kept for %s.", "本地即时生成，保存 %s。", span(p.TTL))
	case p.Until == nil:
		return words.Sayf("Kept for %s.", "响应保存 %s。", span(p.TTL))
	case p.TTL > 0 && p.TTL < 24*time.Hour:
		return words.Sayf("Published daily at %s. Between editions, a response is kept for %s, since it may be corrected.", "每天%s 发布。两次发布之间，响应保存 %s，以便及时更正。", timetable(p.Until), span(p.TTL))
	}
	return words.Sayf("Published daily at %s, and kept until then.", "每天%s 发布，响应保存到下一次发布。", timetable(p.Until))
}

// timetable is a calendar in words, as in "07:00 and 19:00 Beijing time".
func timetable(c *policy.Calendar) words.Text {
	parts := strings.Fields(c.String())
	last := len(parts) - 2
	times, zone := parts[:last+1], words.Name(parts[last+1])
	if zone.EN() == "Asia/Shanghai" {
		zone = words.Say("Beijing time", "北京时间")
	}
	en := times[last]
	if last > 0 {
		en = strings.Join(times[:last], ", ") + " and " + en
	}
	return words.Say(en+" "+zone.EN(), zone.ZH()+" "+strings.Join(times, "、"))
}

// span is a duration in the largest unit in which it is a whole number, as in "6 hours".
func span(d time.Duration) words.Text {
	for _, unit := range []struct {
		is          time.Duration
		one, en, zh string
	}{
		{24 * time.Hour, "a day", "days", "天"}, {time.Hour, "an hour", "hours", "小时"},
		{time.Minute, "a minute", "minutes", "分钟"}, {time.Second, "a second", "seconds", "秒"},
	} {
		n := d / unit.is
		switch is := words.Sayf("%d %s", "%d %s", n, words.Say(unit.en, unit.zh)); {
		case n == 0 || d%unit.is != 0:
		case n == 1:
			return words.Say(unit.one, is.ZH())
		default:
			return is
		}
	}
	return words.Name(d.String())
}
