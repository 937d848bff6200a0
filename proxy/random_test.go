package proxy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"image"
	_ "image/png"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"

	"sundry/upstreams/catalog"
)

// phone and desktop are User-Agent headers.
const (
	phone   = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36"
	desktop = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"
)

// even fails when draws are spread less evenly over n values than chance does:
// the bound on chi-squared is exceeded by a fair choice once in a million.
func even(t *testing.T, what string, counts map[string]int, n int) {
	t.Helper()
	if len(counts) != n {
		t.Errorf("%s: %d different answers, want %d", what, len(counts), n)
		return
	}
	total := 0
	for _, c := range counts {
		total += c
	}
	expected, chi := float64(total)/float64(n), 0.0
	for _, c := range counts {
		chi += (float64(c) - expected) * (float64(c) - expected) / expected
	}
	k := float64(n - 1) // Wilson and Hilferty's approximation of the quantile
	bound := k * math.Pow(1-2/(9*k)+4.75*math.Sqrt(2/(9*k)), 3)
	if chi > bound {
		t.Errorf("%s: chi-squared %.1f over %d values, want less than %.1f: %v", what, chi, n, bound, counts)
	}
}

// TestRandomIsEven picks from every pool in replay.
func TestRandomIsEven(t *testing.T) {
	f := newFront(t, nil, replaying("music", "sjbz", "sjsp", "yiyan"))
	for path, n := range map[string]int{
		"yiyan?type=text": 218, "music?type=url": 2, "music?type=text": 2, "sjsp": 2,
		"sjbz?format=json&lx=dongman": 9, "sjbz?format=json&method=mobile&lx=dongman": 5,
	} {
		counts := map[string]int{}
		for range 30 * n {
			a := f.get("/api/" + path)
			if a.StatusCode >= 400 {
				t.Fatalf("%s: %s", path, a.body)
			}
			a.header(t, "Cache-Control", "no-store")
			counts[a.body]++
		}
		even(t, path, counts, n)
	}
}

// TestEmptyCategoryIsAnyCategory: absent, empty and suiji mean all three.
func TestEmptyCategoryIsAnyCategory(t *testing.T) {
	f := newFront(t, nil, replaying("sjbz"))
	for _, query := range []string{"", "&lx=", "&lx=suiji"} {
		counts := map[string]int{}
		for range 150 {
			counts[field(t, f.get("/api/sjbz?format=json"+query), "lx")]++
		}
		even(t, "sjbz"+query, counts, 3)
	}
}

func field(t *testing.T, a answer, name string) string {
	t.Helper()
	var doc struct{ Data map[string]any }
	d := json.NewDecoder(strings.NewReader(a.body))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return fmt.Sprint(doc.Data[name])
}

func TestAdaptiveWallpaperFitsTheDevice(t *testing.T) {
	f := newFront(t, nil, replaying("sjbz"))
	for _, r := range []struct{ want, agent, hint string }{
		{"mobile", phone, ""}, {"pc", desktop, ""}, {"pc", "", ""}, {"mobile", desktop, "?1"}, {"pc", phone, "?0"},
	} {
		headers := []string{"User-Agent", r.agent}
		if r.hint != "" {
			headers = append(headers, "Sec-CH-UA-Mobile", r.hint)
		}
		if got := field(t, f.get("/api/sjbz?method=zsy&lx=dongman&format=json", headers...), "method"); got != r.want {
			t.Errorf("%+v: %s", r, got)
		}
	}
	if got := field(t, f.get("/api/sjbz?lx=dongman&format=json", "User-Agent", phone), "method"); got != "pc" {
		t.Errorf("without a method: %s, want pc for everyone", got)
	}
}

// TestWallpaperIsThePictureItself: the picture is served and cached, and a link
// without one is skipped.
func TestWallpaperIsThePictureItself(t *testing.T) {
	f := newFront(t, nil, replaying("sjbz"))
	for query, wide := range map[string]bool{"lx=dongman": true, "method=mobile&lx=dongman": false} {
		hits := 0
		for range 60 {
			a := f.get("/api/sjbz?" + query)
			a.want(t, http.StatusOK)
			a.header(t, "Content-Type", "image/png")
			a.header(t, "Cache-Control", "no-store")
			a.header(t, "Sundry-Source", "replay:")
			if a.Header.Get("Etag") != "" || a.Header.Get("Location") != "" {
				t.Fatalf("a random picture with %v", a.Header)
			}
			cfg, _, err := image.DecodeConfig(strings.NewReader(a.body))
			if err != nil || wide && cfg.Width < cfg.Height {
				t.Fatalf("%s: %v %v", query, cfg, err)
			}
			if strings.Contains(a.Header.Get("Cache-Status"), "hit") {
				hits++
			}
		}
		if hits < 40 {
			t.Errorf("%s: %d of 60 pictures came out of the cache", query, hits)
		}
	}
}

func TestOperatorMayRedirectInstead(t *testing.T) {
	f := newFront(t, nil, replaying("sjbz"))
	no := false
	f.over = map[string]catalog.Overrides{"sjbz": {Through: &no}}
	f.load(nil)
	a := f.get("/api/sjbz?lx=dongman")
	a.want(t, http.StatusFound)
	a.header(t, "Location", "https://p")
	a.header(t, "Referrer-Policy", "no-referrer")
	a.header(t, "Cache-Control", "no-store")
}

// pictured is an endpoint that serves the pictures of a list, which may come from some
// hosts.
func pictured(list *fake, hosts ...*fake) map[string]string {
	var allowed []string
	for _, h := range hosts {
		allowed = append(allowed, strings.TrimPrefix(h.URL, "http://"))
	}
	return map[string]string{"simple": `version: 1
name: simple
group: images
summary: {en: A test., zh: 测试}
cache: {class: shared, ttl: 1m}
forms:
  - {name: images, each: ".list[]", redirect: ., through: {chain: pictures, ttl: 1h}}
sources:
  - {name: list, http: {url: "` + list.URL + `/"}}
chains:
  pictures:
    sources:
      - {name: picture, computed: {}, picture: {url: $params.link, hosts: ["` + strings.Join(allowed, `", "`) + `"]}}
`}
}

// TestPicturesThatCannotBeFetched: a host that fails is not asked again for the same
// request, and the caller is sent to a picture that the service cannot reach.
func TestPicturesThatCannotBeFetched(t *testing.T) {
	picture := newFake(t, "<html>no picture</html>")
	list := newFake(t, `{"list":["`+picture.URL+`/a.png","`+picture.URL+`/b.png","`+picture.URL+`/c.png","`+picture.URL+`/d.png"]}`)
	f := newFront(t, pictured(list, picture))
	a := f.get("/api/simple", "Accept", "application/json")
	a.want(t, http.StatusFound)
	a.header(t, "Location", picture.URL+"/")
	a.header(t, "Cache-Control", "no-store")
	if n := picture.calls.Load(); n != 1 {
		t.Errorf("%d pictures were asked for, want 1", n)
	}
	if n := list.calls.Load(); n != 1 {
		t.Errorf("the list was fetched %d times", n)
	}
}

// TestADeadPictureHost: pictures of other hosts are served, even if most of the list
// is on the dead one.
func TestADeadPictureHost(t *testing.T) {
	dead, alive := newFake(t, "<html>no picture</html>"), newFake(t, onePixel)
	list := newFake(t, `{"list":["`+strings.Repeat(dead.URL+`/a.png","`, 3)+alive.URL+`/b.png"]}`)
	f := newFront(t, pictured(list, dead, alive))
	for range 10 {
		f.get("/api/simple").want(t, http.StatusOK)
	}
}

// onePixel is a GIF.
const onePixel = "GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"

func TestSongParameters(t *testing.T) {
	f := newFront(t, nil, replaying("music"))
	for query, want := range map[string]string{
		"": "3778678", "sort=新歌榜": "3779629", "sort=%E6%96%B0%E6%AD%8C%E6%A6%9C": "3779629", "mid=42": "42", "id=41": "41",
		"sort=飙升榜&mid=42": "42", "sort=飙升榜&mid=42&id=41": "41", "mid=42&id=": "42", "sort=视频榜": "2250011882", "sort=电音榜": "1978921795", "sort=热歌榜": "3778678", "sort=": "3778678",
	} {
		if got := field(t, f.get("/api/music?"+query), "playlist_id"); got != want {
			t.Errorf("%s: playlist %s, want %s", query, got, want)
		}
	}
	f.get("/api/music?type=text").want(t, http.StatusOK, "歌曲：", "歌手：", "链接：https://", "\n音乐分享")
	f.get("/api/music?type=text&tail=%E4%BB%8A%E5%A4%A9%0AEvil:+1").want(t, http.StatusOK, "\n今天 Evil: 1")
	f.get("/api/music?type=text&tail="+strings.Repeat("a", 65)).want(t, http.StatusBadRequest, "参数 tail 有误")
	f.get("/api/music?type=url").want(t, http.StatusFound)
	f.get("/api/music?format=mp3").want(t, http.StatusFound)
	f.get("/api/music?format=mp3&type=json").want(t, http.StatusOK, `"playable":true`)
	f.get("/api/music?sort=%E5%86%B7%E9%97%A8%E6%A6%9C").want(t, http.StatusBadRequest, "参数 sort 有误", "热歌榜")
	a := f.get("/api/music?id=555")
	a.want(t, http.StatusNotFound, "没有 ID 为 555 的公开歌单")
	head := f.do(t.Context(), http.MethodHead, "/api/music?type=text&tail=x")
	if head.ContentLength < 20 || head.body != "" {
		t.Errorf("HEAD: %d bytes announced", head.ContentLength)
	}
}

// TestRawUTF8: a query in plain UTF-8 bytes, as shell scripts send it.
func TestRawUTF8(t *testing.T) {
	f := newFront(t, nil, replaying("music", "sjsp"))
	for path, want := range map[string]string{"/api/sjsp/index.php?msg=风景": "风景", "/api/music?sort=飙升榜": "19723756"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(f.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct{ Data map[string]any }
		d := json.NewDecoder(resp.Body)
		d.UseNumber()
		if err := d.Decode(&doc); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %v", path, resp.StatusCode, err)
		}
		if got := fmt.Sprint(doc.Data["category"], doc.Data["playlist_id"]); !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
		_ = resp.Body.Close()
		_ = conn.Close()
	}
}

// TestStaleUseEndsWhenTheLinksExpire: stale-while-revalidate and stale-if-error end
// before a signed link does.
func TestStaleUseEndsWhenTheLinksExpire(t *testing.T) {
	f := newFront(t, nil, replaying("vidparse"))
	control := f.get("/api/vidparse?url=https%3A%2F%2Fv.kuaishou.com%2FAbCd12").Header.Get("Cache-Control")
	var fresh, grace, stale int
	if _, err := fmt.Sscanf(control, "public, max-age=%d, stale-while-revalidate=%d, stale-if-error=%d", &fresh, &grace, &stale); err != nil {
		t.Fatalf("%s: %v", control, err)
	}
	if stale <= 0 || fresh+stale > 4500 || grace > 900 {
		t.Errorf("%s: the link lives for 4500 seconds", control)
	}
}
