package autopilot

import (
	"fmt"
	"time"

	"sundry/cache/advisor"
	"sundry/cache/whatif"
	"sundry/proxy/live"
)

func whyByHand(until time.Time) advisor.Reason {
	return advisor.Reason{
		EN: fmt.Sprintf("An operator has changed the cache settings: they are left alone until %s.", clock(until)),
		ZH: fmt.Sprintf("运维人员调整过缓存设置，%s 之前不作改动。", clock(until)),
	}
}

func whyOutOfBounds(r *Rule) advisor.Reason {
	return advisor.Reason{
		EN: fmt.Sprintf("The TTL of %s, which an operator has set, is not between %s and %s.", whatif.Duration(r.Policy.TTL), whatif.Duration(r.Min), whatif.Duration(r.Max)),
		ZH: fmt.Sprintf("运维人员设定的 TTL %s 不在 %s 与 %s 之间。", whatif.Duration(r.Policy.TTL), whatif.Duration(r.Min), whatif.Duration(r.Max)),
	}
}

func whyPaused(t *live.Trial) advisor.Reason {
	return advisor.Reason{
		EN: fmt.Sprintf("The step from %s to %s was reverted, the %s in a row: the next one is possible at %s.", whatif.Duration(t.From), whatif.Duration(t.To), ordinal(t.Reverts), clock(t.Until)),
		ZH: fmt.Sprintf("由 %s 到 %s 的调整已撤回（连续第 %d 次），%s 之后才会再试。", whatif.Duration(t.From), whatif.Duration(t.To), t.Reverts, clock(t.Until)),
	}
}

func whyTrying(t *live.Trial) advisor.Reason {
	return advisor.Reason{
		EN: fmt.Sprintf("What the step from %s to %s leads to is not known yet.", whatif.Duration(t.From), whatif.Duration(t.To)),
		ZH: fmt.Sprintf("由 %s 到 %s 的调整效果尚不清楚。", whatif.Duration(t.From), whatif.Duration(t.To)),
	}
}

func whyObserving() advisor.Reason {
	return advisor.Reason{EN: "What the present rule leads to is not known yet.", ZH: "现行规则的效果尚不清楚。"}
}

func whyDoubtful(why advisor.Reason) advisor.Reason {
	return advisor.Reason{
		EN: "Predictions do not hold for the present rule: " + why.EN,
		ZH: "对现行规则的预测与实际不符：" + why.ZH,
	}
}

func whyNotSure(why advisor.Reason, r *Rule) advisor.Reason {
	return advisor.Reason{
		EN: fmt.Sprintf("A change is not worth it, or not sure enough, within %s and %s: %s", whatif.Duration(r.Min), whatif.Duration(r.Max), why.EN),
		ZH: fmt.Sprintf("在 %s 与 %s 之间，调整得益不大或把握不足：%s", whatif.Duration(r.Min), whatif.Duration(r.Max), why.ZH),
	}
}

func whyStepping(r *Rule, ttl time.Duration, o *advisor.Outcome) advisor.Reason {
	p := &r.Advice.Present
	return advisor.Reason{
		EN: fmt.Sprintf("From %s to %s: %.3g calls an hour are predicted instead of %.3g, and %.2g %% old answers instead of %.2g %%. %s",
			whatif.Duration(p.TTL), whatif.Duration(ttl), o.CallsPerHour, p.CallsPerHour, 100*o.OldShare, 100*p.OldShare, r.Advice.Reason.EN),
		ZH: fmt.Sprintf("由 %s 改为 %s：预计每小时回源由 %.3g 次变为 %.3g 次，旧内容由 %.2g %% 变为 %.2g %%。%s",
			whatif.Duration(p.TTL), whatif.Duration(ttl), p.CallsPerHour, o.CallsPerHour, 100*p.OldShare, 100*o.OldShare, r.Advice.Reason.ZH),
	}
}

func whyMoreCalls(got, want float64) advisor.Reason {
	return advisor.Reason{
		EN: fmt.Sprintf("there were %.3g calls an hour, and %.3g were predicted.", got, want),
		ZH: fmt.Sprintf("每小时回源 %.3g 次，预测为 %.3g 次。", got, want),
	}
}

func whyMoreOld(got, want float64) advisor.Reason {
	return advisor.Reason{
		EN: fmt.Sprintf("%.2g %% of the answers were old, and at most %.2g %% were predicted.", 100*got, 100*want),
		ZH: fmt.Sprintf("旧内容占 %.2g %%，预测至多 %.2g %%。", 100*got, 100*want),
	}
}

// whyReverted is the reason of a step back, with what it takes back.
func whyReverted(t *live.Trial, why advisor.Reason) advisor.Reason {
	return advisor.Reason{
		EN: fmt.Sprintf("The step from %s to %s is reverted: %s", whatif.Duration(t.From), whatif.Duration(t.To), why.EN),
		ZH: fmt.Sprintf("撤回由 %s 到 %s 的调整：%s", whatif.Duration(t.From), whatif.Duration(t.To), why.ZH),
	}
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

func ordinal(n int) string {
	switch n {
	case 1:
		return "first"
	case 2:
		return "second"
	case 3:
		return "third"
	}
	return fmt.Sprintf("%dth", n)
}
