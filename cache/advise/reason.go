package advise

import (
	"fmt"
	"strings"
	"time"

	"sundry/cache/policy"
	"sundry/metrics/words"
)

func percent(share float64) string { return fmt.Sprintf("%.3g %%", share*100) }

// lasting is a duration to the second, without parts that are zero at its end.
func lasting(d time.Duration) string {
	s := d.Round(time.Second).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func timetable() words.Text {
	return words.Say("the timetable (until) decides how long answers are fresh, there is no TTL to advise",
		"响应的保鲜期由发布时刻（until）决定，没有可以建议的 TTL")
}

func tooFew(refreshes int) words.Text {
	return words.Sayf("refreshes seen: %d, too few to advise; expected at least %d",
		"只见过 %d 次刷新，不足以给出建议，至少需要 %d 次", refreshes, fewestLooks)
}

func tooShort(requests int) words.Text {
	return words.Sayf("requests seen: %d; to advise takes at least %d, over an hour or more",
		"见过 %d 次请求；要给出建议，至少需要一小时以上的 %d 次", requests, fewestLooks)
}

// longest is why the i-th rule is the one for a target of old answers.
func (a *Advice) longest(i int) words.Text {
	target := percent(a.Target.Old)
	switch {
	case i == len(a.Rules)-1:
		return words.Sayf("at most %s of answers would be old even under the longest TTL that what was seen can tell of",
			"即使用现有数据能推断的最长 TTL，旧响应也不超过 %s", target)
	case a.Rules[i+1].Older <= a.Target.Old:
		return words.Sayf("the longest TTL under which surely not much more than %s of answers would be old",
			"能确信旧响应不会明显超过 %s 的最长 TTL", target)
	}
	return words.Sayf("the longest TTL under which %s of answers at most would be old",
		"旧响应不超过 %s 的最长 TTL", target)
}

func farAbove(ttl, present time.Duration, target float64) words.Text {
	return words.Sayf("the present TTL of %s is far above how fast contents change; with about %s, %s of answers at most would be old",
		"内容变化远快于当前 TTL（%s）；TTL 约为 %s 时，旧响应才不超过 %s", lasting(present), lasting(ttl), percent(target))
}

// noTTL is why none meets a target of old answers.
func (past *Past) noTTL(a *Advice, present *policy.Policy) words.Text {
	target := a.Target.Old
	lowest := past.under(present, shortest)
	prompt := *present
	prompt.TTL, prompt.Grace = shortest, 0
	without := past.Rule(&prompt)
	switch {
	case lowest.Older > target && without.Older <= target:
		return words.Sayf("answers within grace (%s) are old: %s of all under any TTL, more than %s; a shorter grace helps",
			"宽限期（grace %s）内的响应是旧的：无论 TTL 多短都有 %s，超过 %s；应缩短宽限期", lasting(present.Grace), percent(lowest.Older), percent(target))
	case lowest.AtMost:
		return words.Say("every refresh of some keys found a change, so nobody knows how fast they change; a shorter TTL would tell",
			"部分键每次刷新内容都有变化，无法得知变化有多快；缩短 TTL 后才能判断")
	case lowest.Older <= target:
		return words.Sayf("too little was seen to be sure: under a TTL of %s, up to %s of answers may be old",
			"数据太少，无法确定：即使 TTL 为 %s，旧响应仍可能多达 %s", lasting(lowest.TTL), percent(lowest.OlderHigh))
	}
	return words.Sayf("contents change faster than any TTL: %s of answers would be old even under %s",
		"内容变化快于任何 TTL：即使 TTL 为 %[2]s，仍有 %[1]s 的响应是旧的", percent(lowest.Older), lasting(lowest.TTL))
}

func fewCalls(target float64) words.Text {
	return words.Sayf("the shortest TTL with %.3g calls an hour at most",
		"每小时调用不超过 %.3g 次的最短 TTL", target)
}

func tooManyCalls(ttl time.Duration, target float64) words.Text {
	return words.Sayf("no TTL up to %s needs only %.3g calls an hour",
		"TTL 延长到 %s，每小时调用仍超过 %.3g 次", lasting(ttl), target)
}
