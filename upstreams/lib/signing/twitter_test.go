package signing

import (
	"strings"
	"testing"
)

// TestToken compares with what JavaScript makes of the same ids.
func TestToken(t *testing.T) {
	for id, want := range map[string]string{
		"9": "2vdikqiurk6", "20": "6dq1a2xwd93", "1000000000000000": "353i5ab8p5f",
		"195978073796415398": "h3oliyti4nb", "283808616292800019": "orlzxstm4ac", "1115515760769886967": "2pchuyxeo2f", "1395146839549827400": "3dqze1qccht",
		"1581576053905693565": "3uo1crty6d", "1628832338187636740": "3y54libozsy", "1849000000000000000": "4hcsz1indrr", "1879553847283155177": "4ksj5m6w5q",
		"2021368500568277588": "4webe3fjsoi", "18446744073709551615": "18ps5lqos4lc",
	} {
		if got, err := TwitterToken(id); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", id, got, err, want)
		}
	}
}

func TestTokenOfNoID(t *testing.T) {
	for _, id := range []string{"", "x", "-1", "1.5", "18446744073709551616"} {
		if got, err := TwitterToken(id); err == nil || got != "" || !strings.Contains(err.Error(), "for example 20") {
			t.Errorf("%q: %q %v", id, got, err)
		}
	}
}

func TestRoundingCarries(t *testing.T) {
	for _, r := range []struct {
		in    []byte
		whole float64
		want  string
		sum   float64
	}{{[]byte{1, 2}, 7, "13", 7}, {[]byte{1, 35}, 7, "2", 7}, {[]byte{35, 35}, 7, "", 8}} {
		if got, whole := roundUp(r.in, r.whole); letters(got) != r.want || whole != r.sum {
			t.Errorf("%v: %q %v", r, letters(got), whole)
		}
	}
}
