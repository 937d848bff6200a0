package web

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"sundry/cache/clients"
)

// maxVary is the number of fields by which a stored response may vary.
const maxVary = 20

// These say why a response cannot be selected by its Vary.
var (
	errVaryAny   = errors.New("a member of Vary is *")
	errVaryToken = errors.New("a member of Vary is not a token")
	errVaryMany  = errors.New("too many fields in Vary")
)

// varyFields returns the names of the request fields that select a response, sorted and each once: those of its Vary except the ignored
// ones, and Accept-Encoding for every response with a Content-Encoding. An error means that no request selects the response.
func varyFields(response http.Header, ignored []string) (names []string, err error) {
	if response["Content-Encoding"] != nil && !slices.Contains(ignored, codingField) {
		names = append(names, codingField)
	}
	var read [maxVary]string // the last members, as they are: to compare with them is faster than to make names of them again
	n := 0
	for m := range members(response["Vary"]) {
		if slices.Contains(read[:], m) {
			continue
		}
		read[n%maxVary] = m
		n++
		switch name := http.CanonicalHeaderKey(m); {
		case m == "*":
			return nil, errVaryAny
		case !isToken(m):
			return nil, errVaryToken
		case slices.Contains(ignored, name) || slices.Contains(names, name):
		case len(names) == maxVary:
			return nil, errVaryMany
		default:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Fields are the fields of a request by their canonical names.
type Fields interface {
	// Lines returns the lines of a field; nil if the request does not have it.
	Lines(name string) []string
}

// header implements Fields.
type header http.Header

func (h header) Lines(name string) []string { return h[name] }

// FieldsOf returns the fields of a request.
func FieldsOf(request http.Header) Fields { return header(request) }

// Selector tells which stored responses a request selects (RFC 9111, section 4.1). It computes the value of each field and the key of
// each list of names once, whatever the number of variants. It is safe for concurrent use and must not be copied after its first use.
type Selector struct {
	// Client sends the request.
	Client clients.ID
	// Site is what the origin is told about the address at which the client reaches the API, for example https://example.org; "" means
	// nothing. The response may depend on it, for example in its links.
	Site string

	fields Fields
	routed []string // fields of routing that the request has
	rules  *Rules
	key    *[KeyBytes]byte // of digests

	mu     sync.Mutex
	values []fieldValue
	keys   []varyKey
	room   struct {
		values [3]fieldValue
		keys   [1]varyKey
	}
}

type fieldValue struct {
	name, text string
}

type varyKey struct {
	names []string
	key   string
}

// Selector returns the selector of a request.
func (s *Store) Selector(request http.Header, rules *Rules) Selector {
	return s.SelectorOf(header(request), Routed(request), rules)
}

// SelectorOf is Selector for a request of which routed are the fields of Routing that it has.
func (s *Store) SelectorOf(request Fields, routed []string, rules *Rules) Selector {
	return Selector{fields: request, routed: routed, rules: rules, key: s.digestKey.Load()}
}

// Selects reports whether the request selects a response.
func (s *Selector) Selects(o *Object) bool {
	return s.allows(o) && (len(o.Names) == 0 || s.keyOf(o.Names) == o.selecting)
}

// allows reports whether the request may get a response that is selected by its fields. The response must be of the same site. It must not
// be fresh by a default alone if the request has credentials. It must be selected by the routing fields that the request has.
func (s *Selector) allows(o *Object) bool {
	return o.Site == s.Site && (!o.ByDefault || !s.rules.hasCredentials(s.fields)) && containsAll(o.Names, s.routed)
}

func containsAll(names, wanted []string) bool {
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			return false
		}
	}
	return true
}

// keyOf returns the key of the request for a list of names.
func (s *Selector) keyOf(names []string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.keys {
		if slices.Equal(s.keys[i].names, names) {
			return s.keys[i].key
		}
	}
	if s.keys == nil {
		s.keys = s.room.keys[:0]
	}
	key := selectingKey(s.Site, names, s.valueOf)
	s.keys = append(s.keys, varyKey{names, key})
	return key
}

// selectingKey joins a site and the values of fields. Requests with the same key select the same response. An absent field and an empty
// one are different. Sites, names and values contain no line breaks. Sites contain a colon, and names do not.
func selectingKey(site string, names []string, value func(name string) (text string, ok bool)) string {
	if len(names) == 0 {
		return site
	}
	var b strings.Builder
	if site != "" {
		b.WriteString(site)
		b.WriteByte('\n')
	}
	for _, name := range names {
		b.WriteString(name)
		if text, ok := value(name); ok {
			b.WriteByte('=')
			b.WriteString(text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// value returns the value of a field by which responses are selected; false if the request does not have it.
func (s *Selector) value(name string) (text string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.valueOf(name)
}

// valueOf is value. The caller holds mu.
func (s *Selector) valueOf(name string) (text string, ok bool) {
	lines := s.fields.Lines(name)
	if len(lines) == 0 {
		return "", false
	}
	for i := range s.values {
		if s.values[i].name == name {
			return s.values[i].text, true
		}
	}
	if s.rules.ReduceCodings && name == codingField {
		text = ReducedCodings(lines)
		return text, text != ""
	}
	if s.values == nil {
		s.values = s.room.values[:0]
	}
	if text, ok = negotiated(name, lines); !ok {
		if !slices.Contains(credentials[:], name) {
			lines = listed(lines)
		}
		text = digestOf(s.key, name, lines)
	}
	s.values = append(s.values, fieldValue{name, text})
	return text, true
}

// selected returns the values of fields that the request has; nil if there are no names.
func (s *Selector) selected(names []string) map[string]string {
	if len(names) == 0 {
		return nil
	}
	values := make(map[string]string, len(names))
	for _, name := range names {
		if text, ok := s.value(name); ok {
			values[name] = text
		}
	}
	return values
}

const (
	// KeyBytes is the length of the key of digests.
	KeyBytes = 32
	// digestBytes make it impossible to find another value with the same digest.
	digestBytes = 16
	// digestMark begins a digest. No normalised value has a space.
	digestMark = "digest "
)

func isDigest(value string) bool { return strings.HasPrefix(value, digestMark) }

// digestOf returns a keyed digest of the lines of a field, which may be secret: a cookie, or a token.
func digestOf(key *[KeyBytes]byte, name string, lines []string) string {
	var room [512]byte
	b := append(append(room[:0], key[:]...), name...)
	for _, line := range lines {
		b = append(append(b, '\n'), line...)
	}
	sum := sha256.Sum256(b)
	return digestMark + hex.EncodeToString(sum[:digestBytes])
}

// prefersLanguageOf reports whether a response is in the language that the request prefers to all others, and is selected by it: an
// origin that negotiates would send it, whatever else the request accepts. Both requests must have a well-formed Accept-Language, and the
// same values in all other fields.
func (s *Selector) prefersLanguageOf(o *Object) bool {
	const field = "Accept-Language"
	stored, ok := o.Selected[field]
	if !ok || isDigest(stored) || !s.allows(o) {
		return false
	}
	own, _ := s.value(field)
	language := preferredLanguage(own)
	if language == "" || !strings.EqualFold(strings.TrimSpace(o.Header.Get("Content-Language")), language) {
		return false
	}
	return !slices.ContainsFunc(o.Names, func(name string) bool { return name != field && !s.agrees(o, name) })
}

// agrees reports whether the request has the same value of a field as the one for which a response was sent.
func (s *Selector) agrees(o *Object, name string) bool {
	own, ok := s.value(name)
	stored, has := o.Selected[name]
	return own == stored && ok == has
}
