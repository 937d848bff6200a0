package pages

import (
	"strconv"

	"sundry/metrics/words"
	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
)

// limits say how often an endpoint may be called, and for how long a caller may have to wait;
// nil: there is nothing to say.
func (s *Set) limits(l i18n.Language, e *catalog.Endpoint) (all []string) {
	if s.cfg.Rate > 0 {
		all = append(all, l.Of(words.Sayf(
			"Each address (IPv6: each /64) may call all endpoints %s times a second in the long run, and %d times at once.",
			"每个 IP（IPv6 按 /64 网段）调用全部接口，长期平均每秒不超过 %s 次，一次最多连发 %d 次。",
			strconv.FormatFloat(s.cfg.Rate, 'f', -1, 64), s.cfg.Burst)))
	}
	if apidoc.AsksOthers(e) {
		all = append(all, l.Of(words.Sayf(
			"The sources have %s in all to answer; then the last copy is served, or an error.",
			"所有数据源合计最多等待 %s，仍无结果则返回最后一次的响应或报错。", span(e.Policy.FillTimeout))))
	}
	return all
}
