package main

import (
	"slices"
	"strings"

	"sundry/metrics/words"
	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/redact"
)

// variableStates says which variables of sources are set, and what follows from it,
// without their values.
func (w *process) variableStates(variables []catalog.VariableUse) string {
	var rows [][]string
	for i := range variables {
		v := &variables[i]
		state, sources := w.say("set", "已设置"), w.say("used by %s", "用于 %s", words.Names(slices.Concat(v.Required, v.Optional)...))
		if value, _ := w.getenv(v.Name); value == "" {
			state, sources = w.say("not set", "未设置"), w.language().Of(consequence(v))
		}
		rows = append(rows, []string{v.Name, state, sources})
	}
	return aligned(rows)
}

// tooShort tells of secrets that are too short to be hidden.
func (w *process) tooShort(variables []catalog.VariableUse) (warnings []error) {
	for i := range variables {
		v := &variables[i]
		if value, _ := w.getenv(v.Name); v.Secret && value != "" && len(value) < redact.SecretMin {
			warnings = append(warnings, words.Errorf("%s: it is not hidden in what is shown: expected at least %d characters", "%s：太短，显示时不会隐去；至少应有 %d 个字符", v.Name, redact.SecretMin))
		}
	}
	return warnings
}

// consequence says what happens without a variable.
func consequence(v *catalog.VariableUse) words.Text {
	without, between := words.Text{}, words.Text{}
	if len(v.Required) > 0 {
		without, between = words.Sayf("left out: %s", "停用 %s", words.Names(v.Required...)), words.Say("; ", "；")
	}
	if len(v.Optional) > 0 {
		without = words.Sayf("%s%sasked without it: %s", "%s%s不带它调用 %s", without, between, words.Names(v.Optional...))
	}
	return without
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
