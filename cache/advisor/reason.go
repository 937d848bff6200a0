package advisor

import (
	"fmt"
	"strings"
	"time"

	"sundry/cache/whatif"
)

// Reason says in one sentence what is recommended and why.
type Reason struct{ EN, ZH string }

func (a *Advice) reason() Reason {
	en, zh := a.Change.sentence()
	switch a.Verdict {
	case Schedule:
		return Reason{
			fmt.Sprintf("%s; with until: %q it would be loaded %s instead of %s, and %s of the answers would be old instead of %s.", en, a.Until,
				callsEN(a.Recommended.CallsPerHour), callsEN(a.Present.CallsPerHour), percent(a.Recommended.OldShare), percent(a.Present.OldShare)),
			fmt.Sprintf("%s；若声明 until: %q，回源将由%s变为%s，旧内容由 %s 变为 %s。", zh, a.Until,
				callsZH(a.Present.CallsPerHour), callsZH(a.Recommended.CallsPerHour), percent(a.Present.OldShare), percent(a.Recommended.OldShare)),
		}
	case Set:
		return Reason{
			fmt.Sprintf("%s; with a TTL of %s instead of %s it would be loaded %s instead of %s, and %s of the answers would be old instead of %s.", en,
				whatif.Duration(a.Recommended.TTL), whatif.Duration(a.Present.TTL), callsEN(a.Recommended.CallsPerHour), callsEN(a.Present.CallsPerHour),
				percent(a.Recommended.OldShare), percent(a.Present.OldShare)),
			fmt.Sprintf("%s；若 TTL 由 %s 改为 %s，回源将由%s变为%s，旧内容由 %s 变为 %s。", zh, whatif.Duration(a.Present.TTL), whatif.Duration(a.Recommended.TTL),
				callsZH(a.Present.CallsPerHour), callsZH(a.Recommended.CallsPerHour), percent(a.Present.OldShare), percent(a.Recommended.OldShare)),
		}
	case Keep:
		return Reason{
			fmt.Sprintf("Nothing to gain: %s, and with the present rule it is loaded %s while %s of the answers are old.", lowerFirst(en), callsEN(a.Present.CallsPerHour), percent(a.Present.OldShare)),
			fmt.Sprintf("无需调整：%s；现行规则下回源%s，旧内容占 %s。", zh, callsZH(a.Present.CallsPerHour), percent(a.Present.OldShare)),
		}
	}
	return Reason{"No recommendation yet: " + lowerFirst(en) + ".", "暂无建议：" + zh + "。"}
}

// sentence says how the content changes, without a full stop.
func (c *Change) sentence() (en, zh string) {
	switch c.Kind {
	case Unchanged:
		return fmt.Sprintf("None of %d refreshes found a change, so the content changes less than every %s", c.Refreshes, rough(c.Low)),
			fmt.Sprintf("%d 次刷新均未发现变化，内容的变化间隔长于 %s", c.Refreshes, rough(c.Low))
	case Always:
		return fmt.Sprintf("Each of %d refreshes found a change, so the content changes more often than it is refreshed and how often is not known", c.Refreshes),
			fmt.Sprintf("%d 次刷新每次都有变化，内容的变化比刷新更频繁，具体间隔未知", c.Refreshes)
	case Periodic:
		if several := c.daily(); several.n > 1 && !c.Probable {
			return fmt.Sprintf("The content changes at %s (%s)", several, c.Zone), fmt.Sprintf("内容每天于 %s 更新（%s）", several, c.Zone)
		}
		if c.Probable {
			return fmt.Sprintf("The content probably changes every %s (%s)", whatif.Duration(c.Interval), c.At()), fmt.Sprintf("内容可能每 %s 更新一次（%s）", whatif.Duration(c.Interval), c.At())
		}
		return fmt.Sprintf("The content changes every %s (%s %s)", whatif.Duration(c.Interval), c.At(), c.Zone), fmt.Sprintf("内容每 %s 更新一次（%s %s）", whatif.Duration(c.Interval), c.At(), c.Zone)
	case Random:
		return fmt.Sprintf("The content changes at random, about every %s", rough(c.Interval)), fmt.Sprintf("内容随机变化，平均约每 %s 一次", rough(c.Interval))
	case Undecided:
		return fmt.Sprintf("The content changes about every %s, whether at random or at a period is not known yet", rough(c.Interval)),
			fmt.Sprintf("内容平均约每 %s 变化一次，是否有固定周期尚不清楚", rough(c.Interval))
	}
	return fmt.Sprintf("Only %d refreshes have been seen, with %d changes", c.Refreshes, c.Changes), fmt.Sprintf("目前只观察到 %d 次刷新、%d 次变化", c.Refreshes, c.Changes)
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// rough is a duration to two digits or so.
func rough(d time.Duration) string {
	switch {
	case d >= 72*time.Hour:
		return fmt.Sprintf("%.3gd", d.Hours()/24)
	case d >= 90*time.Minute:
		return fmt.Sprintf("%.2gh", d.Hours())
	case d >= 90*time.Second:
		return fmt.Sprintf("%.2gm", d.Minutes())
	}
	return fmt.Sprintf("%.2gs", d.Seconds())
}

func percent(share float64) string { return fmt.Sprintf("%.2g %%", 100*share) }

func callsEN(perHour float64) string {
	if perHour < 1 {
		return fmt.Sprintf("%.2g times a day", perHour*24)
	}
	return fmt.Sprintf("%.3g times an hour", perHour)
}

func callsZH(perHour float64) string {
	if perHour < 1 {
		return fmt.Sprintf("每天 %.2g 次", perHour*24)
	}
	return fmt.Sprintf("每小时 %.3g 次", perHour)
}
