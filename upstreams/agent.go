package upstreams

// Agents are the User-Agents of requests to declared hosts.
type Agents struct {
	// Own names this service, and the operator's contact where one is set.
	Own string
	// Browser is for services that answer browsers only.
	Browser string
}

// DefaultAgents are used until SetAgents is called.
func DefaultAgents() Agents {
	return Agents{
		Own:     "Sundry/1.0",
		Browser: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Safari/537.36",
	}
}

// SetAgents may be called while requests run.
func (env *Environment) SetAgents(a Agents) { env.agents.Store(&a) }

// Agents are those in force.
func (env *Environment) Agents() Agents {
	if a := env.agents.Load(); a != nil {
		return *a
	}
	return DefaultAgents()
}
