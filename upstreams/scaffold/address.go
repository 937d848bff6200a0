package scaffold

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sundry/metrics/words"
	"sundry/upstreams/lib/redact"
)

// Address is one with what was found out about its parts.
type Address struct {
	url    *url.URL // its path may have {placeholders}
	path   string
	params []*param
	fixed  [][2]string // query parameters that stay as they are
	secret []*param
	sends  *body // nil: it is a GET
	name   string
}

// param is a part of an address that callers choose, or a secret.
type param struct {
	name     string // of the endpoint's parameter, and of the placeholder
	query    string // in the query of the address; "" elsewhere
	inBody   bool   // of a POST; else, without a query, it is in the path
	value    string
	variable string // of a secret
}

var (
	endpointName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)
	placeholder  = regexp.MustCompile(`\{([a-z][a-z0-9_]*)\}`)
	// secretName matches names of query parameters whose values are keys: the long words
	// at the end of any name, as in accessToken, the short ones alone or behind another word.
	secretName = regexp.MustCompile(`(?i)(token|secret|signature|password|passwd|credential|(api|app|access|secret|private|public|user|auth|license|client|subscription)key|app_?id|app_?code)$|^(.*[-_])?(key|sign|auth|session|sid|ak|sk|pwd|jwt|bearer)$|(?-i:[a-z](Key|Sign|Auth|Session))$`)
	// constantName matches those that choose how the answer is written.
	constantName = regexp.MustCompile(`(?i)^(format|output|fmt|callback|cb|jsonp|encoding|charset|v|ver|version|dataType|alt)$`)
	constant     = regexp.MustCompile(`(?i)^(json|jsonp|xml|utf-?8|text|html)$`)
)

// ReadAddress reads an address and the values of parameters: those of its
// placeholders, as in https://api.example.org/v1/{id}, and further ones of its query. The name is that of the endpoint.
func ReadAddress(name, text string, values map[string]string) (*Address, error) {
	if !endpointName.MatchString(name) {
		return nil, words.Errorf("name %q: expected lower-case letters, digits and hyphens, for example joke", "名称%q：应由小写字母、数字和连字符组成，例如 joke", name)
	}
	u, err := parse(text)
	if err != nil {
		return nil, words.Errorf("--url %q: %s", "--url %q：%s", text, words.Failure(err))
	}
	a := &Address{url: u, path: u.Path, name: name}
	rest := map[string]string{}
	maps.Copy(rest, values)
	for _, m := range placeholder.FindAllStringSubmatch(u.Path, -1) {
		value, given := rest[m[1]]
		if !given || value == "" {
			return nil, missing(m[1])
		}
		delete(rest, m[1])
		if secretName.MatchString(m[1]) {
			a.secret = append(a.secret, a.newSecret(m[1], value))
			continue
		}
		a.params = append(a.params, &param{name: a.free(m[1]), value: value})
		a.path = strings.ReplaceAll(a.path, m[0], "{"+a.params[len(a.params)-1].name+"}")
	}
	a.findKeys()
	if err := a.readQuery(u.RawQuery, rest); err != nil {
		return nil, err
	}
	return a, nil
}

// likeKey matches a part of a path that is most likely a key: long, with letters and digits
// between each other.
var likeKey = regexp.MustCompile(`^[A-Za-z0-9_-]*([0-9][A-Za-z_-]+[0-9]|[A-Za-z][0-9_-]+[A-Za-z])[A-Za-z0-9_-]*$`)

const leastKey = 24

// findKeys makes secrets of the parts of the path that are most likely keys.
func (a *Address) findKeys() {
	parts := strings.Split(a.path, "/")
	for i, part := range parts {
		if len(part) >= leastKey && likeKey.MatchString(part) {
			p := a.newSecret("path_key", part)
			a.secret = append(a.secret, p)
			parts[i] = "{" + p.name + "}"
		}
	}
	a.path = strings.Join(parts, "/")
}

// newSecret is a secret with a placeholder that no other has.
func (a *Address) newSecret(name, value string) *param {
	key := a.free(snake(name))
	for slices.ContainsFunc(a.secret, func(p *param) bool { return p.name == key }) {
		key += "_of"
	}
	return &param{name: key, value: value, variable: "SUNDRY_" + strings.ToUpper(strings.ReplaceAll(a.name, "-", "_")+"_"+key)}
}

// missing is the mistake of a placeholder without a value.
func missing(name string) error {
	return words.Errorf("--url: {%s} has no value; expected one, for example --param %s=7", "--url：{%s} 没有值；应有一个，例如 --param %s=7", name, name)
}

// readQuery sorts the parameters of the query into those of callers, secrets, and
// those that stay as they are.
func (a *Address) readQuery(raw string, more map[string]string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return words.Errorf("--url: %s", "--url：%s", errAddress.Words())
	}
	for name := range query { // ?q={word} with --param word=x
		if m := placeholder.FindStringSubmatch(query.Get(name)); m != nil {
			if more[m[1]] == "" {
				return missing(m[1])
			}
			query.Set(name, more[m[1]])
			delete(more, m[1])
		}
	}
	for name, value := range more {
		query.Set(name, value)
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch value := query.Get(name); {
		case secretName.MatchString(name) && value != "":
			p := a.newSecret(name, value)
			p.query = name
			a.secret = append(a.secret, p)
		case constantName.MatchString(name), constant.MatchString(value), value == "":
			a.fixed = append(a.fixed, [2]string{name, value})
		default:
			a.params = append(a.params, &param{name: a.free(snake(name)), query: name, value: value})
		}
	}
	return nil
}

// free is a name that no other parameter has.
func (a *Address) free(name string) string {
	taken := []string{"type", "callback", "lang"} // of the endpoint itself
	for _, p := range a.params {
		taken = append(taken, p.name)
	}
	for slices.Contains(taken, name) {
		name += "_of"
	}
	return name
}

// URL is the address to ask.
func (a *Address) URL() string { return a.with(func(p *param) string { return p.value }) }

// sent is the address as the recorded exchange has it, without secrets.
func (a *Address) sent() string { return a.with((*param).recorded) }

// recorded is the value as the recorded exchange has it.
func (p *param) recorded() string {
	if p.variable != "" {
		return "replay"
	}
	return p.value
}

func (a *Address) with(value func(*param) string) string {
	path, query := a.path, url.Values{}
	for _, p := range slices.Concat(a.params, a.secret) {
		switch {
		case p.inBody:
		case p.query == "":
			path = strings.ReplaceAll(path, "{"+p.name+"}", url.PathEscape(value(p)))
		default:
			query.Set(p.query, value(p))
		}
	}
	for _, f := range a.fixed {
		query.Set(f[0], f[1])
	}
	base := a.url.Scheme + "://" + a.url.Host + path
	if len(query) == 0 {
		return base
	}
	return base + "?" + query.Encode()
}

// redact takes the secrets out of a reply.
func (a *Address) redact(body []byte) []byte {
	if !utf8.Valid(body) {
		return body // a picture has no texts
	}
	var hidden []string
	for _, p := range a.secret {
		hidden = append(hidden, p.value)
	}
	return []byte(redact.New(hidden...).Text(string(body)))
}

// describeVariables is the part of data/variables.yaml about the secrets; nil for
// none.
func (a *Address) describeVariables() ([]byte, error) {
	var all []byte
	for _, p := range a.secret {
		one, err := written("variable", struct{ Variable, Scheme, Host string }{p.variable, a.url.Scheme, a.url.Host})
		if err != nil {
			return nil, err
		}
		all = append(all, one...)
	}
	return all, nil
}

// Declaration is the parameter in a catalog file.
func (p *param) Declaration() string {
	value := quote(p.value)
	kind := "type: " + p.kind()
	switch p.kind() {
	case "string":
		kind += ", max_len: 256"
	case "int":
		n, _ := strconv.Atoi(p.value)
		kind += ", min: 0, max: " + strconv.Itoa(max(1000, 10*n))
	case "digits":
		kind += ", min_len: 1, max_len: 30"
	}
	en, zh := describe(p.name)
	return fmt.Sprintf("{name: %s, %s, default: %s, example: %s, summary: {en: %s, zh: %s}}", p.name, kind, value, value, quote(en), quote(zh))
}

var digits = regexp.MustCompile(`^[1-9][0-9]{0,29}$`)

// kind is the type of the parameter, by its value.
func (p *param) kind() string {
	n, notWhole := strconv.Atoi(p.value)
	_, noIP := netip.ParseAddr(p.value)
	switch {
	case notWhole == nil && p.value == strconv.Itoa(n) && n >= 0 && n <= 1_000_000:
		return "int"
	case digits.MatchString(p.value):
		return "digits"
	case noIP == nil:
		return "ip"
	}
	return "string"
}

// Query is the query of a call of the endpoint that asks for the same.
func (a *Address) Query() string {
	query := url.Values{}
	for _, p := range a.params {
		query.Set(p.name, p.value)
	}
	return query.Encode()
}
