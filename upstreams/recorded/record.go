package recorded

import (
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams/catalog"
	"sundry/upstreams/plainjson"
	"sundry/upstreams/replay"
)

// Record writes what was exchanged as the recorded exchange of a finding, below
// dir/testdata, in place of the one that was there.
func (f *Finding) Record(dir string, steps []replay.RoundTrip) error {
	name := "good"
	spec := exchangeSpec{Origin: "recorded", Now: f.Call.Now.Truncate(time.Second), Want: "success", Link: f.link, Params: paramsOf(f.query)}
	switch {
	case f.Case != nil:
		name, spec.Chain = f.Case.Name, f.Case.Chain
	case f.Chain != catalog.MainChain:
		spec.Chain = f.Chain
	}
	at := filepath.Join(dir, "testdata", f.Endpoint, f.Source, name)
	if err := os.RemoveAll(at); err != nil {
		return fmt.Errorf("record %s/%s: %w", f.Endpoint, f.Source, err)
	}
	if err := os.MkdirAll(at, 0o755); err != nil { //nolint:gosec // as any folder of the source tree
		return fmt.Errorf("record %s/%s: %w", f.Endpoint, f.Source, err)
	}
	files := map[string][]byte{}
	for i, step := range steps {
		spec.Steps = append(spec.Steps, stepSpecOf(i, step, files))
	}
	var err error
	if files["exchange.yaml"], err = yaml.Dump(&spec); err != nil {
		return fmt.Errorf("record %s/%s: %w", f.Endpoint, f.Source, err)
	}
	if files["want.json"], err = plainjson.MarshalIndent(f.Answer.Data); err != nil {
		return fmt.Errorf("record %s/%s: %w", f.Endpoint, f.Source, err)
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(at, file), files[file], 0o644); err != nil { //nolint:gosec // as any file of the source tree
			return fmt.Errorf("record %s/%s: %w", f.Endpoint, f.Source, err)
		}
	}
	return nil
}

// paramsOf are the parameters of a query string.
func paramsOf(query string) map[string]string {
	values, _ := url.ParseQuery(query) // it was parsed before, or is of an example
	params := map[string]string{}
	for name := range values {
		params[name] = values.Get(name)
	}
	return params
}

// stepSpecOf describes a step, and puts its body into a file.
func stepSpecOf(i int, step replay.RoundTrip, files map[string][]byte) stepSpec {
	s := stepSpec{Step: step.Step, URL: step.URL, Sent: step.Sent, Status: step.Status, Headers: map[string]string{}}
	for name, v := range step.Header {
		s.Headers[name] = v[0]
	}
	if len(step.Body) > 0 {
		s.Body = fmt.Sprintf("reply%d%s", i+1, extension(step.Header.Get("Content-Type"), step.Body))
		files[s.Body] = step.Body
	}
	return s
}

// extension is the extension for a body's file, by its content.
func extension(contentType string, body []byte) string {
	typ, _, _ := mime.ParseMediaType(contentType)
	switch {
	case json.Valid(body):
		return ".json"
	case strings.HasPrefix(typ, "image/"):
		return "." + strings.TrimPrefix(typ, "image/")
	case typ == "text/html":
		return ".html"
	}
	return ".txt"
}
