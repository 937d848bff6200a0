package httpsource

import (
	"strings"

	"sundry/upstreams"
	"sundry/upstreams/declare"
)

// phoneAgent is the User-Agent of a phone's browser. Some hosts redirect that of a desktop
// to another page.
const phoneAgent = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1"

// agent is the User-Agent of requests.
type agent struct {
	env  *upstreams.Environment
	name string // browser, phone, or "" for this service's own
}

// compileAgent compiles what a declaration says of its User-Agent.
func compileAgent(name string, line int, c *upstreams.Compiler) agent {
	if name != "" && name != "browser" && name != "phone" {
		c.Problems.Add(line, "agent: expected browser, phone, or no agent for this service's own, got %q", name)
	}
	return agent{c.Env, name}
}

// checkAgent reports a User-Agent that is declared twice.
func (s *Spec) checkAgent(problems *declare.Problems) {
	for name, value := range s.Headers {
		if s.Agent != "" && strings.EqualFold(name, "User-Agent") {
			problems.Add(value.Line, "agent and the header User-Agent: expected only one of them")
		}
	}
}

// value is the one in force.
func (a agent) value() string {
	switch a.name {
	case "browser":
		return a.env.Agents().Browser
	case "phone":
		return phoneAgent
	}
	return a.env.Agents().Own
}
