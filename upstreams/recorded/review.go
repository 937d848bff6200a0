package recorded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
	"sundry/upstreams/replay"
)

// Review plays the recorded exchanges of an operator's own endpoints through their sources
// and forms. The catalog is one that the network replays for. mistakes are those of what
// does not work as recorded, hints of what works and defeats its purpose.
func Review(ctx context.Context, set *catalog.Catalog, cases []*Case, network *replay.Network) (mistakes, hints []error) {
	for _, e := range set.Endpoints {
		if !e.IsOwn() {
			continue
		}
		r := &review{endpoint: e, network: network, made: map[string]bool{}, filled: map[string]bool{}, told: map[string]bool{}}
		for _, chain := range e.Chains {
			for _, source := range chain.Sources {
				r.playAll(ctx, chain, source, CasesOf(cases, e.Name, source.Declared))
			}
		}
		r.findUnmade()
		if !slices.ContainsFunc(e.Sources(), func(s *upstreams.Source) bool { return !s.CallsDeclaredHost() }) {
			r.findUnfilled(e.Fields, "") // what is local may need what there is only when it runs
		}
		r.findNeverAsked(ctx)
		mistakes, hints = append(mistakes, r.mistakes...), append(hints, r.hints...)
	}
	return mistakes, hints
}

// call is that of the exchange.
func (c *Case) call() *upstreams.Call {
	return &upstreams.Call{Endpoint: c.Endpoint, Params: c.Params, Now: c.Now}
}

// review is that of one endpoint.
type review struct {
	endpoint        *catalog.Endpoint
	network         *replay.Network
	calls           []*upstreams.Call // of exchanges, those that come with the program as well
	tried           []*catalog.Form
	made            map[string]bool // the names of forms that some exchange has
	filled          map[string]bool // the paths of fields that had a value
	answered        bool            // some exchange was a success
	told            map[string]bool // what was said, of another exchange
	mistakes, hints []error
}

// mistake notes one, once.
func (r *review) mistake(m catalog.Mistake) {
	if !r.told[m.Error()] {
		r.told[m.Error()] = true
		r.mistakes = append(r.mistakes, m)
	}
}

func (r *review) hint(m catalog.Mistake) {
	if !r.told[m.Error()] {
		r.told[m.Error()] = true
		r.hints = append(r.hints, m)
	}
}

// playAll plays the operator's exchanges of a source. One that names no chain is of the first
// that has the source.
func (r *review) playAll(ctx context.Context, chain *catalog.Chain, source *upstreams.Source, cases []*Case) {
	first := slices.IndexFunc(r.endpoint.Chains, func(c *catalog.Chain) bool {
		return slices.ContainsFunc(c.Sources, func(s *upstreams.Source) bool { return s.Declared == source.Declared })
	})
	for _, x := range cases {
		r.calls = append(r.calls, x.call())
		if x.own && (x.Chain == chain.Name || x.Chain == "" && r.endpoint.Chains[first] == chain) {
			r.play(ctx, chain, source, x)
		}
	}
}

// play plays one exchange through its source.
func (r *review) play(ctx context.Context, chain *catalog.Chain, source *upstreams.Source, x *Case) {
	exchange := x.Exchange
	exchange.Want = "success" // others only answer where they are asked for
	r.network.Set([]*replay.Exchange{&exchange})
	answer, err := source.Probe(ctx, x.call(), nil)
	verdict := "success"
	if err != nil {
		verdict = upstreams.KindOf(err).String()
	}
	switch {
	case verdict == x.Want && err == nil:
		r.answered = true
		r.compare(source, x, answer.Data)
		r.present(ctx, chain, source, x, &answer)
	case verdict == x.Want:
	case err == nil:
		r.mistake(x.mistake("want", "want: %s, but source %s answers it as a success; expected a rule that says otherwise, for example judge: [{if: .code != 0, is: %s}], or want: success", x.Want, source.Declared, x.Want))
	default:
		r.mistake(r.endpoint.Mistake("source "+source.Declared, "source %s: %s: want: %s, but it is %v; expected a map and rules that fit the reply, or want: %s", source.Declared, x.Dir, x.Want, withoutSource(err), verdict))
	}
}

// withoutSource is the error of a source without its name, which is known.
func withoutSource(err error) error {
	if typed, ok := errors.AsType[*upstreams.Error](err); ok {
		of := *typed
		of.Source = ""
		return &of
	}
	return err
}

// mistake is one in the exchange's file, at a key.
func (c *Case) mistake(key, format string, args ...any) catalog.Mistake {
	return catalog.Mistake{File: c.file, Line: c.lines[key], Msg: fmt.Sprintf(format, args...)}
}

// compare compares the data with what the exchange wants.
func (r *review) compare(source *upstreams.Source, x *Case, data any) {
	if !source.CallsDeclaredHost() {
		return // what is computed, and measured, is not of the exchange
	}
	var want any
	if json.Unmarshal(replay.ExpandDates(x.WantJSON, x.Now), &want) != nil {
		return
	}
	if at, was, is := difference("data", want, plain(data)); at != "" {
		r.mistake(catalog.Mistake{File: strings.TrimSuffix(x.file, "exchange.yaml") + "want.json", Line: 1,
			Msg: fmt.Sprintf("%s: %s, but source %s makes it %s; expected the map to make what is wanted, or the file to have what it makes", at, was, source.Declared, is)})
	}
}

// difference is the first place at which two documents differ, with the values there.
func difference(at string, want, got any) (place, was, is string) {
	w, okW := want.(map[string]any)
	g, okG := got.(map[string]any)
	if okW && okG {
		for _, name := range slices.Sorted(maps.Keys(joined(w, g))) {
			if at, was, is := difference(at+"."+name, w[name], g[name]); at != "" {
				return at, was, is
			}
		}
		return "", "", ""
	}
	lw, okW := want.([]any)
	lg, okG := got.([]any)
	if okW && okG && len(lw) == len(lg) {
		for i := range lw {
			if at, was, is := difference(fmt.Sprintf("%s[%d]", at, i), lw[i], lg[i]); at != "" {
				return at, was, is
			}
		}
		return "", "", ""
	}
	if reflect.DeepEqual(want, got) {
		return "", "", ""
	}
	return at, short(want), short(got)
}

func joined(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// short is a value on a part of a line.
func short(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return upstreams.Shorten(string(b), 60)
}

// present makes every form of an answer, and looks at the fields of its JSON.
func (r *review) present(ctx context.Context, chain *catalog.Chain, source *upstreams.Source, x *Case, a *upstreams.Answer) {
	env := &jq.Env{Params: x.Params, Now: x.Now}
	for _, form := range chain.Forms {
		empty, err := form.Check(ctx, a, env)
		if err != nil {
			r.mistake(r.endpoint.Mistake("form "+form.Name, "form %s: of %s: %v; expected a program that fits the data, for example text: .title", form.Name, x.Dir, err))
		}
		r.tried = append(r.tried, form)
		r.made[form.Name] = r.made[form.Name] || !empty || err != nil
		if form.Kind == "json" && err == nil {
			for _, seen := range form.Present(ctx, a.Data, env, maxSamples) {
				r.look("", seen, r.endpoint.Fields, source)
			}
		}
	}
}

// look notes which fields have values, and those that are not declared.
func (r *review) look(at string, v any, declared []*catalog.Field, source *upstreams.Source) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			r.look(at, item, declared, source)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			i := slices.IndexFunc(declared, func(f *catalog.Field) bool { return f.Name == name })
			switch {
			case i >= 0 && v[name] != nil:
				r.filled[at+name] = true
				r.look(at+name+".", v[name], declared[i].Fields, source)
			case i < 0 && len(declared) > 0:
				r.hint(r.endpoint.Mistake("source "+source.Declared, "source %s: map: %s%s is not declared below fields%s", source.Declared, at, name, declare.Expected(name, fieldNames(declared))))
			}
		}
	}
}

func fieldNames(declared []*catalog.Field) []string {
	names := make([]string, len(declared))
	for i, f := range declared {
		names[i] = f.Name
	}
	return names
}

// findUnmade notes the forms that no exchange has.
func (r *review) findUnmade() {
	for _, form := range r.tried {
		if !r.made[form.Name] {
			r.hint(r.endpoint.Mistake("form "+form.Name, "form %s: it is empty for every recorded exchange; expected a field that the data have, for example text: .title, or an exchange that has it", form.Name))
		}
	}
}

// findUnfilled notes the fields that have a value in no exchange.
func (r *review) findUnfilled(declared []*catalog.Field, at string) {
	if !r.answered {
		return
	}
	for _, f := range declared {
		path := at + f.Name
		if !r.filled[path] {
			r.hint(r.endpoint.Mistake("field "+path, "field %s: it is null or absent in every recorded exchange; expected a source that makes it, for example map: '{%s: .%s}', or an exchange that has it", path, f.Name, f.Name))
			continue
		}
		r.findUnfilled(f.Fields, path+".")
	}
}

// findNeverAsked notes the sources whose condition holds for no exchange, no example and no
// choice of a parameter.
func (r *review) findNeverAsked(ctx context.Context) {
	calls := append(r.calls, r.examples()...)
	for _, source := range r.endpoint.Sources() {
		if source.When == nil || slices.ContainsFunc(calls, func(c *upstreams.Call) bool { return source.Serves(ctx, c) }) {
			continue
		}
		r.hint(r.endpoint.Mistake("source "+source.Declared, "source %s: when: it is true of no exchange, example or choice of a parameter; expected a condition that holds for some input, for example when: $params.kind == \"a\", or an exchange of an input for which it does", source.Declared))
	}
}

// examples are calls with the example input, and with each choice of each parameter.
func (r *review) examples() []*upstreams.Call {
	base := strings.Join(exampleInput(r.endpoint), "&")
	queries := []string{base}
	for _, p := range r.endpoint.Params {
		for _, value := range append(slices.Clone(p.Spec.Enum), p.Example) {
			if p.Role == catalog.RoleInput && !p.Derived() && value != "" {
				queries = append(queries, p.Name+"="+url.QueryEscape(value)+"&"+base) // of two, the first counts
			}
		}
	}
	var calls []*upstreams.Call
	for _, query := range queries {
		if params, err := canonical(r.endpoint, query, catalog.Caller{Addr: caller}, time.Now()); err == nil {
			calls = append(calls, &upstreams.Call{Endpoint: r.endpoint.Name, Params: params, Now: time.Now()})
		}
	}
	return calls
}
