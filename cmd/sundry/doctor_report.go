package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/catalog"
)

func (d *doctorCmd) print(w *world, findings []catalog.Finding) error {
	if d.JSON {
		return printJSON(w, findings)
	}
	table := tabwriter.NewWriter(w.stdout, 0, 0, 2, ' ', 0)
	_, err := fmt.Fprintln(table, "ENDPOINT\tSOURCE\tHEALTH\tTIME\tNOTES")
	for _, f := range findings {
		source := f.Source
		if f.Chain != "main" {
			source += " (" + f.Chain + ")"
		}
		notes := strings.Join(f.Notes, "; ")
		if _, err = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", f.Endpoint, source, f.Health, f.Took.Round(time.Millisecond), upstreams.Shorten(notes, longest)); err != nil {
			return err
		}
	}
	return errors.Join(err, table.Flush())
}

func printJSON(w *world, findings []catalog.Finding) error {
	type line struct {
		catalog.Finding
		Milliseconds int64 `json:"ms"`
	}
	lines := make([]line, len(findings))
	for i, f := range findings {
		lines[i] = line{f, f.Took.Milliseconds()}
	}
	e := json.NewEncoder(w.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(lines)
}

// verdict fails when an endpoint has no source that works.
func verdict(findings []catalog.Finding) error {
	working := map[string]bool{}
	for _, f := range findings {
		working[f.Endpoint] = working[f.Endpoint] || f.Health == catalog.Works
	}
	var without []string
	for _, f := range findings {
		if !working[f.Endpoint] && !slices.Contains(without, f.Endpoint) {
			without = append(without, f.Endpoint)
		}
	}
	if len(without) > 0 {
		return fmt.Errorf("without a working source: %s", strings.Join(without, ", "))
	}
	return nil
}
