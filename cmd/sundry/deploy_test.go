package main

import (
	"encoding/json"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v4"

	"sundry/cmd/sundry/internal/config"
	"sundry/upstreams/lib/guard"
)

// samples is where the files are that operators start from.
const samples = "../../deploy"

func readFile(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// document is a YAML document without a type.
type document = map[string]any

func documents(t *testing.T, file string) []document {
	t.Helper()
	var all []document
	for _, part := range regexp.MustCompile(`(?m)^---\n`).Split(readFile(t, file), -1) {
		var d document
		if err := yaml.Load([]byte(part), &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, d)
	}
	return all
}

// lines walks a document for lists of words: what is called wherever it stands.
func lines(v any, found func(words []string)) {
	switch v := v.(type) {
	case document:
		for _, inner := range v {
			lines(inner, found)
		}
	case []any:
		var words []string
		for _, inner := range v {
			if word, ok := inner.(string); ok {
				words = append(words, word)
			}
			lines(inner, found)
		}
		if len(words) == len(v) {
			found(words)
		}
	}
}

// commandLines are those of sundry in the samples, by file.
func commandLines(t *testing.T) map[string][][]string {
	t.Helper()
	all := map[string][][]string{}
	image := "Dockerfile"
	for _, m := range regexp.MustCompile(`(?m)^(?:ENTRYPOINT|CMD|HEALTHCHECK.* CMD) (\[.*\])$`).FindAllStringSubmatch(readFile(t, filepath.Join(samples, image)), -1) {
		var words []string
		if err := json.Unmarshal([]byte(m[1]), &words); err != nil {
			t.Fatal(err)
		}
		if words = slices.DeleteFunc(words, func(w string) bool { return w == "/sundry" }); len(words) > 0 {
			all[image] = append(all[image], words)
		}
	}
	for _, d := range documents(t, "../../docker-compose.yml") {
		lines(d, func(words []string) {
			if len(words) > 1 && words[0] == "CMD" && words[1] == "/sundry" {
				all["compose"] = append(all["compose"], words[2:])
			}
		})
	}
	for _, d := range documents(t, filepath.Join(samples, "kubernetes/base/deployment.yaml")) {
		lines(d, func(words []string) {
			if len(words) > 0 && words[0] == "serve" {
				all["kubernetes"] = append(all["kubernetes"], words)
			}
		})
	}
	for _, m := range regexp.MustCompile(`(?m)^Exec\w+=/usr/local/bin/sundry (.*)$`).FindAllStringSubmatch(readFile(t, filepath.Join(samples, "systemd/sundry.service")), -1) {
		all["systemd"] = append(all["systemd"], strings.Fields(m[1]))
	}
	return all
}

func TestSamplesCallCommandsThatExist(t *testing.T) {
	t.Parallel()
	got := commandLines(t)
	for file, want := range map[string]int{"Dockerfile": 2, "compose": 1, "kubernetes": 1, "systemd": 2} {
		if len(got[file]) != want {
			t.Errorf("%s: %d command lines, want %d: %q", file, len(got[file]), want, got[file])
		}
		for _, args := range got[file] {
			parser, err := kong.New(&cli{}, kong.Exit(func(int) { t.Errorf("%s: %q exits", file, args) }))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parser.Parse(args); err != nil {
				t.Errorf("%s: %q: %v", file, args, err)
			}
		}
	}
}

// TestSamplesNameVariablesThatAreRead holds them to those that are known.
func TestSamplesNameVariablesThatAreRead(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`\bSUNDRY_[A-Z0-9_]+\b`)
	read := append(config.Variables(), sourceVariables(builtinCatalog(t))...)
	seen := 0
	for _, dir := range []string{"kubernetes", "systemd", "nginx", "Dockerfile", "../docker-compose.yml"} {
		_ = filepath.WalkDir(filepath.Join(samples, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			for _, variable := range name.FindAllString(readFile(t, path), -1) {
				seen++
				if !slices.Contains(read, variable) && !slices.Contains(read, strings.TrimSuffix(variable, "_FILE")) {
					t.Errorf("%s: nobody reads %s", path, variable)
				}
			}
			return nil
		})
	}
	if seen < 5 {
		t.Errorf("only %d variables in the samples", seen)
	}
}

func TestSampleConfigurationsPassTheCheck(t *testing.T) {
	t.Parallel()
	var files []string
	err := filepath.WalkDir(samples, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if err == nil && d.Name() == "sundry.yaml" {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 3 {
		t.Fatalf("%q %v", files, err)
	}
	for _, f := range files {
		// The token is a secret of the cluster's; the sample without one is checked as it stands.
		env := map[string]string{}
		if strings.Contains(f, "kubernetes") {
			env["SUNDRY_ADMIN_TOKEN"] = "a-token-of-the-tests"
		}
		if _, errs, err := call(t, env, "check", "--config", f); err != nil {
			t.Errorf("%s: %v %s", f, err, errs)
		}
	}
}

// policyBlock is an ipBlock of a network policy.
type policyBlock struct {
	CIDR   netip.Prefix   `yaml:"cidr"`
	Except []netip.Prefix `yaml:"except"`
}

func egressBlocks(t *testing.T) []policyBlock {
	t.Helper()
	var p struct {
		Spec struct {
			Egress []struct {
				To []struct {
					Block *policyBlock `yaml:"ipBlock"`
				} `yaml:"to"`
			} `yaml:"egress"`
		} `yaml:"spec"`
	}
	if err := yaml.Load([]byte(readFile(t, filepath.Join(samples, "kubernetes/base/networkpolicy.yaml"))), &p); err != nil {
		t.Fatal(err)
	}
	var blocks []policyBlock
	for _, rule := range p.Spec.Egress {
		for _, to := range rule.To {
			if to.Block != nil {
				blocks = append(blocks, *to.Block)
			}
		}
	}
	return blocks
}

// TestNetworkPolicyMirrorsTheGuard compares both at the ends of every range
// that either knows, and on either side of these.
func TestNetworkPolicyMirrorsTheGuard(t *testing.T) {
	t.Parallel()
	blocks := egressBlocks(t)
	permits := func(a netip.Addr) bool {
		return slices.ContainsFunc(blocks, func(b policyBlock) bool {
			return b.CIDR.Contains(a) && !slices.ContainsFunc(b.Except, func(p netip.Prefix) bool { return p.Contains(a) })
		})
	}
	ranges := []netip.Prefix{}
	for _, text := range []string{
		"0.0.0.0/0", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
		"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "169.254.169.254/32",
		"100.100.100.200/32", "168.63.129.16/32", "8.8.8.8/32", "::/0", "::1/128", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16",
		"3fff::/20", "fc00::/7", "fe80::/10", "ff00::/8", "fd00:ec2::254/128", "5f00::/16", "2606:4700::1111/128", "2000::/3", "2620:4f:8000::/48",
	} {
		ranges = append(ranges, netip.MustParsePrefix(text))
	}
	for _, b := range blocks {
		ranges = append(ranges, append(b.Except, b.CIDR)...)
	}
	for _, r := range ranges {
		first, end := r.Masked().Addr(), lastOf(r)
		for _, a := range []netip.Addr{first, end, first.Prev(), end.Next(), first.Next()} {
			if a.IsValid() && permits(a) != guard.Public(a) {
				t.Errorf("%s: the policy says %v, the guard %v", a, permits(a), guard.Public(a))
			}
		}
	}
	if len(blocks) != 2 || permits(netip.MustParseAddr("169.254.169.254")) {
		t.Errorf("%d blocks", len(blocks))
	}
}

// lastOf is the last address of a range.
func lastOf(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for bit := p.Bits(); bit < len(b)*8; bit++ {
		b[bit/8] |= 1 << (7 - bit%8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// TestSamplesWaitForTheDrain: who stops the server lets it finish, with the
// delay that the same file sets and the defaults of the rest.
func TestSamplesWaitForTheDrain(t *testing.T) {
	t.Parallel()
	own := config.Default().DrainTimeout + 2*closeTime
	for file, wait := range map[string]string{
		"systemd/sundry.service":          `TimeoutStopSec=(\d+)`,
		"kubernetes/base/deployment.yaml": `terminationGracePeriodSeconds: (\d+)`,
		"../docker-compose.yml":           `stop_grace_period: (\d+)s`,
	} {
		text := readFile(t, filepath.Join(samples, file))
		find := func(pattern string) time.Duration {
			m := regexp.MustCompile(pattern).FindStringSubmatch(text)
			if m == nil {
				t.Fatalf("%s: no %s", file, pattern)
			}
			d, err := time.ParseDuration(m[1] + "s")
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		if delay, all := find(`SUNDRY_DRAIN_DELAY(?:=|: |, value: )(\d+)s`), find(wait); delay < time.Second || all < delay+own {
			t.Errorf("%s: stopped after %s, of which %s is the delay and %s are ours", file, all, delay, own)
		}
	}
}

// TestSamplesCollectBelowTheLimit: GOMEMLIMIT is just below 80 % of the memory that the same file allows.
func TestSamplesCollectBelowTheLimit(t *testing.T) {
	t.Parallel()
	for file, limits := range map[string][2]string{
		"sizing.md":                       {`GOMEMLIMIT(?s:.*?)(\d+) MiB of \d+`, `GOMEMLIMIT(?s:.*?)\d+ MiB of (\d+)`},
		"deploy.md":                       {`GOMEMLIMIT=(\d+)MiB`, `-m (\d+)m`},
		"deploy.zh-CN.md":                 {`GOMEMLIMIT=(\d+)MiB`, `-m (\d+)m`},
		"systemd/sundry.service":          {`GOMEMLIMIT=(\d+)MiB`, `MemoryMax=(\d+)M`},
		"kubernetes/base/deployment.yaml": {`GOMEMLIMIT, value: (\d+)MiB`, `limits: {memory: (\d+)Mi}`},
		"../docker-compose.yml":           {`GOMEMLIMIT:-(\d+)MiB`, `GOMEMLIMIT(?s:.*?)mem_limit: (\d+)m`},
	} {
		text := readFile(t, filepath.Join(samples, file))
		var found [2]int
		for i, pattern := range limits {
			if m := regexp.MustCompile(pattern).FindStringSubmatch(text); m != nil {
				found[i], _ = strconv.Atoi(m[1])
			}
		}
		if share := float64(found[0]) / float64(found[1]); share < 0.75 || share > 0.8 || found[1] == 0 {
			t.Errorf("%s: %d of %d MiB", file, found[0], found[1])
		}
	}
}

// TestSamplesHaveAPlaceForACatalog of the operator's own, which begins empty: the variable names
// what the same file mounts or makes.
func TestSamplesHaveAPlaceForACatalog(t *testing.T) {
	t.Parallel()
	for file, place := range map[string]string{
		"systemd/sundry.service":          `SUNDRY_CATALOG=/etc/(sundry/catalog)\n(?s:.*)ConfigurationDirectory=sundry (\S+)\n`,
		"kubernetes/base/deployment.yaml": `SUNDRY_CATALOG, value: (/\S+)}\n(?s:.*)name: catalog, mountPath: (/\S+), readOnly: true}\n(?s:.*)name: catalog\n +configMap: {name: sundry-catalog, optional: true}`,
		"../docker-compose.yml":           `SUNDRY_CATALOG: (/\S+)\n(?s:.*)- \./catalog:(/\S+):ro\n`,
	} {
		if m := regexp.MustCompile(place).FindStringSubmatch(readFile(t, filepath.Join(samples, file))); m == nil || m[1] != m[2] {
			t.Errorf("%s: %q", file, m)
		}
	}
	if _, errs, err := call(t, map[string]string{"SUNDRY_CATALOG": t.TempDir()}, "check"); err != nil {
		t.Errorf("%v %s", err, errs)
	}
}

// TestTheThreatModelNamesItsTests: each test that deploy/security.md names is
// there.
func TestTheThreatModelNamesItsTests(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../deploy/security.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func (Test\w+|Fuzz\w+)\(`)
	err = filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range function.FindAllSubmatch(b, -1) {
			there[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(string(text), -1)
	if len(named) < 20 {
		t.Errorf("%d tests are named", len(named))
	}
	for _, m := range named {
		if !there[m[1]] {
			t.Errorf("there is no %s", m[1])
		}
	}
}
