package catalog

import (
	"regexp"
	"testing"
)

// TestNoBuiltInSourcePassesTracesOn: third parties must learn neither the request's
// ID nor its trace context.
func TestNoBuiltInSourcePassesTracesOn(t *testing.T) {
	files, err := ReadFiles("")
	if err != nil || len(files.specs) == 0 {
		t.Fatal(files, err)
	}
	passes := regexp.MustCompile(`(?m)[\s{,]trace:`)
	if !passes.MatchString("http: {url: x, trace: true}") || !passes.MatchString("\n      trace: true") {
		t.Fatal("the search finds nothing")
	}
	for name := range files.specs {
		if text, _ := files.Declaration(name); passes.Match(text) {
			t.Errorf("%s passes traces on", name)
		}
	}
	for name, file := range files.shared {
		if passes.Match(file.data) {
			t.Errorf("shared/%s passes traces on", name)
		}
	}
}
