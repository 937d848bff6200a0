package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sundry/metrics/words"
	"sundry/proxy/site/i18n"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/host"
	"sundry/upstreams/lib/plainjson"
	"sundry/upstreams/replay"
)

type doctorCmd struct {
	faultFlags
	JSON     bool     `name:"json" help:"Print the findings as JSON." zh:"以 JSON 输出结果。"`
	Record   bool     `help:"Save the answers of the live sources as recorded exchanges, in the directory of --catalog or in the source tree." zh:"把真实数据源的响应录制下来，存入 --catalog 的目录或源码目录。"`
	Force    bool     `help:"With --record, save answers as well whose values have other types than the recorded ones." zh:"与 --record 一起用：值的类型与录制的不同时也保存。"`
	Progress *bool    `negatable:"" help:"Report each source on the standard error as it is finished (default: if that is a terminal)." zh:"每查完一个数据源，就在标准错误输出中报告（默认：只在终端中）。"`
	Subjects []string `arg:"" optional:"" help:"Endpoints to examine, and APIs to reach (default: all). With exactly one endpoint, parameters may follow, such as kd id=YT0000000000001." zh:"要检查的接口和 API（默认：全部）。只有一个接口时，后面可以给出参数，例如 kd id=YT0000000000001。" placeholder:"ENDPOINT"`
}

// Run calls every source once, on its own, and compares its answer with the
// recorded one.
func (d *doctorCmd) Run(w *process) error {
	if err := d.checkFlags(); err != nil {
		return err
	}
	recorder := replay.NewRecorder()
	l, err := d.load(w, func(l *loaded) {
		l.env.Known = fixtures.Known{Dir: l.config.Catalog}
		if d.Record {
			l.env.Record = recorder
		}
	})
	defer l.close()
	if err != nil {
		return err
	}
	into, err := d.recordInto(l.config.Catalog)
	if err != nil {
		return err
	}
	subjects, err := d.subjects(w, l.set, l.config.Catalog)
	if err != nil {
		return err
	}
	for _, h := range l.env.Hosts.All() {
		h.Force(host.ForceClosed) // each source is to be called, whatever became of the others
	}
	shown := d.newProgress(w, len(subjects))
	findings := fixtures.Examine(w.ctx, subjects, shown.finished)
	shown.end()
	fixtures.Relate(w.ctx, findings)
	if d.Record {
		if err := fixtures.Record(into, recorder, findings, d.Force); err != nil {
			return err
		}
	}
	prospects := fixtures.Prospects(findings)
	apis, err := d.reachAPIs(w, l)
	if err != nil {
		return err
	}
	if err := d.print(w, append(findings, apis...), prospects); err != nil {
		return err
	}
	return verdict(w.language(), prospects, unreachable(apis))
}

// checkFlags refuses flags that contradict each other.
func (d *doctorCmd) checkFlags() error {
	switch {
	case d.Force && !d.Record:
		return misused(words.NewError("--force: expected with --record, for example sundry doctor --record --force ip", "--force：应与 --record 一起用，例如 sundry doctor --record --force ip"))
	case d.Record && d.Replay:
		return misused(words.NewError("--record and --replay exclude each other: replay calls no live source", "--record 和 --replay 不能同时用：回放不调用真实的数据源"))
	}
	return nil
}

// recordInto returns the directory to record into: the catalog's or, without one,
// that of the source tree.
func (d *doctorCmd) recordInto(dir string) (string, error) {
	if dir == "" {
		dir = filepath.Join("upstreams", "fixtures")
	}
	if st, err := os.Stat(dir); d.Record && (err != nil || !st.IsDir()) {
		return "", misused(words.Errorf("--record: %s is not a directory: give --catalog DIR or run in the source tree", "--record：%s 不是目录：请给出 --catalog DIR，或在源码目录中运行", dir))
	}
	return dir, nil
}

// subjects are the sources of the endpoints that were named, or all.
func (d *doctorCmd) subjects(w *process, set *catalog.Catalog, dir string) ([]fixtures.Subject, error) {
	cases, bad := readyCases(set, dir)
	for _, mistake := range each(bad) {
		_, _ = fmt.Fprintln(w.stderr, w.say("warning: recorded exchange left out: %s", "警告：一份录制的往来未采用：%s",
			inLanguage(mistake, w.language())))
	}
	names, values, err := d.arguments(set, w.called())
	if err != nil {
		return nil, misused(err)
	}
	var out []fixtures.Subject
	for _, e := range set.Endpoints {
		if len(names) > 0 && !slices.Contains(names, e.Name) {
			continue
		}
		for _, s := range fixtures.SubjectsOf(e, cases) {
			if len(values) > 0 {
				s.SetQuery(values)
			}
			out = append(out, s)
		}
	}
	return out, nil
}

// arguments separates endpoints from parameters.
func (d *doctorCmd) arguments(set *catalog.Catalog, program string) (names []string, values url.Values, err error) {
	values = url.Values{}
	for _, a := range d.Subjects {
		if name, value, ok := strings.Cut(a, "="); ok {
			values.Set(name, value)
			continue
		}
		if !serves(set, a) {
			return nil, nil, unknownName(set, a)
		}
		names = append(names, a)
	}
	apis := namedAPIs(set, names)
	if len(apis) > 0 && d.Replay {
		return nil, nil, words.Errorf("%s: of APIs as they are nothing is recorded, and replay has no network", "%s：原样代理的 API 没有录制，而回放不用网络", words.Names(apis...))
	}
	switch {
	case len(values) == 0:
		return names, values, nil
	case len(names) != 1 || len(apis) > 0:
		return nil, nil, words.Errorf("parameters require exactly one endpoint, such as in %s doctor kd id=YT0000000000001", "给出参数时只能有一个接口，例如 %s doctor kd id=YT0000000000001", program)
	}
	e, _ := set.Get(names[0])
	_, err = inputOf(e, values)
	return names, values, err
}

func (d *doctorCmd) print(w *process, findings []fixtures.Finding, prospects []fixtures.Prospect) error {
	if d.JSON {
		type line struct {
			fixtures.Finding
			Notes        []string `json:"notes,omitempty"`
			Milliseconds int64    `json:"ms"`
		}
		lines := make([]line, len(findings))
		for i, f := range findings {
			lines[i] = line{f, notesOf(&f, i18n.English), f.Took.Milliseconds()}
		}
		return printJSON(w, lines)
	}
	l, p := w.language(), w.paletteOf(w.stdout)
	rows := [][]string{{l.Say("ENDPOINT", "接口"), l.Say("SOURCE", "数据源"), p.paint(uncolored, l.Say("HEALTH", "状况")), l.Say("TIME", "用时"), l.Say("NOTES", "说明")}}
	for i := range findings {
		f := &findings[i]
		notes := upstreams.Shorten(strings.Join(notesOf(f, l), l.Say("; ", "；")), longest)
		rows = append(rows, []string{f.Endpoint, sourceOf(f), p.paint(healthColor(f.Health), l.Of(f.Health.Words())), f.Took.Round(time.Millisecond).String(), notes})
	}
	if _, err := io.WriteString(w.stdout, aligned(rows)); err != nil || len(prospects) == 0 {
		return err
	}
	return summarize(w, prospects)
}

func notesOf(f *fixtures.Finding, l i18n.Language) (notes []string) {
	for _, n := range f.Notes {
		notes = append(notes, l.Of(n))
	}
	return notes
}

func healthColor(h fixtures.Health) string {
	switch h {
	case fixtures.Works:
		return green
	case fixtures.KeyMissing, fixtures.Skipped:
		return uncolored
	case fixtures.Refused, fixtures.Unreachable, fixtures.Fails, fixtures.Declined:
		return red
	default:
		return yellow
	}
}

// sourceOf names the source of a finding, with its chain if that is not the main one.
func sourceOf(f *fixtures.Finding) string {
	if f.Chain == catalog.MainChain || f.Chain == "" { // "": of an API
		return f.Source
	}
	return f.Source + " (" + f.Chain + ")"
}

// verdict returns an error that names the endpoints without a working source, with the APIs that are as bad.
func verdict(l i18n.Language, prospects []fixtures.Prospect, without []string) error {
	for i := range prospects {
		if e := &prospects[i]; !e.Served() {
			without = append(without, e.Endpoint)
		}
	}
	if len(without) == 0 {
		return nil
	}
	says := words.Sayf("no working source: %s", "没有可用的数据源：%s", words.Names(without...))
	return exitWith(statusUnserved, errors.New(l.Of(says)))
}

func printJSON(w *process, v any) error {
	b, err := plainjson.MarshalIndent(v)
	if err != nil {
		return err
	}
	_, err = unscreened(w.stdout).Write(w.hidden.JSON(b)) // a screen would take the document for a text
	return err
}
