package admin

import (
	"io/fs"
	"testing"

	"sundry/proxy/browsertest"
)

func TestTheConsoleIsValidHTML(t *testing.T) {
	pages := map[string]string{}
	for _, name := range []string{"index", "runbook", "runbook.zh"} {
		page, err := fs.ReadFile(consoleFiles, "console/"+name+".html")
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = string(page)
	}
	browsertest.ValidHTML(t, pages)
}
