package config

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"sundry/metrics/words"
	"sundry/upstreams/declare"
)

// Prefix is how the names of this program's variables begin.
const Prefix = "SUNDRY_"

// endpointsVariable holds the value of the file's key endpoints, in YAML.
const endpointsVariable = Prefix + "ENDPOINTS"

// OwnVariables are the names of the environment's variables with Prefix.
func OwnVariables(environ []string) []string {
	var names []string
	for _, pair := range environ {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, Prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Variables are those of all settings.
func Variables() []string {
	known := []string{"SUNDRY_CONFIG", "SUNDRY_ADMIN_TOKEN", "SUNDRY_ADMIN_READ_TOKEN", endpointsVariable}
	all := settings()
	for i := range all {
		known = append(known, all[i].variables()...)
	}
	return known
}

// serviceVariable matches what Kubernetes, and Docker's links, set for a service
// whose name begins with sundry. They are not settings.
var serviceVariable = regexp.MustCompile(`_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)

// UnknownVariables returns an error for variables that nothing reads, neither a setting nor a
// source: a misspelt one would be ignored in silence otherwise.
func (c *Config) UnknownVariables(ofSources []string) error {
	known := append(Variables(), ofSources...)
	var mistakes []error
	for _, name := range c.variables {
		secret, _ := strings.CutSuffix(name, "_FILE")
		switch {
		case slices.Contains(known, name), slices.Contains(known, secret):
		case strings.HasPrefix(name, "SUNDRY_TEST_"), name == "SUNDRY_CACHE_TESTS", serviceVariable.MatchString(name):
		default:
			mistakes = append(mistakes, words.Errorf("%s: unknown variable%s", "%s: 没有这个变量%s", name, declare.SuggestionOrNewer(name, known)))
		}
	}
	return errors.Join(mistakes...)
}
