package jq

import (
	"strings"
	"testing"

	"sundry/upstreams/lib/costtest"
)

// TestFunctionsTakeLinearTime: gojq's bound on the time of a program cannot end a
// function that is called once.
func TestFunctionsTakeLinearTime(t *testing.T) {
	for _, f := range Functions() {
		if !strings.Contains(f.Call, "(") {
			t.Run(f.Call, func(t *testing.T) { costtest.Linear(t, func(text string) { f.call(text, nil) }) })
		}
	}
}
