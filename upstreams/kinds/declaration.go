package kinds

import (
	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/httpsource"
)

// SourceSpec is a source as the catalog declares it. It has exactly one section of a
// kind.
type SourceSpec struct {
	// Name of the source, in logs, metrics and the header Sundry-Source.
	Name declare.Text `yaml:"name" required:"true" example:"kuaidi100"`
	// Summary says what to know about it.
	Summary string `yaml:"summary" example:"Best for mainland China; IPv4."`
	// Timeout bounds one attempt; 0 means 3 s.
	Timeout declare.Duration `yaml:"timeout" example:"5s"`
	// Retry is how often a call is repeated if the host is unavailable, 0 to 2.
	Retry int `yaml:"retry" least:"0" most:"2" example:"1"`
	// TTL shortens how long this source's answers are fresh; 0: it does not.
	TTL declare.Duration `yaml:"ttl" example:"10m"`
	// Negative is what a negative answer does: "stop" (default) ends the chain,
	// "next" asks the next source.
	Negative string `yaml:"negative" enum:"stop,next"`
	// Optional is a source whose failure does not outweigh the answers of the others:
	// if those are all negative, so is the chain's.
	Optional bool `yaml:"optional"`
	// LastResort is a source that is asked only if there is no stale copy to serve.
	// Its answer is cached briefly. Such sources come last.
	LastResort bool `yaml:"last_resort"`
	// After is a source that is asked only after a failure or after a negative answer
	// of all sources before it together. With negative, it is not asked if there is a
	// stale copy to serve.
	After upstreams.After `yaml:"after" enum:"failure,negative"`
	// When is a jq condition on $params, without which the source is not asked.
	When *declare.Expr `yaml:"when" example:"$params.id != null"`
	// Canary is an input that cannot exist, as query parameters of the endpoint. A source
	// that answers it as it answers a real input answers the same to everything: the
	// doctor asks for both.
	Canary map[string]declare.Text `yaml:"canary" example:"{id: \"0\"}"`
	// Secrets are placeholders, by name, with the environment variables that they are
	// filled from. A source is left out if one of them is not set.
	Secrets map[string]declare.Text `yaml:"secrets" example:"{key: SUNDRY_KUAIDI100_KEY}"`
	// Options are placeholders like secrets, but the source does without: one that is
	// not set is "".
	Options map[string]declare.Text `yaml:"options" example:"{cookie: SUNDRY_BILIBILI_COOKIE}"`
	// Rate is how many attempts are made in a length of time, such as 45/1m: what the
	// service allows. Above it the source is skipped. Sources of the same host with
	// the same rate share it, and with Redis all instances. Refreshes leave a quarter
	// of it to callers without a copy. An attempt counts once, with all its requests:
	// those of steps, redirects, and one that is sent again because its connection ended.
	Rate declare.Rate `yaml:"rate" example:"45/1m"`
	// Before are requests made before the source's own, in order: steps, or names of those under
	// steps.
	Before declare.Named[httpsource.StepSpec] `yaml:"before" example:"[{name: token, http: {url: https://api.example.org/token}, keep: .token, for: 1h}]"`
	// Vars are placeholders computed by jq from $params, $now, $secrets and the
	// results of the steps.
	Vars map[string]declare.Expr `yaml:"vars" example:"{sign: ($params.id + $secrets.key) | md5}"`
	// Judge rules come before the default table. The first that matches decides.
	// One may be the name of a rule under rules.
	Judge declare.Named[upstreams.RuleSpec] `yaml:"judge" example:"[{if: .code != 0, is: unavailable}]"`
	// Map is a jq program that makes the data of the decoded reply. Without one, the reply
	// is the data.
	Map *declare.Expr `yaml:"map" example:"'{joke: .data.text}'"`
	// Expires is a jq program on the data that emits when it expires, in Unix seconds,
	// or null.
	Expires *declare.Expr `yaml:"expires" example:".valid_until"`
	// Empty is when lists that must have items may have none, because there are none.
	Empty *EmptySpec `yaml:"empty" example:"{if: .page > .pages, because: the page is behind the last one}"`
	// Picture is fetched after the data, from an address in the data.
	Picture *httpsource.PictureSpec `yaml:"picture" example:"{url: .cover, hosts: [img.example.org]}"`
	// Draw is digest for a picture that is drawn of the data, a digest of news with the
	// fields date, weekday, lunar, news and tip.
	Draw string `yaml:"draw" example:"digest" enum:"digest"`

	// Sections has the section of the source's kind, by the name of the kind.
	Sections map[string]declare.Section `yaml:",inline"`
}

// EmptySpec says when there is nothing to answer with.
type EmptySpec struct {
	// If is a jq condition on the decoded reply.
	If *declare.Expr `yaml:"if" required:"true" example:".page > .pages"`
	// Because says why there is nothing.
	Because string `yaml:"because" required:"true" example:"the page is behind the last one"`
}
