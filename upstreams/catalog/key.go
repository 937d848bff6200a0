package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"sundry/upstreams"
)

// Key is the identity of the answer: endpoint, version, chain and every input in
// canonical form. Nothing else influences an answer.
func (in *Input) Key() string {
	b := make([]byte, 0, 96)
	b = append(append(b, in.Form.Chain.prefix...), ':')
	for i, p := range in.Endpoint.Params {
		if p.Role == RoleInput {
			b = append(in.appendKey(b, i), '|')
		}
	}
	return string(b)
}

// KeyPrefix is what the keys of an input's chain begin with: the endpoint, its version and the chain.
func (in *Input) KeyPrefix() string { return in.Form.Chain.prefix }

// appendKey writes what a parameter is in a key: nothing of one that is no input.
func (in *Input) appendKey(b []byte, i int) []byte {
	p := in.Endpoint.Params[i]
	if p.Role != RoleInput {
		return b
	}
	switch v := in.values[i].(type) {
	case nil:
		b = append(b, '-')
	case int:
		b = strconv.AppendInt(b, int64(v), 10)
	case string:
		if p.link && !p.Personal {
			b = appendHost(b, v)
		}
		b = appendValue(b, v, p.Personal || p.link)
	}
	return b
}

// plainMax is the longest value that stands in a key as it is.
const plainMax = 64

// appendValue writes a value that is short, plain and not personal as it is, with
// a mark, and any other as a hash.
func appendValue(b []byte, v string, personal bool) []byte {
	if !personal && len(v) <= plainMax && !strings.ContainsFunc(v, unplain) {
		return append(append(b, '='), v...)
	}
	sum := sha256.Sum256([]byte(v))
	return hex.AppendEncode(append(b, '#'), sum[:16])
}

// appendHost writes the host of a link, for people who read keys. The rest of it
// may hold a token, so only its hash is part of the key.
func appendHost(b []byte, link string) []byte {
	_, rest, _ := strings.Cut(link, "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	if len(rest) > plainMax || strings.ContainsFunc(rest, unplain) || strings.Contains(rest, "@") {
		return b
	}
	return append(append(b, '='), rest...)
}

func unplain(r rune) bool { return r <= ' ' || r == '|' || r >= 0x7f }

// Call is what the chain is called with.
func (in *Input) Call(now time.Time) *upstreams.Call {
	params := make(map[string]any, len(in.Endpoint.Params))
	for i, p := range in.Endpoint.Params {
		if p.Role == RoleInput {
			params[p.Name] = in.values[i]
		}
	}
	return &upstreams.Call{Endpoint: in.Endpoint.Name, Params: params, Now: now, Private: in.Endpoint.Personal(), Defaults: in.isDefault()}
}

// isDefault reports whether all input that can be at fault is the endpoint's own: what it is
// without any, or what one of its choices stands for.
func (in *Input) isDefault() bool {
	for i, p := range in.Endpoint.Params {
		if p.canBeAtFault() && in.values[i] != p.Default && !in.Endpoint.chooses(i, in.values[i]) {
			return false
		}
	}
	return true
}

// chooses reports whether one of the endpoint's choices stands for a value of an input.
func (e *Endpoint) chooses(input int, v any) bool {
	return slices.ContainsFunc(e.Params, func(p *Param) bool {
		return p.aliasOf == input && slices.ContainsFunc(p.Spec.Enum, func(name string) bool {
			as, ok := p.Spec.As[name]
			return ok && as == v || !ok && name == v
		})
	})
}
