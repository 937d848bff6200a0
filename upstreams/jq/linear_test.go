package jq

import (
	"testing"

	"sundry/upstreams/lib/costtest"
)

// TestFunctionsTakeLinearTime: gojq's bound on the time of a program cannot end a
// function that is called once.
func TestFunctionsTakeLinearTime(t *testing.T) {
	for name, f := range textFunctions() {
		t.Run(name, func(t *testing.T) { costtest.Linear(t, func(text string) { f(text) }) })
	}
	for name, f := range plainFunctions() {
		t.Run(name, func(t *testing.T) { costtest.Linear(t, func(text string) { f(text) }) })
	}
}
