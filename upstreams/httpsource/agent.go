package httpsource

import (
	"strings"

	"sundry/upstreams"
	"sundry/upstreams/declare"
)

// agent is the User-Agent of requests.
type agent struct {
	env     *upstreams.Environment
	browser bool // it is a browser's, not this service's own
}

// compileAgent compiles what a declaration says of its User-Agent.
func compileAgent(name string, line int, c *upstreams.Compiler) agent {
	if name != "" && name != "browser" {
		c.Problems.Add(line, "agent: expected browser, or no agent for this service's own, got %q", name)
	}
	return agent{c.Env, name == "browser"}
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
	agents := a.env.Agents()
	if a.browser {
		return agents.Browser
	}
	return agents.Own
}
