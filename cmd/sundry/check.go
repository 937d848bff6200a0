package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"sundry/metrics/words"
	"sundry/upstreams/catalog"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/host"
)

type checkCmd struct{ flags }

// Run compiles everything and prints every mistake, warnings about what is allowed
// but defeats its purpose, and which variables of sources are set.
func (c *checkCmd) Run(w *process) error {
	l, err := c.load(w, nil)
	defer l.close()
	if _, mistake := openPair(l.config, nil); mistake != nil {
		err = errors.Join(err, mistake)
	}
	var hints []error
	if err == nil {
		hints, err = c.review(w, l)
	} else {
		_, unreadable := fixtures.OwnCases(l.config.Catalog)
		err = errors.Join(err, unreadable)
	}
	if l.set != nil {
		warn(w, l.set.Warnings)
	}
	warn(w, hints)
	if err != nil {
		_, _ = fmt.Fprintln(w.stderr, inLanguage(errors.Join(byPlace(err)...), w.language()))
		return misconfigured(errors.New(w.say("check failed", "检查未通过")))
	}
	warn(w, uncacheablePictures(l.set, l.config.Cache.Memory))
	warn(w, w.tooShort(l.set.Variables()))
	sources := 0
	for _, e := range l.set.Endpoints {
		sources += len(e.Sources())
	}
	ok := w.paletteOf(w.stdout).paint(green, w.say("ok:", "通过："))
	var apis words.Text
	if n := len(l.set.APIs); n > 0 {
		apis = words.Say(plural(n, "API")+", ", fmt.Sprintf("%d 个 API，", n))
	}
	_, err = fmt.Fprint(w.stdout, w.say("%s %d endpoints, %s%d sources\n", "%s%d 个接口，%s%d 个数据源\n", ok, len(l.set.Endpoints), apis, sources), w.variableStates(l.set.Variables()))
	return err
}

// byPlace are the mistakes by file and line; first those that are in no file. In a file, what is missing has no line, and comes
// last: another mistake may be why.
func byPlace(err error) []error {
	all := each(err)
	line := func(m catalog.Mistake) int {
		if m.Line == 0 {
			return math.MaxInt
		}
		return m.Line
	}
	slices.SortStableFunc(all, func(a, b error) int {
		x, _ := errors.AsType[catalog.Mistake](a)
		y, _ := errors.AsType[catalog.Mistake](b)
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(line(x), line(y)))
	})
	return all
}

func warn[T error](w *process, all []T) {
	for _, one := range all {
		_, _ = fmt.Fprintln(w.stderr, w.paletteOf(w.stderr).paint(yellow, w.say("warning:", "警告：")), inLanguage(one, w.language()))
	}
}

// review plays the operator's own exchanges through their endpoints. The error joins the
// mistakes of those that cannot be used, or do not come out as they say.
func (c *checkCmd) review(w *process, l *loaded) (hints []error, err error) {
	cases, err := readyCases(l.set, l.config.Catalog)
	if err != nil || !slices.ContainsFunc(l.set.Endpoints, func(e *catalog.Endpoint) bool { return e.Own }) {
		return nil, err
	}
	again := c.flags
	again.Replay = true
	r, err := again.load(w, func(l *loaded) {
		l.env.Hosts.Config = host.Config{Failures: math.MaxInt32, Ratio: 2} // an exchange that fails stops no other
	})
	defer r.close()
	if err != nil {
		return nil, err
	}
	if cases, err = fixtures.ReadyFor(r.set, cases); err != nil {
		return nil, err
	}
	mistakes, hints := fixtures.Review(w.ctx, r.set, cases, r.env.Replay.(*replayed).Network) //nolint:forcetypeassert // see newEnvironment
	return hints, errors.Join(mistakes...)
}
