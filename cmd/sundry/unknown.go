package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sundry/upstreams/catalog"
)

// prefix of the variables that are meant for this program.
const variablePrefix = "SUNDRY_"

// ours are the names among the environment's variables that begin so.
func ours(environ []string) []string {
	var names []string
	for _, pair := range environ {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, variablePrefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// fromServices are variables that Kubernetes, and Docker's links, make of a
// service whose name begins with ours: nobody meant them for the program.
var fromServices = regexp.MustCompile(`_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)

// unknownVariables finds those that nothing reads: a misspelt one would
// otherwise be a setting that is silently not made.
func (c *config) unknownVariables(set *catalog.Catalog) error {
	known := knownVariables(set)
	var mistakes []error
	for _, name := range c.variables {
		secret, _ := strings.CutSuffix(name, "_FILE")
		if slices.Contains(known, name) || slices.Contains(known, secret) || strings.HasPrefix(name, "SUNDRY_TEST_") || fromServices.MatchString(name) {
			continue
		}
		mistakes = append(mistakes, fmt.Errorf("%s: there is no such variable%s", name, meant(name, known)))
	}
	return errors.Join(mistakes...)
}

// knownVariables are those of the settings and of the keys of sources.
func knownVariables(set *catalog.Catalog) []string {
	known := []string{"SUNDRY_CONFIG", "SUNDRY_ADMIN_TOKEN", endpointsVariable}
	all := settings()
	for i := range all {
		known = append(known, all[i].variables()...)
	}
	for _, e := range set.Endpoints {
		for _, c := range e.Chains {
			for _, s := range slices.Concat(c.Sources, c.LeftOut) {
				known = append(known, s.Variables...)
			}
		}
	}
	return known
}

// unknownFaults finds faults that would never strike.
func (c *config) unknownFaults(set *catalog.Catalog) error {
	var known []string
	for _, e := range set.Endpoints {
		known = append(known, e.Name)
		for _, s := range e.Sources() {
			known = append(known, e.Name+"/"+strings.TrimPrefix(s.Name, "replay:"))
		}
	}
	var mistakes []error
	for _, subject := range c.faults {
		if !slices.Contains(known, subject) {
			mistakes = append(mistakes, fmt.Errorf("--replay-fault: %s: there is no such endpoint, or source of it%s", subject, meant(subject, known)))
		}
	}
	return errors.Join(mistakes...)
}
