package idcard

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sundry/upstreams/lib/peertest"
)

// generated is a number made by id-validator, with its description.
type generated struct {
	Card string
	Info struct {
		AddrCode, Addr, Birth string
		Sex, Length           int
	}
}

// generate runs the generator, id-validator 1.3.0.
func generate(t *testing.T, count int) []generated {
	t.Helper()
	node, folder := peertest.Module(t, "id-validator")
	out, err := exec.Command(node, "testdata/generate.js", folder, strconv.Itoa(count)).Output()
	if err != nil {
		t.Fatalf("run the generator: %v", err)
	}
	var all []generated
	for line := range bytes.Lines(out) {
		var g generated
		if err := json.Unmarshal(line, &g); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, g)
	}
	return all
}

// misprinted are counties whose names the generator misspells: 埇 as 甬, for
// one.
var misprinted = []string{"昆都仑区", "埇桥区", "瀍河回族区", "浉河区", "硚口区", "猇亭区", "华蓥市", "杨陵区", "恩施市"}

func TestIndependentGenerator(t *testing.T) {
	const count = 625 // 500 of 18 digits
	all := generate(t, count)
	if len(all) != count {
		t.Fatalf("%d numbers, want %d", len(all), count)
	}
	for _, g := range all {
		data, err := Parse(g.Card, noon)
		if err != nil {
			t.Errorf("%s: %v", g.Card, err)
			continue
		}
		sex := [2]string{"female", "male"}[g.Info.Sex]
		if data["valid"] != true || len(data["reasons"].([]any)) != 0 || data["sex"] != sex || data["birthday"] != g.Info.Birth ||
			data["area_code"] != g.Info.AddrCode || data["length"] != g.Info.Length {
			t.Errorf("%s: %v, want %+v", g.Card, data, g.Info)
		}
		county, ok := data["county"].(string)
		if !ok || !strings.HasSuffix(g.Info.Addr, county) && !slices.Contains(misprinted, county) {
			t.Errorf("%s: county %v, want the end of %q", g.Card, data["county"], g.Info.Addr)
		}
	}
}
