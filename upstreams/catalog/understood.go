package catalog

import (
	"strings"
	"time"
)

// Understood is what a request says of one parameter.
type Understood struct {
	Name string
	// Param is its declaration; nil: the endpoint has none of that name, and ignores it.
	Param *Param
	Given bool
	// Value is what it means, with defaults; nil: there is none.
	Value any
	// Drawn: Value was drawn for this request alone, from those that what was asked for stands for.
	Drawn bool
	// Key is what the cache key has of it; "": nothing.
	Key string
	// Wrong is what is wrong with it; nil: nothing.
	Wrong *ParamError
}

// Hidden reports whether its value is not to be shown: it is personal, or known to some alone.
func (u *Understood) Hidden() bool {
	return u.Param != nil && (u.Param.Personal || u.Param.Spec.Private)
}

// Link reports whether its values are links, of which no more than the host is to be shown.
func (u *Understood) Link() bool { return u.Param != nil && u.Param.link }

// Understand reads a query as Parse does, and says what each parameter of the endpoint and of the query means: those of the
// endpoint in their order, then those that it ignores.
func (e *Endpoint) Understand(rawQuery string, caller Caller, now time.Time) (Input, []Understood, *ParamError) {
	clock := func() time.Time { return now }
	in, err := e.ParseAt(rawQuery, caller, clock)
	all := make([]Understood, len(e.Params))
	for i, p := range e.Params {
		all[i] = Understood{Name: p.Name, Param: p, Value: in.values[i], Drawn: p.draws(p.Default, caller), Key: string(in.appendKey(nil, i))}
		if p.Required {
			all[i].Wrong = p.missing()
		}
	}
	if e.rest != nil {
		rawQuery = e.joinRest(rawQuery)
	}
	for pair := range strings.SplitSeq(rawQuery, "&") {
		name, raw, _ := strings.Cut(pair, "=")
		i := e.param(name)
		if i < 0 && name != "" {
			all = append(all, Understood{Name: unescaped(name), Given: true})
		}
		if i < 0 || textOf(raw) == "" || all[i].Given {
			continue
		}
		all[i].Given, all[i].Wrong = true, nil
		if _, wrong := e.ParseAt(pair, caller, clock); wrong != nil && !wrong.Missing {
			all[i].Wrong = wrong.discreet()
		}
		v, err := e.Params[i].parse(textOf(raw))
		all[i].Drawn = err == nil && e.Params[i].draws(v, caller)
	}
	return in, all, err.discreet()
}

// discreet is a mistake without the value, unless that may be shown to others than its caller.
func (e *ParamError) discreet() *ParamError {
	if e != nil && e.param != nil && (e.param.Spec.Private || e.param.link) {
		e.value = ""
	}
	return e
}
