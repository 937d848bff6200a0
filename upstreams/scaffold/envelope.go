package scaffold

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sundry/metrics/words"
	"sundry/upstreams/lib/plainjson"
)

// good reports whether the value of a code says that all is well.
func good(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case nil:
		return true
	case json.Number:
		return slices.Contains([]string{"0", "1", "200", "100", "1000", "10000"}, v.String())
	case string:
		return slices.Contains([]string{"", "0", "1", "200", "ok", "success", "succeed", "succ", "true", "none"}, strings.ToLower(v))
	}
	return true
}

// codes are the keys of envelopes that say whether a call succeeded, the clearest first.
func codes() []string {
	return []string{"success", "ok", "code", "errcode", "errno", "error_code", "retcode", "ret", "status", "error"}
}

// codeOf finds the key of an envelope that says so.
func codeOf(o plainjson.Object) (key string, value any) {
	for _, name := range codes() {
		for _, m := range o {
			if strings.EqualFold(m.Name, name) && scalar(m.Value) {
				return m.Name, m.Value
			}
		}
	}
	return "", nil
}

// valueOf is the value of a key; nil for none.
func valueOf(o plainjson.Object, key string) any {
	for _, m := range o {
		if m.Name == key {
			return m.Value
		}
	}
	return nil
}

func scalar(v any) bool {
	switch v.(type) {
	case plainjson.Object, []any:
		return false
	}
	return true
}

// refused reports a reply that says that the call failed.
func refused(v any) error {
	o, ok := v.(plainjson.Object)
	if !ok {
		return nil
	}
	if list, _ := valueOf(o, "errors").([]any); len(list) > 0 {
		b, _ := json.Marshal(list[0]) // it was decoded of JSON
		return words.Errorf("the reply seems to be an error (errors: %.120s); expected a good answer, for example with another --param", "回复似乎是错误（errors：%.120s）；应为正常的内容，例如换一个 --param", b)
	}
	key, code := codeOf(o)
	if path, _ := place(o); key == "" || good(code) || path != "" {
		return nil
	}
	return words.Errorf("the reply seems to be an error (%s: %v); expected a good answer, for example with another --param", "回复似乎是错误（%s：%v）；应为正常的内容，例如换一个 --param", key, code)
}

// rules are the judge's, for the envelope around the data.
func rules(v any, path string, data any, ofGraphQL bool) []string {
	var out []string
	if o, ok := v.(plainjson.Object); ok && path != "." {
		if key, code := codeOf(o); key != "" {
			b, _ := json.Marshal(code) // a scalar of JSON
			out = append(out, fmt.Sprintf("{if: %s, is: unavailable}", single(access(key)+" != "+string(b))))
		}
	}
	if ofGraphQL {
		out = append(out, "{if: .errors != null, is: unavailable}")
	}
	kind := "object"
	if _, ok := data.([]any); ok {
		kind = "array"
	} else if scalar(data) {
		return append(out, fmt.Sprintf("{if: %s, is: malformed}", single(path+" == null")))
	}
	return append(out, fmt.Sprintf("{if: %s, is: malformed}", single("("+path+" | type) != \""+kind+"\"")))
}

// single quotes a program for YAML.
func single(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// places are the keys that hold the data of envelopes, the most promising first.
func places() []string {
	return []string{"data", "result", "results", "response", "body", "payload", "list", "items", "records", "rows", "content"}
}

// place finds the data within an envelope; "" where it is not one.
func place(o plainjson.Object) (key string, value any) {
	for _, name := range places() {
		for _, m := range o {
			if strings.EqualFold(m.Name, name) && m.Value != nil && !empty(m.Value) && (!scalar(m.Value) || envelope(o)) {
				return m.Name, m.Value
			}
		}
	}
	return "", nil
}

func empty(v any) bool {
	switch v := v.(type) {
	case plainjson.Object:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// envelope reports whether an object says whether a call succeeded.
func envelope(o plainjson.Object) bool { key, _ := codeOf(o); return key != "" }

// promising finds the place of the data: it goes into envelopes, and into objects
// with little beside their data.
func promising(v any) (path string, data any) {
	path, data = ".", v
	for range 3 {
		o, ok := data.(plainjson.Object)
		if !ok {
			break
		}
		key, inner := place(o)
		if key == "" || !envelope(o) && len(o) > 1 {
			break
		}
		path, data = strings.TrimSuffix(path, ".")+access(key), inner
	}
	return path, data
}

// graphQL finds the data of a GraphQL reply: below data, and below the field that was asked
// for if that is the only one.
func graphQL(v any) (path string, data any, ok bool) {
	o, _ := v.(plainjson.Object)
	inner, ok := valueOf(o, "data").(plainjson.Object)
	if !ok {
		return "", nil, false
	}
	if len(inner) == 1 && !scalar(inner[0].Value) && !empty(inner[0].Value) {
		return ".data" + access(inner[0].Name), inner[0].Value, true
	}
	return ".data", inner, true
}

// asksGraphQL reports whether the body of a call is a query of GraphQL.
func (a *Address) asksGraphQL() bool {
	if a.sends == nil {
		return false
	}
	o, _ := a.sends.value.(plainjson.Object)
	query, _ := valueOf(o, "query").(string)
	return strings.Contains(query, "{")
}
