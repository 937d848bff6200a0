package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"sundry/upstreams/catalog"
)

// variableStates says which variables of sources are set, and what follows from it,
// without their values.
func variableStates(variables []catalog.VariableUse, getenv func(string) (string, bool)) string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for i := range variables {
		v := &variables[i]
		state, sources := "set", "used by "+strings.Join(slices.Concat(v.Required, v.Optional), ", ")
		if value, _ := getenv(v.Name); value == "" {
			state, sources = "not set", consequence(v)
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", v.Name, state, sources) // a builder takes everything
	}
	_ = table.Flush()
	return b.String()
}

// consequence says what happens without a variable.
func consequence(v *catalog.VariableUse) string {
	var parts []string
	if len(v.Required) > 0 {
		parts = append(parts, "left out: "+strings.Join(v.Required, ", "))
	}
	if len(v.Optional) > 0 {
		parts = append(parts, "asked without it: "+strings.Join(v.Optional, ", "))
	}
	return strings.Join(parts, "; ")
}

// sourceVariables are those that sources may need.
func sourceVariables(set *catalog.Catalog) []string {
	known := set.Described()
	for _, v := range set.Variables() {
		known = append(known, v.Name)
	}
	return known
}

// leftOut lists the sources that lack a variable, each with the first that it lacks, such
// as "kd/kdniao (SUNDRY_KDNIAO_ID)". nil stands for a catalog without any.
func leftOut(set *catalog.Catalog) []string {
	if set == nil {
		return nil
	}
	var all []string
	for _, e := range set.Endpoints {
		for _, chain := range e.Chains {
			for _, s := range chain.Declared {
				if line := e.Name + "/" + s.Declared + " (" + s.Missing + ")"; s.Missing != "" && !slices.Contains(all, line) {
					all = append(all, line)
				}
			}
		}
	}
	return all
}

// logLeftOut tells the operator which sources are left out, where that has changed.
func (s *server) logLeftOut(before, now *catalog.Catalog) {
	if missing := leftOut(now); !slices.Equal(missing, leftOut(before)) {
		s.log.Info("sources left out: their variables are not set", "count", len(missing), "sources", strings.Join(missing, ", "))
	}
}
