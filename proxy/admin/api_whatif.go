package admin

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"sundry/cache"
	"sundry/cache/advisor"
	"sundry/cache/whatif"
	"sundry/upstreams/catalog"
	"sundry/upstreams/words"
)

// whatIfView is what other rules would do with requests such as those that were seen.
// Times are in seconds.
type whatIfView struct {
	Endpoint string `json:"endpoint"`
	// Simulated is the time that was simulated; Requests in it, for so many Keys.
	Simulated float64 `json:"simulated_s"`
	Requests  uint64  `json:"requests"`
	Keys      int     `json:"keys"`
	// Changes says how the content is taken to change, and Fill how long a fill takes.
	Changes string           `json:"changes"`
	Fill    float64          `json:"fill_s"`
	Rules   []whatIfRuleView `json:"rules"` // by rising TTL
}

// whatIfRuleView is what one rule would do.
type whatIfRuleView struct {
	Present      bool     `json:"present,omitempty"`
	Recommended  bool     `json:"recommended,omitempty"`
	TTLS         float64  `json:"ttl_s"`
	GraceS       float64  `json:"grace_s"`
	CallsPerHour float64  `json:"calls_per_hour"`
	HitRatio     float64  `json:"hit_ratio"`
	OldShare     *float64 `json:"old_share,omitempty"` // nil: not known
	MeanAgeS     float64  `json:"mean_age_s"`
	P99AgeS      float64  `json:"p99_age_s"`
}

const (
	// whatIfTime bounds what a simulation takes of one core.
	whatIfTime = time.Second
	// whatIfEvents bounds it whatever the core does, and with that the keys, each of
	// which takes some 100 bytes for each rule; whatIfMemory is more than they can take.
	whatIfEvents = 150_000
	whatIfMemory = 512 << 20
	// whatIfFill is how long a fill is taken to last.
	whatIfFill = 200 * time.Millisecond
	// Steps of the ladder of TTLs around the present one.
	whatIfBelow, whatIfAbove = 3, 3
	// mostAsked bounds the TTLs of a query.
	mostAsked = 8
	// whatIfLives is how many lives of the longest rule are simulated, within bounds.
	whatIfLives = 20
	leastSpan   = 2 * 24 * time.Hour
	mostSpan    = 180 * 24 * time.Hour
)

// whatIf simulates candidate rules with requests such as those that were seen: those of
// the query (ttl, which may be repeated, and grace), or a few around the present one. One
// runs at a time.
func (a *api) whatIf(r *http.Request) (any, error) {
	e, err := a.cachedEndpoint(r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	asked, err := askedRules(&e.Policy, r.URL.Query())
	if err != nil {
		return nil, err
	}
	select {
	case a.simulating <- struct{}{}:
		defer func() { <-a.simulating }()
	default:
		return nil, refuse(http.StatusServiceUnavailable, words.Say("another simulation is running; try again in a second", "另一次模拟正在进行，请一秒后再试"))
	}
	advice := a.Advise(e)
	rules := candidates(&e.Policy, asked, &advice)
	pattern := patternOf(rules, &advice)
	pattern.Time = whatIfTime
	return simulate(r.Context(), e, rules, &advice, pattern)
}

// cachedEndpoint is an endpoint with a cache rule.
func (a *api) cachedEndpoint(name string) (*catalog.Endpoint, error) {
	e, ok := a.Catalog().Get(name)
	switch {
	case !ok:
		return nil, noEndpoint(name)
	case !e.Policy.Stores():
		return nil, badRequest("%s is not cached, so there is nothing to advise", "%s 不缓存，因此没有可以建议的", e.Name)
	}
	return e, nil
}

// askedRules are the policy with the TTLs and the grace of a query; nil: it has none.
func askedRules(p *cache.Policy, query url.Values) ([]cache.Policy, error) {
	ttls := query["ttl"]
	if len(ttls) > mostAsked {
		return nil, badRequest("%d TTLs: expected at most %d", "ttl 有 %d 个，最多 %d 个", len(ttls), mostAsked)
	}
	if len(ttls) == 0 {
		ttls = []string{""}
	}
	var rules []cache.Policy
	for _, ttl := range ttls {
		rule, err := askedPolicy(p, url.Values{"ttl": {ttl}, "grace": query["grace"]})
		if err != nil {
			return nil, err
		}
		if rule != nil {
			rules = append(rules, *rule)
		}
	}
	return rules, nil
}

// candidates are the present rule, the recommended one, and those that were asked for, or
// else some around the present one, by rising TTL.
func candidates(present *cache.Policy, asked []cache.Policy, advice *advisor.Advice) []cache.Policy {
	with := func(ttl time.Duration) cache.Policy {
		p := *present
		p.TTL = ttl
		return p
	}
	rules := append([]cache.Policy{*present}, asked...)
	if recommended := advice.Recommended.TTL; advice.Verdict == advisor.Set {
		rules = append(rules, with(recommended))
	}
	if len(asked) == 0 && present.TTL > 0 {
		for _, ttl := range whatif.Ladder(present.TTL, whatIfBelow, whatIfAbove) {
			rules = append(rules, with(ttl))
		}
	}
	slices.SortStableFunc(rules, compareRules)
	return slices.CompactFunc(rules, func(p, q cache.Policy) bool { return compareRules(p, q) == 0 })
}

func compareRules(p, q cache.Policy) int {
	return cmp.Or(cmp.Compare(p.TTL, q.TTL), cmp.Compare(p.Grace, q.Grace))
}

// simulate replays what was seen under the rules.
func simulate(ctx context.Context, e *catalog.Endpoint, rules []cache.Policy, advice *advisor.Advice, p *whatif.Pattern) (*whatIfView, error) {
	changes := advice.Changes()
	sim, err := p.Replay(ctx, whatif.Config{
		Rules: rules, Changes: changes, Latency: whatIfFill, From: time.Now(), Memory: whatif.NewMemory(whatIfMemory),
	})
	switch {
	case errors.Is(err, whatif.ErrNoLoads):
		return nil, refuse(http.StatusConflict, words.Say("no requests have been seen yet that could be simulated", "还没有见过可以用来模拟的请求"))
	case err != nil:
		return nil, err
	case sim.Requests() == 0:
		return nil, refuse(http.StatusServiceUnavailable, words.Say("this instance is too busy to simulate much in a second; try again later", "本实例太忙，一秒之内模拟不了多少，请稍后再试"))
	}
	v := &whatIfView{
		Endpoint: e.Name, Simulated: sim.Span().Seconds(), Requests: sim.Requests(), Keys: sim.Keys(), Changes: changes.String(), Fill: whatIfFill.Seconds(), Rules: []whatIfRuleView{},
	}
	outcomes := sim.Outcomes()
	for i := range outcomes {
		v.Rules = append(v.Rules, newWhatIfRuleView(&outcomes[i], &e.Policy, advice))
	}
	return v, nil
}

// patternOf is the requests of an advice, for long enough to see what the longest rule
// does.
func patternOf(rules []cache.Policy, advice *advisor.Advice) *whatif.Pattern {
	p := &whatif.Pattern{Events: whatIfEvents}
	for _, l := range advice.Prediction.Loads {
		p.Loads = append(p.Loads, whatif.Load{Keys: l.Keys, Rate: l.Rate})
	}
	longest := rules[len(rules)-1].TTL
	p.Span = min(mostSpan, max(leastSpan, whatIfLives*longest, whatIfLives*advice.Change.Interval))
	return p
}

func newWhatIfRuleView(o *whatif.Outcome, present *cache.Policy, advice *advisor.Advice) whatIfRuleView {
	v := whatIfRuleView{
		Present: compareRules(*o.Rule, *present) == 0, TTLS: o.Rule.TTL.Seconds(), GraceS: o.Rule.Grace.Seconds(),
		Recommended:  advice.Verdict == advisor.Set && o.Rule.TTL == advice.Recommended.TTL && o.Rule.Grace == advice.Recommended.Grace,
		CallsPerHour: o.CallsPerHour, HitRatio: o.HitRatio(), MeanAgeS: o.MeanAge.Seconds(), P99AgeS: o.P99Age.Seconds(),
	}
	if o.OlderKnown {
		v.OldShare = &o.Older
	}
	return v
}
