package replay

import (
	"testing"
	"time"
)

func TestParseFault(t *testing.T) {
	target, f, err := ParseFault("kd=error:0.3,latency:800ms")
	if err != nil || target != "kd" || f.Error != 0.3 || f.Latency != 800*time.Millisecond {
		t.Errorf("%s %+v %v", target, f, err)
	}
	if _, f, err = ParseFault("kd/one=body:html"); err != nil || f.Body != "html" || f.Error != 1 {
		t.Errorf("%+v %v", f, err)
	}
	if _, f, err = ParseFault("kd/one=status:503"); err != nil || f.Status != 503 || f.Error != 1 {
		t.Errorf("%+v %v", f, err)
	}
	for _, bad := range []string{"", "kd", "=error:1", "kd=error:2", "kd=error:x", "kd=latency:x", "kd=what:1", "kd=body:x", "kd="} {
		if _, _, err := ParseFault(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
