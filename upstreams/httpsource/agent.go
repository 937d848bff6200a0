package httpsource

import (
	"strings"

	"sundry/upstreams/declare"
)

func (f *fetcher) compileAgent(spec *Spec, problems *declare.Problems) {
	switch f.asBrowser = spec.Agent == "browser"; {
	case spec.Agent != "" && !f.asBrowser:
		problems.Add(spec.URL.Line, "agent: expected browser, or no agent for this service's own, got %q", spec.Agent)
	case f.asBrowser:
		for name, value := range spec.Headers {
			if strings.EqualFold(name, "User-Agent") {
				problems.Add(value.Line, "agent and the header User-Agent: expected only one of them")
			}
		}
	}
}

// agent is the User-Agent of the request.
func (f *fetcher) agent() string {
	agents := f.env.Agents()
	if f.asBrowser {
		return agents.Browser
	}
	return agents.Own
}
