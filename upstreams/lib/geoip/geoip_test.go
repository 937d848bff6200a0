package geoip

import (
	"encoding/binary"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScope(t *testing.T) {
	for in, want := range map[string]string{
		"8.8.8.8": "", "114.114.114.114": "", "2400:3200::1": "", "::ffff:8.8.8.8": "", "100.63.0.1": "", "172.32.0.1": "",
		"0.0.0.0": "unspecified", "::": "unspecified", "127.0.0.1": "loopback", "::1": "loopback", "::ffff:127.0.0.1": "loopback",
		"10.0.0.1": "private", "172.16.0.1": "private", "192.168.1.1": "private", "fd00::1": "private", "fec0::1": "private",
		"169.254.1.1": "link_local", "fe80::1": "link_local", "100.64.0.1": "cgnat", "224.0.0.1": "multicast", "ff02::1": "multicast",
		"255.255.255.255": "broadcast", "192.0.2.1": "documentation", "198.51.100.1": "documentation", "203.0.113.1": "documentation",
		"2001:db8::1": "documentation", "3fff::1": "documentation", "198.18.0.1": "benchmarking", "2001:2::1": "benchmarking",
		"64:ff9b::1": "translation", "2002::1": "transition", "2001::1": "transition", "192.88.99.1": "transition", "100::1": "discard",
		"240.0.0.1": "reserved", "0.1.2.3": "reserved", "192.0.0.1": "reserved", "4000::1": "reserved",
	} {
		if got := Scope(netip.MustParseAddr(in)); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	if Scope(netip.Addr{}) != "reserved" {
		t.Error("the zero address")
	}
}

func TestParseAddr(t *testing.T) {
	for in, want := range map[string]string{"8.8.8.8": "8.8.8.8", "::ffff:8.8.8.8": "8.8.8.8", "2001:DB8::1": "2001:db8::1"} {
		if a, err := ParseAddr(in); err != nil || a.String() != want {
			t.Errorf("%s: %v %v", in, a, err)
		}
	}
	for _, in := range []string{"", "127.1", "010.0.0.1", "8.8.8.8:53", "8.8.8.0/24", "fe80::1%eth0", "[::1]", "example.org", strings.Repeat("1", 60)} {
		if a, err := ParseAddr(in); err == nil {
			t.Errorf("%q: %v", in, a)
		}
	}
}

func TestCountry(t *testing.T) {
	db := Country()
	for in, want := range map[string]Place{
		"8.8.8.8":              {Country: "美国", CountryCode: "US"},
		"114.114.114.114":      {Country: "中国", CountryCode: "CN"},
		"168.95.1.1":           {Country: "中国台湾", CountryCode: "TW"},
		"203.80.96.10":         {Country: "中国香港", CountryCode: "HK"},
		"2001:4860:4860::8888": {Country: "美国", CountryCode: "US"},
	} {
		got, ok, err := db.Lookup(netip.MustParseAddr(in))
		if err != nil || !ok || !cmp.Equal(got, want) {
			t.Errorf("%s: %+v %v %v", in, got, ok, err)
		}
	}
	if _, ok, _ := db.Lookup(netip.MustParseAddr("10.0.0.1")); ok {
		t.Error("a private address has a country")
	}
}

func TestPlaceData(t *testing.T) {
	lat, lng := 30.2, 120.1
	got := Place{Country: "中国", Latitude: &lat, Longitude: &lng}.Data()
	if diff := cmp.Diff(map[string]any{"country": "中国", "latitude": 30.2, "longitude": 120.1}, got); diff != "" {
		t.Error(diff)
	}
	got = Place{CountryCode: "US", ASN: 15169, ASName: "Google LLC", Postal: "94043"}.Data()
	want := map[string]any{"country_code": "US", "continent": "北美洲", "continent_code": "NA", "asn": 15169, "as_name": "Google LLC", "postal": "94043"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := (Place{CountryCode: "US", ContinentCode: "XX", Continent: "x"}).Data(); got["continent"] != "x" {
		t.Errorf("the database's own continent: %v", got)
	}
}

func TestContinent(t *testing.T) {
	for in, want := range map[string]string{
		"CN": "AS 亚洲", "HK": "AS 亚洲", "TW": "AS 亚洲", "RU": "EU 欧洲", "TR": "AS 亚洲", "US": "NA 北美洲", "MX": "NA 北美洲", "CU": "NA 北美洲", "BR": "SA 南美洲",
		"EG": "AF 非洲", "AU": "OC 大洋洲", "FJ": "OC 大洋洲", "AQ": "AN 南极洲", "GL": "NA 北美洲", "XK": "EU 欧洲", "": " ", "ZZ": " ", "150": " ", "EU": " ",
	} {
		if code, name := Continent(in); code+" "+name != want {
			t.Errorf("%q: %s %s, want %s", in, code, name, want)
		}
		if name := CountryName(in); (name == "") != (want == " ") {
			t.Errorf("%q is %q", in, name)
		}
	}
}

// buildXDB writes a file of a few IPv4 ranges, as ip2region lays it out.
func buildXDB(ranges map[[2]string]string) []byte {
	le := binary.LittleEndian
	b := make([]byte, xdbHeader+xdbVectors)
	le.PutUint16(b, 2)
	place := map[string]uint32{}
	for _, text := range ranges {
		place[text] = uint32(len(b))
		b = append(b, text...)
	}
	for r, text := range ranges {
		from, to := netip.MustParseAddr(r[0]).As4(), netip.MustParseAddr(r[1]).As4()
		at := uint32(len(b))
		b = le.AppendUint32(b, binary.BigEndian.Uint32(from[:]))
		b = le.AppendUint32(b, binary.BigEndian.Uint32(to[:]))
		b = le.AppendUint16(b, uint16(len(text)))
		b = le.AppendUint32(b, place[text])
		v := b[xdbHeader+(int(from[0])*256+int(from[1]))*8:]
		le.PutUint32(v, at)
		le.PutUint32(v[4:], at)
	}
	return b
}

// buildXDB6 is buildXDB for a range of IPv6.
func buildXDB6(from, to, text string) []byte {
	le := binary.LittleEndian
	b := make([]byte, xdbHeader+xdbVectors)
	le.PutUint16(b, xdbVersion3)
	le.PutUint16(b[16:], 6)
	place := uint32(len(b))
	b = append(b, text...)
	first, last, at := netip.MustParseAddr(from).As16(), netip.MustParseAddr(to).As16(), uint32(len(b))
	b = append(append(b, first[:]...), last[:]...)
	b = le.AppendUint16(b, uint16(len(text)))
	b = le.AppendUint32(b, place)
	v := b[xdbHeader+(int(first[0])*256+int(first[1]))*8:]
	le.PutUint32(v, at)
	le.PutUint32(v[4:], at)
	return b
}

func TestXDB(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ip.xdb")
	data := buildXDB(map[[2]string]string{
		{"1.2.0.0", "1.2.0.255"}: "中国|0|上海|上海市|电信", {"3.4.0.0", "3.4.255.255"}: "中国|浙江省|杭州市|阿里云|CN", {"5.6.0.0", "5.6.7.8"}: "0|0|0|内网IP|内网IP",
	})
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]Place{
		"1.2.0.7": {Country: "中国", Province: "上海市", City: "上海市", ISP: "电信"},
		"3.4.5.6": {Country: "中国", Province: "浙江省", City: "杭州市", ISP: "阿里云", CountryCode: "CN"},
		"1.2.1.0": {}, "5.6.0.1": {}, "9.9.9.9": {}, "2400:3200::1": {},
	} {
		got, ok, err := db.Lookup(netip.MustParseAddr(in))
		if err != nil || ok != (want.Country != "") || !cmp.Equal(got, want) {
			t.Errorf("%s: %+v %v %v", in, got, ok, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{"a.csv": "x", "short.xdb": "x", "empty.mmdb": "", "bad.mmdb": strings.Repeat("x", 1000), "v9.xdb": "\x09" + strings.Repeat("\x00", xdbHeader+xdbVectors)} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(file); err == nil {
			t.Errorf("%s was opened", name)
		}
	}
	for _, name := range []string{"none.xdb", "none.mmdb"} {
		if _, err := Open(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was opened", name)
		}
	}
}

// mmdbWriter writes the types of values that records contain.
type mmdbWriter struct{ b []byte }

func (w *mmdbWriter) control(kind, size int) {
	var longer []byte
	if size >= 29 { // the rest follows in a byte of its own
		longer, size = []byte{byte(size - 29)}, 29
	}
	if kind > 7 {
		w.b = append(w.b, byte(size), byte(kind-7))
	} else {
		w.b = append(w.b, byte(kind<<5|size))
	}
	w.b = append(w.b, longer...)
}

func (w *mmdbWriter) value(v any) {
	switch v := v.(type) {
	case string:
		w.control(2, len(v))
		w.b = append(w.b, v...)
	case float64:
		w.control(3, 8)
		w.b = binary.BigEndian.AppendUint64(w.b, math.Float64bits(v))
	case uint16:
		w.control(5, 2)
		w.b = binary.BigEndian.AppendUint16(w.b, v)
	case uint32:
		w.control(6, 4)
		w.b = binary.BigEndian.AppendUint32(w.b, v)
	case uint64:
		w.control(9, 8)
		w.b = binary.BigEndian.AppendUint64(w.b, v)
	case []any:
		w.control(11, len(v))
		for _, x := range v {
			w.value(x)
		}
	case map[string]any:
		w.control(7, len(v))
		for k, x := range v {
			w.value(k)
			w.value(x)
		}
	}
}

// buildMMDB writes a database in which the lower half of all IPv4 addresses is
// one record, and the upper half unknown.
func buildMMDB(record map[string]any) []byte {
	const nodes = 1
	tree := []byte{0, 0, nodes + 16, 0, 0, nodes} // left: first record; right: nothing
	w := &mmdbWriter{b: append(tree, make([]byte, 16)...)}
	w.value(record)
	w.b = append(w.b, "\xab\xcd\xefMaxMind.com"...)
	w.value(map[string]any{
		"binary_format_major_version": uint16(2), "binary_format_minor_version": uint16(0), "build_epoch": uint64(1_790_000_000),
		"database_type": "Test", "description": map[string]any{"en": "test"}, "ip_version": uint16(4), "languages": []any{"en"},
		"node_count": uint32(nodes), "record_size": uint16(24),
	})
	return w.b
}

func TestMMDB(t *testing.T) {
	lat, lng := 31.2, 121.5
	rows := map[string]struct {
		record map[string]any
		want   Place
	}{
		"nested": {map[string]any{
			"country":      map[string]any{"iso_code": "CN", "names": map[string]any{"zh-CN": "中国", "en": "China"}},
			"subdivisions": []any{map[string]any{"names": map[string]any{"zh-CN": "上海"}}},
			"city":         map[string]any{"names": map[string]any{"en": "Shanghai"}},
			"location":     map[string]any{"latitude": lat, "longitude": lng, "time_zone": "Asia/Shanghai"},
		}, Place{Country: "中国", CountryCode: "CN", Province: "上海市", City: "Shanghai", Timezone: "Asia/Shanghai", Latitude: &lat, Longitude: &lng}},
		"flat": {map[string]any{"country_code": "US", "state1": "California", "city": "Mountain View"},
			Place{Country: "美国", CountryCode: "US", Province: "California", City: "Mountain View"}},
		"network": {map[string]any{
			"continent": map[string]any{"code": "AS", "names": map[string]any{"zh-CN": "亚洲"}}, "country": map[string]any{"iso_code": "JP"}, "postal": map[string]any{"code": "100-0001"},
			"traits": map[string]any{"isp": "Example", "autonomous_system_number": uint32(64500), "autonomous_system_organization": "Example Net"},
		}, Place{Continent: "亚洲", ContinentCode: "AS", Country: "日本", CountryCode: "JP", Postal: "100-0001", ISP: "Example", ASN: 64500, ASName: "Example Net"}},
		"flat with a network": {map[string]any{"country_code": "US", "postcode": "94043", "asn": "AS15169", "as_name": "Google LLC"},
			Place{Country: "美国", CountryCode: "US", Postal: "94043", ASN: 15169, ASName: "Google LLC"}},
		"network alone": {map[string]any{"autonomous_system_number": uint32(15169), "autonomous_system_organization": "Google"}, Place{ASN: 15169, ASName: "Google"}},
		"country alone": {map[string]any{"country": map[string]any{"iso_code": "HK"}}, Place{Country: "中国香港", CountryCode: "HK"}},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "city.mmdb")
			if err := os.WriteFile(file, buildMMDB(r.record), 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := Open(file)
			if err != nil {
				t.Fatal(err)
			}
			got, ok, err := db.Lookup(netip.MustParseAddr("8.8.8.8"))
			if diff := cmp.Diff(r.want, got); err != nil || !ok || diff != "" {
				t.Errorf("%v %v %s", ok, err, diff)
			}
			if _, ok, err := db.Lookup(netip.MustParseAddr("200.1.1.1")); ok || err != nil {
				t.Errorf("an unknown address: %v %v", ok, err)
			}
		})
	}
}

func FuzzXDB(f *testing.F) {
	f.Add(uint32(300), uint32(400), uint16(20), uint32(100), "中国|0|上海|上海市|电信")
	f.Add(uint32(1<<31), uint32(1<<32-1), uint16(9), uint32(1<<32-1), "x")
	f.Fuzz(func(t *testing.T, first, last uint32, length uint16, at uint32, text string) {
		b := buildXDB(map[[2]string]string{{"1.2.0.0", "1.2.0.255"}: text})
		v := b[xdbHeader+(1*256+2)*8:]
		binary.LittleEndian.PutUint32(v, first)
		binary.LittleEndian.PutUint32(v[4:], last)
		binary.LittleEndian.PutUint16(b[len(b)-6:], length)
		binary.LittleEndian.PutUint32(b[len(b)-4:], at)
		db, err := newXDB(b)
		if err != nil {
			t.Fatal(err)
		}
		_, _, _ = db.Lookup(netip.MustParseAddr("1.2.0.7"))
	})
}
