package declare

import (
	"fmt"
	"testing"

	"go.yaml.in/yaml/v4"
)

// TestMessagesNameNoType: what is wrong in a file is said in the words of the file.
func TestMessagesNameNoType(t *testing.T) {
	type inner struct {
		TTL string `yaml:"ttl"`
	}
	for text, want := range map[string]string{
		"tll: 1h":        "1: unknown key tll",
		"ttl: a\nttl: b": `2: mapping key "ttl" already defined at line 1`,
		"on: maybe":      `1: "maybe": expected true or false`,
		"on: {}":         "1: expected true or false, got a mapping",
		"count: many":    `1: "many": expected a whole number`,
		"share: half":    `1: "half": expected a number`,
		"ttl: [a]":       "1: expected a string, got a list",
		"list: 3":        `1: "3": expected a list`,
		"cache: 3":       `1: "3": expected a mapping`,
		"cache: {tt: 3}": "1: unknown key tt",
	} {
		var into struct {
			On    *bool    `yaml:"on"`
			Count int      `yaml:"count"`
			Share *float64 `yaml:"share"`
			TTL   string   `yaml:"ttl"`
			List  []string `yaml:"list"`
			Cache inner    `yaml:"cache"`
		}
		var problems Problems
		problems.AddYAML(yaml.Load([]byte(text), &into, yaml.WithKnownFields()))
		if len(problems) != 1 {
			t.Errorf("%s: %v", text, problems)
			continue
		}
		if got := fmt.Sprintf("%d: %s", problems[0].Line, problems[0].Msg); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
