package plainjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

// asEncodingJSON decodes exactly one value.
func asEncodingJSON(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than a value")
	}
	return v, nil
}

const depth = 20

// compareDecoders holds Decode and DecodeFirst to encoding/json.
func compareDecoders(t *testing.T, b []byte) {
	t.Helper()
	if v, ok := Decode(b, depth); ok {
		if want, err := asEncodingJSON(b); err != nil || !reflect.DeepEqual(v, want) {
			t.Errorf("%q: %#v, encoding/json %#v %v", b, v, want, err)
		}
	}
	v, ok := DecodeFirst(b, depth)
	if !ok {
		return
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var want any
	if err := d.Decode(&want); err != nil || !reflect.DeepEqual(v, want) {
		t.Errorf("first of %q: %#v, encoding/json %#v %v", b, v, want, err)
	}
}

// documents are texts that are JSON; what they hold is all that JSON has.
var documents = []string{
	`null`, ` true `, "\t[ ]\r\n", `{}`, `""`, `0`, `-0`, `-0.50e+10`, `1E5`, `12345678901234567890.5`, `[1,2 , 3]`, `{"a":{"b":[{}]},"a":1 , "c":null}`,
	`"a\"\\\/\b\f\n\r\tz"`, `"\u00e9\u4e2d\ud83d\ude00 \ud83d x \udE00\ud83d\u0041"`, `"\uFFFD\u0000"`, `"中文 é 😀 ` + "\u2028" + `"`,
	`{"":"","code":0,"data":[{"a":1,"b":[true,false,null]},{"a":2}]}`, `[[[[[[[[[[1]]]]]]]]]]`, "\"\u007f\"",
}

func TestDecode(t *testing.T) {
	for _, text := range documents {
		if _, ok := Decode([]byte(text), depth); !ok {
			t.Errorf("%s: it is not decoded", text)
		}
		compareDecoders(t, []byte(text))
		for i := range text { // and all that is broken somewhere
			for _, c := range []string{"", "\x00", `"`, `\`, ",", "]", "}", "1", "\xff", " "} {
				compareDecoders(t, []byte(text[:i]+c+text[i+1:]))
				compareDecoders(t, []byte(text[:i]+c+text[i:]))
			}
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, text := range []string{
		``, ` `, `nul`, `01`, `+1`, `1.`, `.5`, `1e`, `--1`, `"a`, `"\x"`, `"\u12g4"`, "\"\n\"", `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `[1}`, `1 2`, `[] []`,
		"\"\xff\"", "\ufeff1", strings.Repeat("[", depth+1) + strings.Repeat("]", depth+1), strings.Repeat("[", 1<<20),
	} {
		if v, ok := Decode([]byte(text), depth); ok {
			t.Errorf("%.50q: %v", text, v)
		}
	}
	if _, ok := Decode([]byte(strings.Repeat("[", depth)+strings.Repeat("]", depth)), depth); !ok {
		t.Error("as deep as allowed: it is not decoded")
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range documents {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) { compareDecoders(t, b) })
}

func BenchmarkDecode(b *testing.B) {
	item := `{"title":"一条新闻的标题","link":"https://www.example.org/1.html","rank":1,"hot":2.5},`
	escaped := `{"title":"\u4e00\u6761\u65b0\u95fb","link":"https:\/\/www.example.org\/1.html","rank":1,"hot":2.5},`
	for name, item := range map[string]string{"plain": item, "escaped": escaped} {
		text := []byte(`{"code":0,"data":[` + strings.Repeat(item, 9) + `{}]}`)
		for by, decode := range map[string]func() error{
			"plainjson": func() error { _, _ = Decode(text, depth); return nil },
			"encoding":  func() error { _, err := asEncodingJSON(text); return err },
		} {
			b.Run(name+"/"+by, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := decode(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
