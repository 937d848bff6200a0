package catalog

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/httpsource"
	"sundry/upstreams/kinds"
)

// endpointSpec is a catalog file.
type endpointSpec struct {
	// Version of the grammar: 1.
	Version int `yaml:"version" required:"true" enum:"1"`
	// Name is the path segment: lower-case letters, digits and hyphens. It is equal to the
	// name of the file.
	Name declare.Text `yaml:"name" required:"true" example:"joke"`
	// Group is images, media, lookups or text, or one of your own.
	Group groupSpec `yaml:"group" required:"true" example:"text"`
	// Title is the name that people read; without one, how the summary begins.
	Title declare.Words `yaml:"title" example:"{en: Joke of the day, zh: 每日笑话}"`
	// Summary says in a sentence what the answer is.
	Summary declare.Words `yaml:"summary" required:"true" example:"{en: A joke., zh: 笑话}"`
	// Keywords are further words by which people look for it, such as its name in pinyin.
	Keywords []string `yaml:"keywords" example:"[xiaohua, humour]"`
	// Defs are programs that all others of the file can call by name, each of
	// them those before it.
	Defs declare.Defs `yaml:"defs" example:"{first_title: '.list[0].title'}"`
	// Params are the query parameters. All others are ignored.
	Params []paramSpec `yaml:"params" example:"[{name: id, type: int, min: 1, max: 9999, example: 7}]"`
	// Cache is the cache rule.
	Cache cacheSpec `yaml:"cache" required:"true" example:"{class: keyed, ttl: 1h}"`
	// Uses names the files of the folder shared whose defs, steps and rules this file uses.
	Uses []declare.Text `yaml:"uses" example:"[oauth]"`
	// Steps can be named under before, as in before: [link].
	Steps []httpsource.StepSpec `yaml:"steps" example:"[{name: link, share: $params.url}]"`
	// Rules can be named under judge, as in judge: [gone].
	Rules []upstreams.RuleSpec `yaml:"rules" example:"[{name: gone, status: [404], is: negative}]"`
	// Defaults are what sources have that do not say otherwise.
	Defaults *defaultsSpec `yaml:"defaults" example:"{timeout: 6s, before: [link]}"`
	// Serves is a jq program on $params, in the file endpoint.yaml of a folder: the sources of
	// another file of the folder are asked where it emits the name of that file.
	Serves *declare.Expr `yaml:"serves" example:"$params.site"`
	// Fields of the data of json forms, in their order: what each of them is. One
	// that is absent from an answer is null.
	Fields fieldSpecs `yaml:"fields" example:"{title: {en: The title., zh: 标题。}}"`
	// Forms of the answer; the first is the default.
	Forms []formSpec `yaml:"forms" required:"true" example:"[{name: json, json: .}, {name: text, text: .joke}]"`
	// Sources of the chain "main", in order.
	Sources []kinds.SourceSpec `yaml:"sources" example:"[{name: first, http: {url: https://api.example.org/joke}}]"`
	// NotFound are jq programs on $params: the message of a negative answer, in each language. One
	// program alone is for both.
	NotFound *notFoundSpec `yaml:"not_found" example:"{en: '\"there is no joke \\($params.id)\"', zh: '\"没有编号为 \\($params.id) 的笑话\"'}"`
	// Chains are further chains by name, for forms that other sources answer.
	Chains map[string]chainSpec `yaml:"chains" example:"{pictures: {sources: [{name: fetch, computed: {}}]}}"`

	// overridden: the operator's settings may have taken programs out of it, and
	// with them all calls of a def.
	overridden bool
}

// partSpec is a file beside endpoint.yaml in the folder of an endpoint, with the sources for
// the value of serves that it is named after; or a file of the folder shared, without sources.
type partSpec struct {
	// Uses names the files of the folder shared whose defs, steps and rules this file uses.
	Uses []declare.Text `yaml:"uses" example:"[oauth]"`
	// Defs are programs that all of the endpoint can call by name.
	Defs declare.Defs `yaml:"defs" example:"{first_title: '.list[0].title'}"`
	// Steps can be named under before, as in before: [link].
	Steps []httpsource.StepSpec `yaml:"steps" example:"[{name: link, share: $params.url}]"`
	// Rules can be named under judge, as in judge: [gone].
	Rules []upstreams.RuleSpec `yaml:"rules" example:"[{name: gone, status: [404], is: negative}]"`
	// Sources that serve the name of the file, in order.
	Sources []kinds.SourceSpec `yaml:"sources" example:"[{name: first, http: {url: https://api.example.org/joke}}]"`
}

// defaultsSpec is what sources have that do not say otherwise.
type defaultsSpec struct {
	// TTL, as of a source.
	TTL declare.Duration `yaml:"ttl" example:"10m"`
	// Timeout, as of a source.
	Timeout declare.Duration `yaml:"timeout" example:"5s"`
	// Before, as of a source.
	Before declare.Named[httpsource.StepSpec] `yaml:"before" example:"[link]"`
	// Vars, as of a source.
	Vars map[string]declare.Expr `yaml:"vars" example:"{id: $vars.link.id}"`
	// Expires, as of a source.
	Expires *declare.Expr `yaml:"expires" example:".valid_until"`
}

// paramSpec declares one query parameter.
type paramSpec struct {
	// Name in the query: lower-case letters, digits and underscores.
	Name declare.Text `yaml:"name" required:"true" example:"page_size"`
	// Type of an input: string (one of enum, or a text), int, digits, or one with rules of
	// its own. Parameters with another role have none.
	Type string `yaml:"type" enum:"string,int,digits,date,color,host,idcard,ip,share,site,url,tracking_number"`
	// Summary says what the parameter is for.
	Summary declare.Words `yaml:"summary" example:"{en: Number of the joke., zh: 笑话编号。}"`
	// Role is absent for input. A form parameter selects the form, callback is the JSONP
	// function, tail a last line of text forms, selector the element of a page that script forms
	// write to. Only input is part of an answer's identity.
	Role string `yaml:"role" enum:"form,callback,tail,selector"`
	// Required: a request without it is refused.
	Required bool `yaml:"required"`
	// Default is the value of an absent parameter; null: absent stays absent.
	Default *declare.Text `yaml:"default" example:"\"1\""`
	// Example is a value that the parameter accepts, for the reference and error messages.
	Example string `yaml:"example" example:"\"7\""`
	// Min is the least value of an int.
	Min *int `yaml:"min" example:"1"`
	// Max is the greatest value of an int.
	Max *int `yaml:"max" example:"100"`
	// Also are ints beyond the bounds that are allowed as well.
	Also []int `yaml:"also" example:"[0]"`
	// Steps round ints up to the next of them, so that values close to each other share an
	// entry of the cache.
	Steps []int `yaml:"steps" example:"[16, 32, 64]"`
	// MinLen is the least number of characters of a text; 0 means 1.
	MinLen int `yaml:"min_len" example:"5"`
	// MaxLen is the greatest number of characters of a text; 0 means 512.
	MaxLen int `yaml:"max_len" example:"40"`
	// Since is the earliest day of a date.
	Since declare.Text `yaml:"since" example:"2006-01-02"`
	// LeadingZero allows digits to begin with 0.
	LeadingZero bool `yaml:"leading_zero"`
	// Enum lists the values of a string.
	Enum []string `yaml:"enum" example:"[pc, mobile]"`
	// Choices are names of all values of an enum, of a form parameter or of a short range of
	// ints, in the order in which pages list them.
	Choices choiceSpecs `yaml:"choices" example:"{pc: {en: Landscape, zh: 横屏}, mobile: {en: Portrait, zh: 竖屏}}"`
	// As translates values: of a form parameter to form names, of an enum to
	// the values in $params.
	As map[string]string `yaml:"as" example:"{url: redirect}"`
	// From "caller" makes the caller's address the default of an ip. The other
	// values make a derived parameter, which cannot be set in a query: "address"
	// is the caller's address, "agent" the system and browser by the User-Agent,
	// "today" the day (01-02) in Asia/Shanghai. All are part of the key.
	From string `yaml:"from" enum:"caller,address,agent,today"`
	// StandsFor names the input that this parameter is an alias of: it sets that
	// input where it is absent.
	StandsFor string `yaml:"stands_for" example:"id"`
	// Device replaces values by the caller's device.
	Device map[string]deviceSpec `yaml:"device" example:"{auto: {phone: mobile, other: pc}}"`
	// Pick replaces values by one of others, at random for every request.
	Pick map[string][]string `yaml:"pick" example:"{any: [cats, dogs]}"`
	// Rest lets a value that is an unescaped URL contain &, up to the next
	// parameter of this endpoint.
	Rest bool `yaml:"rest"`
	// Personal values are hashed in keys and never logged.
	Personal bool `yaml:"personal"`
	// Private: an answer to a request that gives a value is for that caller alone,
	// who knows it; shared caches downstream must not keep it.
	Private bool `yaml:"private"`
}

// deviceSpec replaces a value on phones and on other devices.
type deviceSpec struct {
	// Phone is the value on phones.
	Phone string `yaml:"phone" required:"true" example:"mobile"`
	// Other is the value on other devices.
	Other string `yaml:"other" required:"true" example:"pc"`
}

// cacheSpec is the cache rule.
type cacheSpec struct {
	// TTL is how long an answer is fresh.
	TTL declare.Duration `yaml:"ttl" example:"1h"`
	// Until is when the next edition is published: an answer is fresh until then, whatever
	// the ttl.
	Until declare.Text `yaml:"until" example:"06:00 Asia/Shanghai"`
	// Poll is how often a new edition is asked for once it is due; 0 means 5m.
	Poll declare.Duration `yaml:"poll" example:"5m"`
	// Grace is how long a stale answer is served while it is refreshed in the background.
	Grace declare.Duration `yaml:"grace" example:"1d"`
	// StaleIfError is how long a stale answer is served if the refresh fails.
	StaleIfError declare.Duration `yaml:"stale_if_error" example:"7d"`
	// Negative is how long a negative answer is kept.
	Negative declare.Duration `yaml:"negative" example:"10m"`
	// SoftTimeout is how long a caller waits for a refresh before a stale answer is served
	// instead.
	SoftTimeout declare.Duration `yaml:"soft_timeout" example:"300ms"`
	// FillTimeout bounds a fill: all sources together.
	FillTimeout declare.Duration `yaml:"fill_timeout" example:"15s"`
	// Pause is how long after a failed fill none is tried. It doubles with each failure.
	Pause declare.Duration `yaml:"pause" example:"2s"`
	// PauseMax is the longest pause.
	PauseMax declare.Duration `yaml:"pause_max" example:"1m"`
	// Jitter is the share of the ttl by which it is shortened at random.
	Jitter *float64 `yaml:"jitter" example:"0.1" least:"0" most:"0.5"`
	// Eager is the share of the ttl before its end in which a popular answer is refreshed
	// ahead of time.
	Eager *float64 `yaml:"eager" example:"0.1" least:"0" most:"0.5"`
	// Class is shared (few keys, which all callers ask for), keyed (keys of callers' input)
	// or computed (keys of callers' input, answers computed in this process). A file has to
	// say it.
	Class declare.Text `yaml:"class" enum:"shared,keyed,computed"`
	// Local keeps entries out of Redis.
	Local bool `yaml:"local"`
	// Edition is a jq program on the data: its date, 2006-01-02.
	Edition *declare.Expr `yaml:"edition" example:".date"`
	// Fresh is a jq program on the data: for how many seconds the answer is
	// fresh, where that is less than the ttl, or null. After that it may be
	// served stale like any other answer.
	Fresh *declare.Expr `yaml:"fresh" example:"if .live then 60 else null end"`
	// Target is what the ttl is to keep to: advice and autopilot go by it. Without one, at most
	// 2 % of answers are old; for pools, which bring something else each time, at most 4 calls
	// an hour are made.
	Target *targetSpec `yaml:"target" example:"{old: 2%}"`
	// Warm fills the endpoint at start and whenever it is due for a refresh, and polls for
	// a new edition, whether or not anybody asks for it.
	Warm bool `yaml:"warm"`
	// Off disables caching.
	Off bool `yaml:"off"`
}

// targetSpec is a target of the ttl. Exactly one of Old and Calls is set.
type targetSpec struct {
	// Old is the largest share of answers whose content has changed since it was loaded.
	Old declare.Text `yaml:"old" example:"2%" one:"target"`
	// Calls is the largest number of upstream calls an hour.
	Calls declare.Text `yaml:"calls" example:"100/h" one:"target"`
}

// formSpec is one form of the answer. Exactly one of JSON, Text, Markdown, Script,
// Redirect, Interstitial and Picture is set.
type formSpec struct {
	// Name of the form, which a parameter with the role form selects.
	Name declare.Text `yaml:"name" required:"true" example:"json"`
	// Chain that answers it; without one, main.
	Chain string `yaml:"chain" example:"pictures"`
	// Each emits the candidates of a pool; one is picked for every request.
	Each *declare.Expr `yaml:"each" example:".[]"`
	// JSON is a jq program: the data of the answer.
	JSON *declare.Expr `yaml:"json" example:"." one:"form"`
	// Text is a jq program: the whole text.
	Text *declare.Expr `yaml:"text" example:".joke" one:"form"`
	// Markdown is a jq program: the whole text, in Markdown.
	Markdown *declare.Expr `yaml:"markdown" example:"'\"# \" + .title'" one:"form"`
	// Script is a jq program: the text that a script writes into the page that loads it, into
	// the element that the parameter with the role selector names.
	Script *declare.Expr `yaml:"script" example:".text" one:"form"`
	// Redirect is a jq program: the target of a 302.
	Redirect *declare.Expr `yaml:"redirect" example:".url" one:"form"`
	// Interstitial is a jq program: the target of a page that shows the link before it is
	// followed, for links that callers choose.
	Interstitial *declare.Expr `yaml:"interstitial" example:".url" one:"form"`
	// Through serves the picture that the redirect leads to, instead of a 302.
	Through *throughSpec `yaml:"through" example:"{chain: pictures, ttl: 1d}"`
	// Picture is "source" for the picture that the source returned, else a jq
	// program that emits a data: URI, or null when there is none.
	Picture *declare.Expr `yaml:"picture" example:"source" one:"form"`
}

// content is the program of a form of a kind.
type content struct {
	kind    string
	program *declare.Expr
}

// contents are those that the form has: exactly one, or it is a mistake.
func (s *formSpec) contents() []content {
	all := []content{
		{"json", s.JSON}, {"text", s.Text}, {"markdown", s.Markdown}, {"script", s.Script},
		{"redirect", s.Redirect}, {"interstitial", s.Interstitial}, {"picture", s.Picture},
	}
	return slices.DeleteFunc(all, func(c content) bool { return c.program == nil })
}

// line is that of a part of the form, for a form without a name.
func (s *formSpec) line() int {
	if all := s.contents(); len(all) > 0 {
		return all[0].program.Line
	}
	return s.Name.Line
}

// throughSpec says how the pictures are fetched that a form leads to.
type throughSpec struct {
	// Chain whose sources fetch $params.link.
	Chain string `yaml:"chain" required:"true" example:"pictures"`
	// TTL is how long a picture is fresh.
	TTL declare.Duration `yaml:"ttl" required:"true" example:"1d"`
}

// chainSpec is a further chain.
type chainSpec struct {
	// Like takes the sources of another chain, each followed by Picture or Draw.
	Like string `yaml:"like" example:"main"`
	// Picture is fetched after the data of each source that is taken.
	Picture *httpsource.PictureSpec `yaml:"picture" example:"{url: .cover, hosts: [img.example.org]}"`
	// Draw is digest for a picture that is drawn of the data of each source that is taken.
	Draw string `yaml:"draw" example:"digest" enum:"digest"`
	// Sources of the chain, in order; those that are taken follow them.
	Sources []kinds.SourceSpec `yaml:"sources" example:"[{name: first, http: {url: https://api.example.org/joke}}]"`
}

// Overrides are the operator's settings of an endpoint, from sundry.yaml.
type Overrides struct {
	// Cache overrides single settings of the cache rule, by the names of the file.
	Cache yaml.Node `yaml:"cache" example:"{ttl: 6h}"`
	// Through false turns picture proxies into redirects.
	Through *bool `yaml:"through"`
	// Autopilot lets the service set the ttl by itself, so that the target is kept to, within
	// these bounds. Not for endpoints with a timetable, nor for those that are not cached or
	// computed locally.
	Autopilot yaml.Node `yaml:"autopilot" example:"{min: 1h, max: 48h}"`
	// Off leaves the endpoint out, as if its file did not exist.
	Off bool `yaml:"off" example:"true"`
	// Line of the endpoint in ConfigFile; 0 where that is not a file.
	Line int `yaml:"-"`
}

// autopilotSpec declares between which values the autopilot may set the ttl.
type autopilotSpec struct {
	// Min is the shortest ttl, at least 1s. The ttl of the files is not below it.
	Min declare.Duration `yaml:"min" required:"true" example:"1h"`
	// Max is the longest ttl. The ttl of the files is not above it.
	Max declare.Duration `yaml:"max" required:"true" example:"48h"`
}

// KeyShapes implements declare.Keyed.
func (Overrides) KeyShapes() []declare.KeyShape {
	return []declare.KeyShape{{Name: "cache", Value: cacheSpec{}}, {Name: "autopilot", Value: autopilotSpec{}}}
}
