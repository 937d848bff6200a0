package ratelimit

import (
	"math"
	"slices"
	"testing"
)

func TestReportsAreRead(t *testing.T) {
	s, other := newSecret(), newSecret()
	uses := []use{{1, 1}, {math.MaxUint64, math.MaxUint32}, {3, 300}}
	whole := newReport(s, uses)
	many := slices.Repeat([]use{{7, 2}}, maxTold+1)
	for name, row := range map[string]struct {
		report []byte
		want   []use
	}{
		"whole":               {whole, uses},
		"of nobody":           {newReport(s, nil), nil},
		"cut in the last":     {whole[:len(whole)-1], uses[:2]},
		"cut in the first":    {whole[:12], nil},
		"cut in the head":     {whole[:8], nil},
		"empty":               {nil, nil},
		"with another secret": {newReport(other, uses), nil},
		"of another version":  {append([]byte{reportVersion + 1}, whole[1:]...), nil},
		"a use of nothing":    {newReport(s, []use{{1, 1}, {2, 0}, {3, 1}}), uses[:1]},
		"a number too large":  {append(newReport(s, uses[:1]), 0, 0, 0, 0, 0, 0, 0, 9, 0xff, 0xff, 0xff, 0xff, 0x7f), uses[:1]},
		"an endless number":   {append(newReport(s, uses[:1]), slices.Repeat([]byte{0xff}, 40)...), uses[:1]},
		"too many":            {newReport(s, many), many[:maxTold]},
	} {
		t.Run(name, func(t *testing.T) {
			if got := parseReport(row.report, s); !slices.Equal(got, row.want) {
				t.Errorf("%v, want %v", got, row.want)
			}
		})
	}
}

func FuzzReport(f *testing.F) {
	s := newSecret()
	f.Add(newReport(s, []use{{1, 1}, {2, 300}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if uses := parseReport(b, s); len(uses) > maxTold || slices.ContainsFunc(uses, func(u use) bool { return u.n == 0 }) {
			t.Errorf("%v", uses)
		}
	})
}
