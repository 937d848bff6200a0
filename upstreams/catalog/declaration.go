package catalog

import (
	"go.yaml.in/yaml/v4"

	"sundry/upstreams/declare"
	"sundry/upstreams/httpsource"
	"sundry/upstreams/kinds"
)

// grammar is the version of the catalog's grammar that this program reads.
const grammar = 1

// endpointSpec is a catalog file.
type endpointSpec struct {
	// Version of the grammar: 1.
	Version int `yaml:"version"`
	// Name is the path segment; equal to the file's name.
	Name declare.Text `yaml:"name"`
	// Group is images, media, lookups or text, or one of the operator's own.
	Group   groupSpec `yaml:"group"`
	Summary bilingual `yaml:"summary"`
	// Defs are programs that all others of the file can call by name, each of
	// them those before it.
	Defs   declare.Defs `yaml:"defs"`
	Params []paramSpec  `yaml:"params"`
	Cache  cacheSpec    `yaml:"cache"`
	// Fields of the data of json forms, in their order: what each of them is. One
	// that is absent from an answer is null.
	Fields fieldSpecs `yaml:"fields"`
	// Forms of the answer; the first is the default.
	Forms []formSpec `yaml:"forms"`
	// Sources of the chain "main", in order.
	Sources []kinds.SourceSpec `yaml:"sources"`
	// NotFound is a jq program on $params: the message of a negative answer.
	NotFound *declare.Expr `yaml:"not_found"`
	// Chains are further chains by name, for forms that other sources answer.
	Chains map[string]chainSpec `yaml:"chains"`

	// overridden: the operator's settings may have taken programs out of it, and
	// with them all calls of a def.
	overridden bool
}

type bilingual struct {
	EN string `yaml:"en"`
	ZH string `yaml:"zh"`
}

// paramSpec declares one query parameter.
type paramSpec struct {
	Name declare.Text `yaml:"name"`
	// Type is one of the table in parsers.go.
	Type    string    `yaml:"type"`
	Summary bilingual `yaml:"summary"`
	// Role is "" for input, "form" for a parameter that selects the form,
	// "callback" for the JSONP function, "tail" for a last line of text forms,
	// "selector" for the element of a page that script forms write to. Only input
	// is part of an answer's identity.
	Role     string `yaml:"role"`
	Required bool   `yaml:"required"`
	// Default is the value of an absent parameter; null: absent stays absent.
	Default *declare.Text `yaml:"default"`
	Example string        `yaml:"example"`
	// Min and Max bound an int.
	Min *int `yaml:"min"`
	Max *int `yaml:"max"`
	// Also are ints beyond the bounds that are allowed as well.
	Also []int `yaml:"also"`
	// MinLen and MaxLen bound a text, in characters; 0 means 1 and 512.
	MinLen int `yaml:"min_len"`
	MaxLen int `yaml:"max_len"`
	// Since is the earliest day of a date, 2006-01-02. The latest is today in China.
	Since declare.Text `yaml:"since"`
	// LeadingZero allows digits to begin with 0.
	LeadingZero bool `yaml:"leading_zero"`
	// Enum lists the values of a string.
	Enum []string `yaml:"enum"`
	// As translates values: of a form parameter to form names, of an enum to
	// the values in $params.
	As map[string]string `yaml:"as"`
	// From "caller" makes the caller's address the default of an ip. The other
	// values make a derived parameter, which cannot be set in a query: "address"
	// is the caller's address, "agent" the system and browser by the User-Agent,
	// "today" the day (01-02) in Asia/Shanghai. All are part of the key.
	From string `yaml:"from"`
	// StandsFor names the input that this parameter is an alias of: it sets that
	// input where it is absent.
	StandsFor string `yaml:"stands_for"`
	// Device replaces values by the caller's device.
	Device map[string]deviceSpec `yaml:"device"`
	// Pick replaces values by one of others, at random for every request.
	Pick map[string][]string `yaml:"pick"`
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
	Phone string `yaml:"phone"`
	Other string `yaml:"other"`
}

// cacheSpec is the cache rule; see cache.Policy for the meaning of each.
type cacheSpec struct {
	TTL          declare.Duration `yaml:"ttl"`
	Until        declare.Text     `yaml:"until"`
	Poll         declare.Duration `yaml:"poll"`
	Grace        declare.Duration `yaml:"grace"`
	StaleIfError declare.Duration `yaml:"stale_if_error"`
	Negative     declare.Duration `yaml:"negative"`
	SoftTimeout  declare.Duration `yaml:"soft_timeout"`
	FillTimeout  declare.Duration `yaml:"fill_timeout"`
	Pause        declare.Duration `yaml:"pause"`
	PauseMax     declare.Duration `yaml:"pause_max"`
	Jitter       *float64         `yaml:"jitter"`
	Eager        *float64         `yaml:"eager"`
	// Class is shared (few keys), keyed (keys of callers' input) or computed
	// (keys of callers' input, answers computed in this process).
	Class declare.Text `yaml:"class"`
	// Local keeps entries out of Redis.
	Local bool `yaml:"local"`
	// Edition is a jq program on the data: its date, 2006-01-02.
	Edition *declare.Expr `yaml:"edition"`
	// Fresh is a jq program on the data: for how many seconds the answer is
	// fresh, where that is less than the ttl, or null. After that it may be
	// served stale like any other answer.
	Fresh *declare.Expr `yaml:"fresh"`
	// Warm fills the endpoint at start and before each publication.
	Warm bool `yaml:"warm"`
	// Off disables caching.
	Off bool `yaml:"off"`
}

// formSpec is one form of the answer. Exactly one of JSON, Text, Markdown, Script,
// Redirect, Interstitial and Picture is set.
type formSpec struct {
	Name declare.Text `yaml:"name"`
	// Chain that answers it; "" means main.
	Chain string `yaml:"chain"`
	// Each emits the candidates of a pool; one is picked for every request.
	Each *declare.Expr `yaml:"each"`
	// JSON is the envelope's data.
	JSON *declare.Expr `yaml:"json"`
	// Order says in which order the fields of JSON come, as in {id, author:
	// {name}, list: [{url}]}. Without it, they come as the form's program and
	// those of the sources write them.
	Order *declare.Expr `yaml:"order"`
	// Text is the whole text.
	Text *declare.Expr `yaml:"text"`
	// Markdown is the whole text, in Markdown.
	Markdown *declare.Expr `yaml:"markdown"`
	// Script is the text that a script writes into the page that loads it, as the
	// text of the element that the parameter of role selector names.
	Script *declare.Expr `yaml:"script"`
	// Redirect is the target of a 302.
	Redirect *declare.Expr `yaml:"redirect"`
	// Interstitial is the target of a page that shows the link before it is
	// followed: for links that callers choose.
	Interstitial *declare.Expr `yaml:"interstitial"`
	// Through serves the picture that the redirect leads to, instead of a 302.
	Through *throughSpec `yaml:"through"`
	// Picture is "source" for the picture that the source returned, else a jq
	// program that emits a data: URI, or null when there is none.
	Picture *declare.Expr `yaml:"picture"`
}

// throughSpec says how the pictures are fetched that a form leads to.
type throughSpec struct {
	// Chain whose sources fetch $params.link.
	Chain string `yaml:"chain"`
	// TTL is how long a picture is fresh.
	TTL declare.Duration `yaml:"ttl"`
}

// chainSpec is a further chain.
type chainSpec struct {
	// Like takes the sources of another chain, each followed by Picture.
	Like string `yaml:"like"`
	// Picture is fetched after the data of each source.
	Picture *httpsource.PictureSpec `yaml:"picture"`
	Sources []kinds.SourceSpec      `yaml:"sources"`
}

// Overrides are the operator's settings of an endpoint, from sundry.yaml.
type Overrides struct {
	// Cache overrides single settings of the cache rule, by the names of the file.
	Cache yaml.Node `yaml:"cache"`
	// Through false turns picture proxies into redirects.
	Through *bool `yaml:"through"`
}

// KeyShapes implements declare.Keyed.
func (Overrides) KeyShapes() []declare.KeyShape {
	return []declare.KeyShape{{Name: "cache", Value: cacheSpec{}}}
}
