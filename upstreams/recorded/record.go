package recorded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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
	"sundry/upstreams/shape"
)

// mostShapes is how many recorded exchanges of one name are kept, whose answers have
// different shapes.
const mostShapes = 4

// Record writes what was exchanged as the recorded exchange of a finding, below
// dir/testdata, in place of the one that was there. One that was recorded as well, and whose
// answer has another shape, is kept beside it: what is good comes in several shapes.
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
	if err := f.keepOther(at); err != nil {
		return fmt.Errorf("record %s/%s: keep the exchange of another shape: %w", f.Endpoint, f.Source, err)
	}
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

// keepOther renames the exchange in a directory, if it was recorded of the service and
// neither the new answer nor another recorded one has its shape.
func (f *Finding) keepOther(at string) error {
	if f.Case == nil || f.Case.Origin != "recorded" {
		return nil
	}
	left, was := &shape.Shape{}, any(nil)
	left.Add(plain(f.Answer.Data))
	for _, c := range f.others {
		var v any
		if json.Unmarshal(c.WantJSON, &v) == nil {
			left.Add(v)
		}
	}
	if err := json.Unmarshal(f.Case.WantJSON, &was); err != nil || len(left.Differences("data", was)) == 0 {
		return nil //nolint:nilerr // what is no JSON is not kept
	}
	for n := 2; n <= mostShapes; n++ {
		other := fmt.Sprintf("%s-%d", at, n)
		if _, err := os.Stat(other); errors.Is(err, fs.ErrNotExist) {
			err := os.Rename(at, other)
			if errors.Is(err, fs.ErrNotExist) { // it comes with the program
				return nil
			}
			return err
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
	case strings.HasSuffix(typ, "xml"):
		return ".xml"
	}
	return ".txt"
}
