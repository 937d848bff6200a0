package main

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"sundry/proxy/site/i18n"
)

// address is a page of a running service, or a command, with its name in both languages.
type address struct {
	en, zh, url string
}

// addresses are the pages that whoever has started the service opens first.
func (s *server) addresses(public, private net.Addr) []address {
	home := browserURL(s.config.Scheme(), public) + s.config.BasePath
	if s.cmd.To != "" {
		return []address{{"API", "API", home + "/"}, {"Console", "控制台", browserURL("http", private) + "/admin/"}}
	}
	return []address{
		{"Home", "首页", home + "/"},
		{"Docs", "文档", home + "/docs"},
		{"Status", "状态", home + "/status"},
		{"Console", "控制台", browserURL("http", private) + "/admin/"},
	}
}

// browserURL is the address of a listener for a browser on this machine.
func browserURL(scheme string, a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String() // a socket of the file system
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// announce shows the addresses to whoever watches the terminal. In a log that is kept
// or read by a program they are part of a line.
func (s *server) announce(all []address) {
	w := s.process
	if s.config.LogFormat != "text" || !w.isTerminal(w.stderr) {
		return
	}
	all = append(all, address{"Try", "试试", s.firstCall(strings.TrimSuffix(all[0].url, "/"))})
	if s.isFirst() {
		all = append(all, address{"Doctor", "体检", w.called() + " doctor"})
	}
	_, _ = fmt.Fprint(w.stderr, banner(all, w.paletteOf(w.stderr), s.cmd.Replay, w.language()))
}

// firstCall is a command that works at once: a call of ip, which has an answer for everything, or of the first endpoint.
func (s *server) firstCall(home string) string {
	set := s.front.Catalog()
	e, ok := set.Get("ip")
	switch {
	case s.cmd.To != "" || !ok && len(set.Endpoints) == 0:
		return "curl -i " + home + "/"
	case !ok:
		e = set.Endpoints[0]
	}
	query := url.Values{}
	for _, p := range e.Params {
		if p.Required || p.Caller {
			query.Set(p.Name, p.Example)
		}
	}
	if name, value := e.AskFor("text"); name != "" {
		query.Set(name, value)
	}
	return "curl '" + home + "/api/" + e.Name + "?" + query.Encode() + "'"
}

// isFirst reports whether nothing here tells of an earlier start with a network: then the doctor is suggested.
func (s *server) isFirst() bool {
	for _, file := range []string{s.config.InData("settings"), s.seenFile()} {
		if _, err := os.Stat(file); file != "" && err == nil {
			return false
		}
	}
	return !s.cmd.Replay && s.cmd.To == ""
}

// banner is the text for the terminal.
func banner(all []address, p palette, replay bool, l i18n.Language) string {
	state := ""
	if replay {
		state = l.Say(", replaying recorded exchanges without any network", "，回放录制的数据，不访问网络")
	}
	width := 0
	for _, a := range all {
		width = max(width, columnsOf(l.Say(a.en, a.zh)))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n  %s %s%s\n\n", p.paint(green, "Sundry"), version(), state)
	for _, a := range all {
		fmt.Fprintf(&b, "  %s  %s\n", padded(l.Say(a.en, a.zh), width), p.paint(cyan, a.url))
	}
	fmt.Fprintf(&b, "\n  %s\n\n", l.Say("Ctrl-C stops it.", "按 Ctrl-C 停止。"))
	return b.String()
}
