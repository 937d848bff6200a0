package jq

import (
	"slices"

	"sundry/upstreams/declare"
)

// Uses notes which of the steps, variables and secrets of an endpoint are read, and what
// programs read of $vars that is not there. What is declared once may be of several
// sources, of which not each has to read it, or to have all that it reads. A nil *Uses
// notes nothing. It is not safe for concurrent use.
type Uses struct {
	declared []declaredName
	reads    map[nameAt]bool
	vars     map[string]bool // the names of all steps and variables
	missing  []nameAt        // in $vars of the source that reads it
}

type declaredName struct {
	kind string // step, var or secret
	nameAt
}

type nameAt struct {
	name string
	line int
}

// Declare notes a declaration. One that was noted before is the same.
func (u *Uses) Declare(kind, name string, line int) {
	if d := (declaredName{kind, nameAt{name, line}}); u != nil && !slices.Contains(u.declared, d) {
		u.declared = append(u.declared, d)
	}
}

func (u *Uses) read(name string, line int) {
	if u == nil {
		return
	}
	if u.reads == nil {
		u.reads = map[nameAt]bool{}
	}
	u.reads[nameAt{name, line}] = true
}

// know notes the name of a step or variable.
func (u *Uses) know(name string) {
	if u == nil {
		return
	}
	if u.vars == nil {
		u.vars = map[string]bool{}
	}
	u.vars[name] = true
}

// miss notes that a program reads what its source does not have; other sources may.
func (u *Uses) miss(name string, line int) {
	if at := (nameAt{name, line}); !slices.Contains(u.missing, at) {
		u.missing = append(u.missing, at)
	}
}

// Missing reports what programs read of $vars that no source of the endpoint has.
func (u *Uses) Missing(problems *declare.Problems) {
	for _, m := range u.missing {
		if !u.vars[m.name] {
			problems.Add(m.line, "jq: $vars.%s: no step and no variable has this name%s", m.name, expected(m.name, u.vars, "vars: {"+m.name+": $params.id}"))
		}
	}
}

// Unread reports what nothing reads.
func (u *Uses) Unread(problems *declare.Problems) {
	for _, d := range u.declared {
		switch {
		case u.reads[d.nameAt]:
		case d.kind == "secret":
			problems.Add(d.line, "secret %s: nothing reads it; expected {%s} in a template or $secrets.%s in a program, for example headers: {Authorization: \"Bearer {%s}\"}", d.name, d.name, d.name, d.name)
		default:
			problems.Add(d.line, "%s %s: nothing reads it; expected {%s} in a template or $vars.%s in a program, for example query: {%s: \"{%s}\"}", d.kind, d.name, d.name, d.name, d.name, d.name)
		}
	}
}
