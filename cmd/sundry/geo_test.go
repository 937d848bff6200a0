package main

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// placeFile writes an ip2region file that puts 3.4.0.0/16 into a city.
func placeFile(t *testing.T, dir, name, city string) string {
	t.Helper()
	const header, vectors = 256, 256 * 256 * 8
	le, text := binary.LittleEndian, "中国|浙江省|"+city+"|阿里云|CN"
	b := make([]byte, header+vectors)
	le.PutUint16(b, 2)
	b = append(b, text...)
	entry := uint32(len(b))
	b = append(b, 0, 0, 4, 3, 255, 255, 4, 3)
	b = le.AppendUint16(b, uint16(len(text)))
	b = le.AppendUint32(b, header+vectors)
	index := b[header+(3*256+4)*8:]
	le.PutUint32(index, entry)
	le.PutUint32(index[4:], entry)
	next := write(t, t.TempDir(), "next", string(b))
	file := filepath.Join(dir, name)
	if err := os.Rename(next, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestGeoFilesAreReloaded: another list, and the same files with another content. A
// file that cannot be opened leaves those in force that were.
func TestGeoFilesAreReloaded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	few := only("ip")
	settings := write(t, dir, "sundry.yaml", "cache: {warm: false}\n"+few)
	p := serve(t, "--replay", "--config", settings)
	asked := 0
	city := func() string {
		asked++ // another address each time: answers are cached
		_, body := mustGet(t, fmt.Sprintf("%s/api/ip?ip=3.4.5.%d", p.public, asked))
		return body
	}
	if body := city(); strings.Contains(body, "舟山市") {
		t.Fatalf("without a file: %s", body)
	}
	first := "geo_file: [" + placeFile(t, dir, "a.xdb", "舟山市") + ", " + placeFile(t, dir, "b.xdb", "宁波市") + "]\n"
	both := fmt.Sprintf("geo_file: [%s/a.xdb %s/b.xdb]", dir, dir)
	for i, step := range []struct {
		file, replace, want, logged string
		opened                      int // how often files were opened by then
	}{
		{first, "", "舟山市", both + ", was []", 1},
		{first, "", "舟山市", "", 1},
		{first, "温州市 ", "温州市", "", 2},
		{"geo_file: " + dir + "/b.xdb\n", "", "宁波市", fmt.Sprintf("geo_file: [%s/b.xdb], was %s", dir, strings.TrimPrefix(both, "geo_file: ")), 3},
	} {
		if step.replace != "" {
			placeFile(t, dir, "a.xdb", step.replace)
		}
		if status, doc := p.reloaded(t, settings, "cache: {warm: false}\n"+step.file+few); status != http.StatusOK {
			t.Errorf("step %d: %d %v", i, status, doc)
		}
		if body := city(); !strings.Contains(body, step.want) {
			t.Errorf("step %d: %s, want %s", i, body, step.want)
		}
		// The watch on the settings may have reloaded them before the call did.
		log := p.stderr.String()
		if n := strings.Count(log, "geo_file: read again"); n != step.opened || !strings.Contains(log, step.logged) {
			t.Errorf("step %d: files were opened %d times, want %d, and %q in\n%s", i, n, step.opened, step.logged, log)
		}
	}
	bad := write(t, dir, "bad.mmdb", "x")
	if status, doc := p.reloaded(t, settings, "cache: {warm: false}\nlog_level: warn\ngeo_file: ["+bad+"]\n"+few); status == http.StatusOK || !strings.Contains(fmt.Sprint(doc), "sundry.yaml:3: geo_file: "+bad) {
		t.Errorf("a file that cannot be opened: %d %v", status, doc)
	}
	if body := city(); !strings.Contains(body, "宁波市") {
		t.Errorf("after a mistake: %s", body)
	}
}
