package proxy

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// An endpoint whose every answer comes from one HTTP source: each id is a miss.
const missCatalog = `version: 1
name: thing
group: text
summary: {en: A benchmark., zh: 基准}
params:
  - {name: id, type: int, min: 1, max: 1000000000, required: true, example: "7"}
  - {name: type, role: form, example: text}
cache: {class: keyed, ttl: 24h, negative: 1h}
fields:
  id: {en: Its number., zh: 编号。}
  name: {en: Its name., zh: 名称。}
  country: {en: Where it is., zh: 国家。}
  isp: {en: Who runs it., zh: 运营商。}
  latitude: {en: Degrees north., zh: 纬度。}
  tags: {en: What it is about., zh: 标签。}
  items: {en: Its parts., zh: 部分。}
forms:
  - {name: json, json: .}
  - {name: text, text: '"\(.name), \(.country)\n" + ([.items[] | "\(.title) \(.url)"] | join("\n"))'}
sources:
  - name: origin
    negative: next
    http:
      url: "http://ORIGIN/things/{id}"
      query: {lang: zh-CN, fields: "id,name,country,items"}
      headers: {Referer: "http://ORIGIN/"}
      max_kib: 64
    judge:
      - {if: .code != 0, is: unavailable}
      - {if: .data.name == null, is: negative}
    map: |
      .data
      | {id, name, country: .country_name, isp: .connection.isp, latitude: .lat, tags,
         items: [.list[] | {title, url: .link, rank}]}
`

// missReply is a reply of about a kibibyte, as services write them.
func missReply(id string) string {
	var list []string
	for i := range 6 {
		list = append(list, fmt.Sprintf(`{"title":"第%d条新闻的标题，不长也不短","link":"https://www.example.org/news/2026/%d.html","rank":%d,"hot":%d.5}`, i+1, 1000+i, i+1, 100*i))
	}
	return fmt.Sprintf(`{"code":0,"msg":"ok","data":{"id":%s,"name":"一个名字","country_name":"中国","country_code":"CN",`+
		`"connection":{"asn":4134,"isp":"中国电信","org":"Chinanet"},"lat":39.9042,"lng":116.4074,"tags":["新闻","热点","今日"],"list":[%s]},"time":1790000000}`,
		id, strings.Join(list, ","))
}

// missEnv makes this test binary one of the servers of BenchmarkMiss: the kind, and
// after a space the address of the origin.
const missEnv = "SUNDRY_BENCH_MISS"

// missLimits bound nothing that the benchmark sends.
func missLimits() Limits { return Limits{InFlight: 10000, Share: 1} }

// TestMissChild is not a test: it is a server that BenchmarkMiss starts.
func TestMissChild(t *testing.T) {
	kind, origin, _ := strings.Cut(os.Getenv(missEnv), " ")
	if kind == "" {
		t.Skip("only as a child of BenchmarkMiss")
	}
	ballast := make([]byte, 64<<20) // as `sundry serve` has
	defer runtime.KeepAlive(ballast)
	switch kind {
	case "origin":
		serveChild(t, http.HandlerFunc(answerThing), "/")
	case "reverse":
		target := &url.URL{Scheme: "http", Host: origin}
		p := &httputil.ReverseProxy{
			Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
			Transport: &http.Transport{MaxIdleConns: 1024, MaxIdleConnsPerHost: 1024},
		}
		serveChild(t, p, "/things/%d")
	case "miss":
		s := serverOf(t, missLimits(), map[string]string{"thing.yaml": strings.ReplaceAll(missCatalog, "ORIGIN", origin)})
		serveChild(t, s, "/api/thing?id=%d")
	case "api":
		s := serverOf(t, missLimits(), map[string]string{"thing.yaml": "version: 1\nname: thing\nproxy: {to: 'http://" + origin + "', response: {set: {Cache-Control: max-age=600}}}\n"})
		serveChild(t, s, "/api/thing/things/%d")
	}
}

// answerThing is what the origin does.
func answerThing(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Server", "nginx")
	_, _ = w.Write([]byte(missReply(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])))
}

// startMissServer starts a server of a kind, each of whose requests has an id of its
// own.
func startMissServer(b *testing.B, kind, origin string) *child {
	b.Helper()
	c := startServer(b, "TestMissChild", missEnv, kind+" "+origin)
	path, id := c.path(), new(atomic.Int64)
	if strings.Contains(path, "%d") {
		c.path = func() string { return fmt.Sprintf(path, id.Add(1)) }
	}
	return c
}

// BenchmarkMiss measures the CPU time of a server process per miss through one HTTP
// source, per miss of an API whose response is stored, and that of httputil.ReverseProxy
// in front of the same origin. They run in turns; the median of the rounds counts. The
// ratio api/reverse-wall is that of the time until all are answered, and api/reverse-alone
// that of the time in which one client is answered whose requests come one after the other.
func BenchmarkMiss(b *testing.B) {
	origin := startMissServer(b, "origin", "")
	kinds := []string{"reverse", "miss", "api"}
	servers := map[string]*child{}
	for _, k := range kinds {
		servers[k] = startMissServer(b, k, origin.addr)
		servers[k].load(b, 300)
	}
	for b.Loop() {
		rounds, walls, alone := map[string][]time.Duration{}, map[string][]time.Duration{}, map[string][]time.Duration{}
		for range 9 {
			for _, k := range kinds {
				began := time.Now()
				rounds[k] = append(rounds[k], servers[k].load(b, 400))
				walls[k] = append(walls[k], time.Since(began))
				began = time.Now()
				servers[k].client(b, 1000)
				alone[k] = append(alone[k], time.Since(began))
			}
		}
		base := median(rounds["reverse"])
		b.ReportMetric(float64(base.Nanoseconds()), "reverse-cpu-ns")
		b.ReportMetric(float64(median(rounds["miss"]))/float64(base), "miss/reverse")
		b.ReportMetric(float64(median(rounds["api"]))/float64(base), "api/reverse")
		b.ReportMetric(float64(median(walls["api"]))/float64(median(walls["reverse"])), "api/reverse-wall")
		b.ReportMetric(float64(median(alone["api"]))/float64(median(alone["reverse"])), "api/reverse-alone")
	}
}
