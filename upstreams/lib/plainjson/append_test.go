package plainjson

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"
)

// compareEncoders holds Append to Marshal.
func compareEncoders(t *testing.T, v any) {
	t.Helper()
	want, wantErr := Marshal(v)
	got, err := Append([]byte("x"), v)
	if (err == nil) != (wantErr == nil) || err == nil && string(got) != "x"+string(want) {
		t.Errorf("%#v: %s %v, want x%s %v", v, got, err, want, wantErr)
	}
}

func TestAppend(t *testing.T) {
	for _, v := range []any{
		nil, true, false, 0, -7, math.MaxInt, math.MinInt, 0.5, 1e21, 1e-7, math.NaN(), big.NewInt(7), []any{1, "a"}, map[string]any{"a": nil},
		json.Number("1.50"), json.Number("-0e+1"), json.Number(""), json.Number("01"), json.Number("1x"), json.Number("NaN"),
	} {
		compareEncoders(t, v)
	}
	for c := range rune(0x3000) {
		compareEncoders(t, "a"+string(c)+"b")
	}
	for c := range 256 {
		compareEncoders(t, "a"+string([]byte{byte(c)})+"b")
	}
}

func FuzzEncode(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\/\b\f\n\r\t\x00\x7f", "<&>中文😀\u2028\u2029\ufffd\xff\xed\xa0\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		compareEncoders(t, s)
		compareEncoders(t, json.Number(s))
	})
}
