package geoip

import (
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func writeDB(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func openFiles(t *testing.T, paths ...string) *Files {
	t.Helper()
	f, err := OpenFiles(paths)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// cityRecord is a place in MaxMind's schema, with changes.
func cityRecord(changes map[string]any) map[string]any {
	record := map[string]any{
		"continent":    map[string]any{"code": "AS", "names": map[string]any{"zh-CN": "亚洲"}},
		"country":      map[string]any{"iso_code": "CN", "names": map[string]any{"zh-CN": "中国"}},
		"subdivisions": []any{map[string]any{"names": map[string]any{"zh-CN": "浙江"}}},
		"city":         map[string]any{"names": map[string]any{"zh-CN": "杭州"}},
		"postal":       map[string]any{"code": "310000"},
		"location":     map[string]any{"latitude": 30.2, "longitude": 120.1, "time_zone": "Asia/Shanghai"},
	}
	maps.Copy(record, changes)
	return record
}

// asnRecord is that of MaxMind's file of autonomous systems.
var asnRecord = map[string]any{"autonomous_system_number": uint32(37963), "autonomous_system_organization": "Alibaba"}

// TestFilesAddToEachOther: the first file that knows a field has it, as far as the
// files agree on the place.
func TestFilesAddToEachOther(t *testing.T) {
	asn := writeDB(t, "asn.mmdb", buildMMDB(asnRecord))
	city := writeDB(t, "city.mmdb", buildMMDB(cityRecord(nil)))
	region := writeDB(t, "v4.xdb", buildXDB(map[[2]string]string{{"3.4.0.0", "3.4.255.255"}: "中国|浙江省|杭州市|阿里云|CN"}))
	american := writeDB(t, "us.mmdb", buildMMDB(cityRecord(map[string]any{"country": map[string]any{"iso_code": "US"}})))
	guangdong := writeDB(t, "gd.mmdb", buildMMDB(cityRecord(map[string]any{"subdivisions": []any{map[string]any{"names": map[string]any{"zh-CN": "广东"}}}})))
	lat, lng := 30.2, 120.1
	whole := Place{
		Continent: "亚洲", ContinentCode: "AS", Country: "中国", CountryCode: "CN", Province: "浙江省", City: "杭州市", ISP: "阿里云", Postal: "310000", Timezone: "Asia/Shanghai",
		ASN: 37963, ASName: "Alibaba", Latitude: &lat, Longitude: &lng,
	}
	network := Place{ASN: 37963, ASName: "Alibaba"}
	known := Place{Country: "中国", CountryCode: "CN", Province: "浙江省", City: "杭州市", ISP: "阿里云"}
	continental := known
	continental.Continent, continental.ContinentCode = "亚洲", "AS"
	for name, row := range map[string]struct {
		files []string
		want  Place
	}{
		"all":               {[]string{region, city, asn}, whole},
		"the network first": {[]string{asn, region, city}, whole},
		"the same twice":    {[]string{region, region}, known},
		"of ASNs alone":     {[]string{asn}, network},
		"another country":   {[]string{region, american}, known},
		"another province":  {[]string{region, guangdong}, continental},
	} {
		got, found, err := openFiles(t, row.files...).Lookup(netip.MustParseAddr("3.4.5.6"))
		if diff := cmp.Diff(row.want, got); err != nil || !found || diff != "" {
			t.Errorf("%s: %v %v %s", name, found, err, diff)
		}
	}
	if len(openFiles(t, region, region).opened) != 1 {
		t.Error("a file was opened twice")
	}
	if _, found, err := openFiles(t, region, asn).Lookup(netip.MustParseAddr("200.1.1.1")); found || err != nil {
		t.Errorf("an unknown address: %v %v", found, err)
	}
}

// TestFilesOfBothFamilies: ip2region has one file for IPv4 and one for IPv6.
func TestFilesOfBothFamilies(t *testing.T) {
	v4 := buildXDB(map[[2]string]string{{"3.4.0.0", "3.4.255.255"}: "中国|浙江省|杭州市|阿里云|CN"})
	f := openFiles(t, writeDB(t, "v4.xdb", v4), writeDB(t, "v6.xdb", buildXDB6("2400:3200::", "2400:3200:ffff::", "中国|北京|北京市|教育网|CN")))
	for address, want := range map[string]string{"3.4.5.6": "杭州市", "2400:3200::1": "北京市"} {
		if p, found, err := f.Lookup(netip.MustParseAddr(address)); err != nil || !found || p.City != want {
			t.Errorf("%s: %+v %v %v", address, p, found, err)
		}
	}
}

// TestDamagedFileHidesNothing: what the others know is still answered.
func TestDamagedFileHidesNothing(t *testing.T) {
	ranges := map[[2]string]string{{"3.4.0.0", "3.4.255.255"}: "中国|浙江省|杭州市|阿里云|CN"}
	damaged := buildXDB(ranges)
	damaged = damaged[:len(damaged)-8]
	bad, good := writeDB(t, "bad.xdb", damaged), writeDB(t, "good.xdb", buildXDB(ranges))
	if p, found, err := openFiles(t, bad, good).Lookup(netip.MustParseAddr("3.4.5.6")); err != nil || !found || p.City != "杭州市" {
		t.Errorf("%+v %v %v", p, found, err)
	}
	if _, _, err := openFiles(t, bad).Lookup(netip.MustParseAddr("3.4.5.6")); err == nil {
		t.Error("the damage is not told")
	}
}

func TestOpenFilesRefuses(t *testing.T) {
	good := writeDB(t, "asn.mmdb", buildMMDB(asnRecord))
	for _, bad := range []string{writeDB(t, "bad.mmdb", []byte("x")), filepath.Join(t.TempDir(), "none.xdb")} {
		if f, err := OpenFiles([]string{good, bad}); err == nil || f != nil {
			t.Errorf("%s was opened", bad)
		}
	}
}

func TestFilesKnowWhetherTheyAreCurrent(t *testing.T) {
	a, b := writeDB(t, "a.mmdb", buildMMDB(asnRecord)), writeDB(t, "b.mmdb", buildMMDB(asnRecord))
	f := openFiles(t, a, b)
	if !f.Current([]string{a, b, a}) || f.Current([]string{b, a}) || f.Current([]string{a}) {
		t.Error("other paths count as the same, or the same as others")
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(b, later, later); err != nil {
		t.Fatal(err)
	}
	if f.Current([]string{a, b}) {
		t.Error("a changed file counts as current")
	}
	if err := os.Remove(a); err != nil {
		t.Fatal(err)
	}
	if f.Current([]string{a, b}) {
		t.Error("a file that is gone counts as current")
	}
}

// TestAFileThatIsCutOffWhileItIsOpen, as by who writes another over it in its place, ends no
// process: it says nothing until it is opened anew, and what others know counts.
func TestAFileThatIsCutOffWhileItIsOpen(t *testing.T) {
	cut := writeDB(t, "city.mmdb", buildMMDB(cityRecord(nil)))
	region := writeDB(t, "v4.xdb", buildXDB(map[[2]string]string{{"3.4.0.0", "3.4.255.255"}: "中国|浙江省|杭州市|阿里云|CN"}))
	f, both := openFiles(t, cut), openFiles(t, cut, region)
	if err := os.Truncate(cut, 0); err != nil {
		t.Skip(err) // where it is held open
	}
	a := netip.MustParseAddr("3.4.5.6")
	if p, found, err := f.Lookup(a); found || err == nil {
		t.Errorf("%+v %v %v", p, found, err)
	}
	if p, found, err := both.Lookup(a); !found || err != nil || p.ISP != "阿里云" {
		t.Errorf("%+v %v %v", p, found, err)
	}
}
