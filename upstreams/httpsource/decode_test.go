package httpsource

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkDecodeJSON(b *testing.B) {
	body := []byte(`{"items":[` + strings.Repeat(`{"id":1,"title":"some title","url":"https://example.org/1"},`, 300) + `{}]}`)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := DecodeJSON(body); err != nil {
			b.Fatal(err)
		}
	}
}

func TestScripts(t *testing.T) {
	decode := scriptDecoder("window.STATE")
	for page, want := range map[string]string{
		`<script>var a=1;window.STATE={"a":undefined,"b":[undefined,1],"c":"undefined \" </script> }"};more()</script>`: `map[a:<nil> b:[<nil> 1] c:undefined " </script> }]`,
		`window.STATE = {} || 3`:      "map[]",
		`window.STATE={"a":{"b":{}}}`: "map[a:map[b:map[]]]",
		`window.STATE=null`:           "page does not hold its state",
		`window.STATE={"a":`:          "its end is missing",
		`window.STATE={"a`:            "its end is missing",
		`window.STATE={a:1}`:          "not JSON",
		`<html>`:                      "page does not hold its state",
	} {
		v, err := decode([]byte(page))
		got := fmt.Sprint(v)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", page, got, want)
		}
	}
}
