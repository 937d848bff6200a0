package catalog

import (
	"fmt"
	"strings"

	"sundry/cache/policy"
)

// Diff lists in words how a catalog differs from the one before it: endpoints that
// were added or removed, and those whose declaration or cache rule changed.
func Diff(old, next *Catalog) []string {
	var out []string
	for _, e := range next.Endpoints {
		before, ok := old.Get(e.Name)
		switch {
		case !ok:
			out = append(out, e.Name+": added")
			continue
		case before.Version() != e.Version():
			out = append(out, e.Name+": parameters, forms or sources changed")
		}
		out = append(out, diffPolicy(e.Name, &before.Policy, &e.Policy)...)
		if a, b := before.Autopilot.String(), e.Autopilot.String(); a != b {
			out = append(out, fmt.Sprintf("%s: autopilot %s, was %s", e.Name, b, a))
		}
		if a, b := before.Target.String(), e.Target.String(); a != b {
			out = append(out, fmt.Sprintf("%s: target %s, was %s", e.Name, b, a))
		}
	}
	out = append(out, diffAPIs(old, next)...)
	for _, e := range old.Endpoints {
		if _, ok := next.Get(e.Name); !ok {
			out = append(out, e.Name+": removed")
		}
	}
	return out
}

func diffAPIs(old, next *Catalog) (out []string) {
	for _, a := range next.APIs {
		switch before, ok := old.API(a.Name); {
		case !ok:
			out = append(out, a.Name+": added")
		case before.declaration != a.declaration:
			out = append(out, a.Name+": changed")
		}
	}
	for _, a := range old.APIs {
		if _, ok := next.API(a.Name); !ok {
			out = append(out, a.Name+": removed")
		}
	}
	return out
}

// Version changes with everything that makes an answer; see fingerprint.
func (e *Endpoint) Version() string {
	var prefixes []string
	for _, c := range e.Chains {
		prefixes = append(prefixes, c.prefix)
	}
	return strings.Join(prefixes, " ")
}

func diffPolicy(name string, old, next *policy.Policy) []string {
	var out []string
	for _, setting := range SettingNames() {
		if a, b := Setting(old, setting), Setting(next, setting); a != b {
			out = append(out, fmt.Sprintf("%s: %s %s, was %s", name, setting, b, a))
		}
	}
	if !old.Until.Equal(next.Until) {
		out = append(out, name+": the time of publication changed")
	}
	return out
}
