package favicon

import (
	"testing"
)

func TestDecodeData(t *testing.T) {
	for in, want := range map[string]string{
		"data:,a%20b":                             "a b",
		"DATA:image/svg+xml,<svg width='100%'>":   "<svg width='100%'>",
		"data:image/svg+xml;utf8,<a,b>":           "<a,b>",
		"data:image/png;base64,aGVs bG8=":         "hello",
		"data:image/png;charset=x;BASE64,aGVsbG8": "hello",
		"data:;base64,aGVsbG8%3D":                 "hello",
		"data:;base64,_-8":                        "\xff\xef",
		"data:;base64,!":                          "",
		"data:image/png":                          "",
		"data:":                                   "",
	} {
		if got := decodeData(in); string(got) != want {
			t.Errorf("%s is %q", in, got)
		}
	}
}
