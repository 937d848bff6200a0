package shortlink

import (
	"slices"
	"strings"
)

// reach says whether code runs when its page is opened.
type reach int

const (
	never reach = iota
	perhaps
	always
)

// use is a call, or a function given to another one or to an event.
type use struct {
	name  string // of the function; "" for the one with the number
	scope int
	reach reach // if the code around it runs
}

// function is the body of a function, or the script itself, which is the first.
type function struct {
	reach reach
	uses  []use
}

// calls finds which functions run.
type calls struct {
	functions []function
	named     map[string][]int // the functions of a name
	reached   map[string]reach
}

// spread raises the reach of all functions that the script uses. Each is raised twice at
// most, so that it takes linear time.
func (c *calls) spread() {
	c.reached = map[string]reach{}
	c.functions[0].reach = always
	for todo := []int{0}; len(todo) > 0; {
		from := &c.functions[todo[len(todo)-1]]
		todo = todo[:len(todo)-1]
		for _, u := range from.uses {
			r, scopes := min(u.reach, from.reach), []int{u.scope}
			if u.name != "" {
				if r <= c.reached[u.name] {
					continue
				}
				c.reached[u.name], scopes = r, c.named[u.name]
			}
			for _, s := range scopes {
				if r > c.functions[s].reach {
					c.functions[s].reach = r
					todo = append(todo, s)
				}
			}
		}
	}
}

// reachOfArgument is that of a function which is an argument of another one. first is that
// one's first argument, if it is a text.
func reachOfArgument(callee, first string) reach {
	switch callee {
	case "setTimeout", "setInterval", "setImmediate", "requestAnimationFrame", "queueMicrotask", "ready", "$", "jQuery":
		return always
	case "addEventListener", "attachEvent", "on", "one", "bind":
		return reachOfEvent(first)
	case "":
		return never // until it is called after the parentheses
	}
	return min(perhaps, reachOfEvent(callee))
}

// byPeople are how the names of events begin that the page's reader causes.
var byPeople = []string{
	"click", "dblclick", "mouse", "key", "touch", "pointer", "submit", "change", "input", "focus", "blur", "scroll", "resize",
	"context", "drag", "drop", "wheel", "select", "toggle", "before", "unload", "hash", "pop", "visibility", "tap",
}

func reachOfEvent(name string) reach {
	name = strings.TrimPrefix(name, "on")
	switch {
	case slices.Contains([]string{"load", "DOMContentLoaded", "pageshow", "ready"}, name):
		return always
	case slices.ContainsFunc(byPeople, func(begin string) bool { return strings.HasPrefix(name, begin) }):
		return never
	}
	return perhaps
}
