package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"sundry/metrics/words"
	"sundry/proxy/site/i18n"
)

// The statuses that the program ends with. They are documented in the help and the
// README: scripts tell by them what is wrong.
const (
	statusOK            = 0
	statusFailed        = 1 // also whatever health finds: Docker reserves the others
	statusMisused       = 2 // the command line
	statusMisconfigured = 3 // a setting or a catalog file
	statusUnserved      = 4 // doctor: an endpoint has no working source
)

// exit is an error with the status that the program ends with.
type exit struct {
	error
	status int
}

// Unwrap returns the error without the status.
func (e exit) Unwrap() error { return e.error }

// misconfigured is an error about settings or catalog files; nil if err is nil.
func misconfigured(err error) error { return exitWith(statusMisconfigured, err) }

// misused is an error about the command line; nil if err is nil.
func misused(err error) error { return exitWith(statusMisused, err) }

func exitWith(status int, err error) error {
	if err == nil {
		return nil
	}
	return exit{err, status}
}

// statusOf is the status that the program ends with after err.
func statusOf(err error) int {
	if err == nil {
		return statusOK
	}
	if e, ok := errors.AsType[exit](err); ok {
		return e.status
	}
	return statusFailed
}

// misuse is a mistake in the command line, with the command that was meant.
type misuse struct {
	error
	command *kong.Node
}

// Unwrap returns the mistake.
func (m misuse) Unwrap() error { return m.error }

// report prints an error. A mistake in the command line is followed by what is allowed
// and an example, not by the whole usage, which would hide it. program is how the
// commands in it begin.
func report(out io.Writer, program string, in i18n.Language, err error) {
	says := inLanguage(err, in)
	m, ok := errors.AsType[misuse](err)
	if !ok {
		_, _ = fmt.Fprintln(out, "sundry:", says)
		return
	}
	_, _ = fmt.Fprintf(out, "%s: %s\n", strings.TrimSpace("sundry "+m.command.Path()), says)
	for _, line := range hints(&m, program, in) {
		_, _ = fmt.Fprintln(out, " ", line)
	}
}

// hints are what is allowed, an example, and where to read more.
func hints(m *misuse, program string, in i18n.Language) []string {
	n, say := m.command, in.Say
	if n.Parent == nil {
		return []string{
			say("Commands: ", "命令：") + namesOf(commands(n), in), say("Example:  ", "示例：") + program + " serve --replay", say("More:     ", "详情：") + program + " help",
		}
	}
	lines := []string{say("Usage:   ", "用法：") + program + " " + n.Summary()}
	if strings.HasPrefix(m.Error(), "unknown flag") {
		lines = append(lines, say("Flags:   ", "选项：")+namesOf(flagsOf(n), in))
	}
	if example := exampleOf(n, m); example != "" {
		lines = append(lines, say("Example: ", "示例：")+typed(program, example))
	}
	return append(lines, say("More:    ", "详情：")+program+" help "+n.Name)
}

// exampleOf is that of the flag that a mistake begins with, in the command, else that of the command.
func exampleOf(n *kong.Node, err error) string {
	word, _, _ := strings.Cut(err.Error(), " ")
	for _, f := range n.Flags {
		if "--"+f.Name != strings.TrimSuffix(word, ":") || !f.Tag.Has("example") {
			continue
		}
		example := "sundry " + n.Name + " " + f.Tag.Get("example")
		if len(n.Positional) > 0 && n.Positional[0].Required {
			example += " /"
		}
		return example
	}
	return n.Tag.Get("example")
}

func namesOf(all []candidate, in i18n.Language) string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.word
	}
	return in.Of(words.Names(names...))
}
