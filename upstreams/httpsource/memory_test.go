package httpsource

import (
	"strings"
	"testing"
)

func TestMeasureJSON(t *testing.T) {
	for text, want := range map[string]jsonSize{
		``:                       {0, 0, 0},
		`1`:                      {0, 0, 0},
		`"a\"]["`:                {6, 1, 0},
		`[]`:                     {containerSize, 1, 1},
		`[1,2]`:                  {containerSize, 2, 1},
		`{"a":[{}]}`:             {3*containerSize + 2, 4, 3},
		`"unfinished [[[`:        {15, 1, 0},
		`]]][`:                   {containerSize, 1, 0},
		strings.Repeat("[", 200): {200 * containerSize, 200, 200},
	} {
		want.memory += want.values * valueSize
		if got := measureJSON([]byte(text)); got != want {
			t.Errorf("%.20s: %+v, want %+v", text, got, want)
		}
	}
	for _, text := range []string{strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1), "[" + strings.Repeat("1,", maxValues) + "1]"} {
		if _, err := DecodeJSON([]byte(text)); err == nil {
			t.Errorf("%.20s… was decoded", text)
		}
	}
	if _, err := DecodeJSON([]byte(strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth))); err != nil {
		t.Error(err)
	}
}
