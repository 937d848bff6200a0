package recorded

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"strings"
	"time"

	"sundry/upstreams/declare"
)

// exchangeSpec is testdata/<endpoint>/<source>/<case>/exchange.yaml. The
// bodies, and want.json with the mapped data, are files beside it.
type exchangeSpec struct {
	// Origin is composed (invented after descriptions), attested (the shape is what
	// witnesses read or show, the values are invented) or recorded (from the live
	// upstream, at Now).
	Origin string `yaml:"origin"`
	// Witnesses of an attested exchange.
	Witnesses []Witness `yaml:"witnesses,omitempty"`
	// Unattested says why no witness is to be had of a composed exchange.
	Unattested string `yaml:"unattested,omitempty"`
	// Chain of the source, where a source is in several; "" means main.
	Chain string `yaml:"chain,omitempty"`
	// Params as in a query string.
	Params map[string]string `yaml:"params,omitempty"`
	// Caller is the address that the call is made from; "" stands for one of RFC 5737.
	Caller string `yaml:"caller,omitempty"`
	// Agent is the User-Agent of the call; "" for none.
	Agent string `yaml:"agent,omitempty"`
	// Link instead of params, for a source that fetches what a form leads to.
	Link string `yaml:"link,omitempty"`
	// Now is when the call is made; RFC 3339.
	Now   time.Time  `yaml:"now"`
	Steps []stepSpec `yaml:"steps,omitempty"`
	// Want is the verdict: success, negative, invalid, malformed, unavailable, limited or
	// skipped.
	Want string `yaml:"want"`

	lines map[string]int // of Params and Want
}

type stepSpec struct {
	// Step it belongs to, of those before the source's own request; "" for that
	// request.
	Step string `yaml:"step,omitempty"`
	// URL as sent; tcp://host for sources that do not use HTTP.
	URL string `yaml:"url"`
	// Sent is the body of a POST.
	Sent string `yaml:"sent,omitempty"`
	// Status of the reply; 0 means 200.
	Status  int               `yaml:"status,omitempty"`
	Headers map[string]string `yaml:"headers,omitempty"`
	// Body is the file with the reply's body; "" for none.
	Body string `yaml:"body,omitempty"`
	// Charset that the body, kept as UTF-8, is sent in.
	Charset string `yaml:"charset,omitempty"`
}

// readSpec reads an exchange.yaml, and checks what it says.
func readSpec(fsys fs.FS, file string) (*exchangeSpec, declare.Problems) {
	var problems declare.Problems
	b, err := fs.ReadFile(fsys, file)
	if err != nil {
		problems.Add(0, "%v", err)
		return nil, problems
	}
	s := &exchangeSpec{}
	if !declare.Read(b, s, &problems) {
		return nil, problems
	}
	s.lines = map[string]int{"params": lineOf(b, "params"), "want": lineOf(b, "want")}
	s.check(b, &problems)
	return s, problems
}

// verdicts are what want may say.
func verdicts() []string {
	return []string{"success", "negative", "invalid", "malformed", "unavailable", "limited", "skipped"}
}

// check reports what is wrong with an exchange whose text is given.
func (s *exchangeSpec) check(text []byte, problems *declare.Problems) {
	if err := s.checkOrigin(); err != nil {
		problems.Add(lineOf(text, "origin"), "%v", err)
	}
	for i := range s.Witnesses {
		s.Witnesses[i].check(problems)
	}
	if !slices.Contains(verdicts(), s.Want) {
		problems.Add(lineOf(text, "want"), "want: expected one of %s, got %q", strings.Join(verdicts(), ", "), s.Want)
	}
	if _, err := netip.ParseAddr(s.Caller); s.Caller != "" && err != nil {
		problems.Add(lineOf(text, "caller"), "caller: expected an IP address, for example 8.8.8.8, got %q", s.Caller)
	}
	if s.Now.IsZero() {
		problems.Add(lineOf(text, "now"), "now: expected the time of the call, for example 2026-11-21T09:00:00+08:00")
	}
}

// checkOrigin compares the origin with what is said of it.
func (s *exchangeSpec) checkOrigin() error {
	switch {
	case s.Origin != "composed" && s.Origin != "attested" && s.Origin != "recorded":
		return fmt.Errorf("origin: expected composed, attested or recorded, got %q", s.Origin)
	case s.Origin == "attested" && len(s.Witnesses) == 0:
		return errors.New("origin: an attested exchange needs witnesses, for example witnesses: [{document: https://docs.example.org/api, fields: [data.title]}]")
	case s.Origin != "attested" && len(s.Witnesses) > 0:
		return errors.New("witnesses: only an attested exchange has any; expected origin: attested, got " + s.Origin)
	case s.Origin != "composed" && s.Unattested != "":
		return errors.New("unattested: only a composed exchange says why it has no witness; expected origin: composed, got " + s.Origin)
	}
	return nil
}

// lineOf is the line of a key at the top level; the first line if it is missing.
func lineOf(text []byte, key string) int {
	for i, line := range bytes.Split(text, []byte("\n")) {
		if bytes.HasPrefix(line, []byte(key+":")) {
			return i + 1
		}
	}
	return 1
}
