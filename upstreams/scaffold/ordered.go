package scaffold

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"sundry/metrics/words"
	"sundry/upstreams/lib/plainjson"
)

// maxDepth bounds how deeply a reply is looked into.
const maxDepth = 64

// decodeOrdered decodes a JSON text: plainjson.Object, []any, string, json.Number, bool, nil.
func decodeOrdered(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := value(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, words.NewError("there is more text after the JSON value", "JSON 之后还有文字")
	}
	return v, nil
}

func value(d *json.Decoder, depth int) (any, error) {
	t, err := d.Token()
	delim, nested := t.(json.Delim)
	if err != nil || !nested {
		return t, err
	}
	if depth > maxDepth {
		return nil, words.NewError("the JSON value is nested too deeply", "JSON 嵌套太深")
	}
	var list []any
	fields := plainjson.Object{}
	for d.More() {
		key := json.Token("")
		if delim == '{' {
			if key, err = d.Token(); err != nil {
				return nil, err
			}
		}
		v, err := value(d, depth+1)
		if err != nil {
			return nil, err
		}
		name, _ := key.(string)
		list, fields = append(list, v), append(fields, plainjson.Member{Name: name, Value: v})
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if delim == '{' {
		return fields, nil
	}
	return list, nil
}
