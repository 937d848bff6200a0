package sharelink

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sundry/metrics/words"
)

const (
	aweme = "7412345678901234567" // 19 digits, beyond 2⁵³
	note  = "68e8e3fa00000000030342ec"
	xsec  = "CBvgTlD0eQ2m6j1X0d5UgM_2f9Q-kX0="
)

func post(platform, kind, id, url string, extra ...string) Link {
	l := Link{Platform: platform, Kind: kind, ID: id, URL: url}
	for i := 0; i < len(extra); i += 2 {
		if l.Extra == nil {
			l.Extra = map[string]string{}
		}
		l.Extra[extra[i]] = extra[i+1]
	}
	return l
}

func shortened(platform, url string) Link {
	return Link{Platform: platform, Short: true, URL: url}
}

// recognised are links of every host and form.
func recognised() map[string]Link {
	video := post("douyin", "video", aweme, "https://www.iesdouyin.com/share/video/"+aweme+"/")
	noted := post("douyin", "note", aweme, "https://www.iesdouyin.com/share/note/"+aweme+"/")
	slides := post("douyin", "slides", aweme, "https://www.iesdouyin.com/share/slides/"+aweme+"/")
	quick := post("kuaishou", "video", "3xabc_-9", "https://www.kuaishou.com/short-video/3xabc_-9")
	long := post("kuaishou", "long-video", "3xabc_-9", "https://m.gifshow.com/fw/long-video/3xabc_-9")
	bv := post("bilibili", "video", "BV1xx411c7mD", "https://www.bilibili.com/video/BV1xx411c7mD")
	third := post("bilibili", "video", "BV1xx411c7mD", "https://www.bilibili.com/video/BV1xx411c7mD?p=3", "page", "3")
	av := post("bilibili", "video", "av170001", "https://www.bilibili.com/video/av170001")
	opus := post("bilibili", "opus", "1123456789012345678", "https://www.bilibili.com/opus/1123456789012345678")
	red := post("xiaohongshu", "note", note, "https://www.xiaohongshu.com/discovery/item/"+note+"?xsec_token=CBvgTlD0eQ2m6j1X0d5UgM_2f9Q-kX0%3D", "xsec_token", xsec)
	bare := post("xiaohongshu", "note", note, "https://www.xiaohongshu.com/discovery/item/"+note)
	status := post("weibo", "status", "PabcdEFgh", "https://m.weibo.cn/detail/PabcdEFgh")
	mid := post("weibo", "status", "5100000000000001", "https://m.weibo.cn/detail/5100000000000001")
	oid := post("weibo", "oid", "1034:4812345678901234", "https://weibo.com/tv/show/1034:4812345678901234")
	both := post("weibo", "oid", "1034:4812345678901234", "https://weibo.com/tv/show/1034:4812345678901234?mid=5100000000000001", "mid", "5100000000000001")
	item := post("pipixia", "", "7000000000000000002", "https://h5.pipix.com/item/7000000000000000002")
	feed := post("weishi", "", "7abcDEF12", "https://h5.weishi.qq.com/weishi/feed/7abcDEF12")
	zuiyouPost := post("zuiyou", "", "123456789", "https://share.xiaochuankeji.cn/hybrid/share/post?pid=123456789")
	play := post("huya", "", "1002412640", "https://v.huya.com/play/1002412640.html")
	pipi := post("pipigaoxiao", "", "123456789", "https://h5.pipigx.com/pp/post/123456789")
	all := map[string]Link{
		"https://v.douyin.com/iRNB-h_6u/":                                                                  shortened("douyin", "https://v.douyin.com/iRNB-h_6u/"),
		"http://V.Douyin.COM:80/iRNB-h_6u?x=1#y":                                                           shortened("douyin", "https://v.douyin.com/iRNB-h_6u/"),
		"https://jx.douyin.com/iABC":                                                                       shortened("douyin", "https://jx.douyin.com/iABC/"),
		"https://www.douyin.com/video/" + aweme:                                                            video,
		"https://www.douyin.com./video/" + aweme + "?previous_page=app#comments":                           video,
		"https://douyin.com:443/video/" + aweme + "/":                                                      video,
		"https://www.iesdouyin.com/share/video/" + aweme + "/?region=CN&mid=70&u=a":                        video,
		"https://m.douyin.com/share/video/" + aweme:                                                        video,
		"https://jingxuan.douyin.com/m/video/" + aweme + "?a=1":                                            video,
		"https://www.douyin.com/user/MS4wLjABAAAA?modal_id=" + aweme:                                       video,
		"https://www.douyin.com/?a=b&modal_id=" + aweme:                                                    video,
		"https://www.douyin.com/note/" + aweme:                                                             noted,
		"https://www.iesdouyin.com/share/note/" + aweme + "/":                                              noted,
		"https://www.iesdouyin.com/share/slides/" + aweme + "/?modal_id=1":                                 slides,
		"https://v.kuaishou.com/JKl9mN":                                                                    shortened("kuaishou", "https://v.kuaishou.com/JKl9mN"),
		"https://www.kuaishou.com/f/X-9abcDEF":                                                             shortened("kuaishou", "https://www.kuaishou.com/f/X-9abcDEF"),
		"https://v.m.chenzhongtech.com/f/X-9abcDEF":                                                        shortened("kuaishou", "https://www.kuaishou.com/f/X-9abcDEF"),
		"https://www.kuaishou.com/short-video/3xabc_-9?streamSource=find":                                  quick,
		"https://m.kuaishou.com/short-video/3xabc_-9/":                                                     quick,
		"https://kuaishou.com/short-video/3xabc_-9":                                                        quick,
		"https://kuaishou.cn/short-video/3xabc_-9":                                                         quick,
		"https://c.kuaishou.com/fw/photo/3xabc_-9?fid=1&cc=share_copylink":                                 quick,
		"https://m.gifshow.com/fw/photo/3xabc_-9":                                                          quick,
		"https://v.m.chenzhongtech.com/fw/photo/3xabc_-9?photoId=other":                                    quick,
		"https://k7qz.m.chenzhongtech.com/fw/long-video/3xabc_-9?photoId=3xabc_-9":                         long,
		"https://m.gifshow.com/fw/long-video/3xabc_-9":                                                     long,
		"https://c.kuaishou.com/s/x?photoId=3xabc_-9":                                                      quick,
		"https://c.kuaishou.com/?shareObjectId=3xabc_-9":                                                   quick,
		"https://b23.tv/aB3dE9f":                                                                           shortened("bilibili", "https://b23.tv/aB3dE9f"),
		"https://bili2233.cn/aB3dE9f/":                                                                     shortened("bilibili", "https://bili2233.cn/aB3dE9f"),
		"https://b23.tv/BV1xx411c7mD":                                                                      bv,
		"https://b23.tv/BV1xx411c7mD/?p=3":                                                                 third,
		"https://www.bilibili.com/video/BV1xx411c7mD/?spm_id_from=333.1007&vd_source":                      bv,
		"https://m.bilibili.com/video/bv1xx411c7mD?p=1":                                                    bv,
		"https://bilibili.com/BV1xx411c7mD?p=0":                                                            bv,
		"https://www.bilibili.com/video/BV1xx411c7mD?p=3&t=12":                                             third,
		"https://www.bilibili.com/video/AV170001":                                                          av,
		"https://www.bilibili.com/av170001/":                                                               av,
		"https://www.bilibili.com/list/watchlater?oid=1&bvid=BV1xx411c7mD&p=3":                             third,
		"https://www.bilibili.com/opus/1123456789012345678?from=x":                                         opus,
		"https://t.bilibili.com/1123456789012345678":                                                       opus,
		"http://xhslink.com/o/4Fg7hJ":                                                                      shortened("xiaohongshu", "https://xhslink.com/o/4Fg7hJ"),
		"http://xhslink.com/a/4Fg7hJ/?x":                                                                   shortened("xiaohongshu", "https://xhslink.com/a/4Fg7hJ"),
		"https://xhslink.cn/m/4Fg7hJ":                                                                      shortened("xiaohongshu", "https://xhslink.cn/m/4Fg7hJ"),
		"https://xhslink.com/4Fg7hJ":                                                                       shortened("xiaohongshu", "https://xhslink.com/4Fg7hJ"),
		"https://www.xiaohongshu.com/explore/" + note + "?xsec_token=" + xsec + "&xsec_source=pc_feed":     red,
		"https://www.xiaohongshu.com/discovery/item/" + note + "?type=normal&xsec_token=" + xsec + "&a=":   red,
		"https://www.xiaohongshu.com/user/profile/5f00aa/" + strings.ToUpper(note) + "?xsec_token=" + xsec: red,
		"https://xiaohongshu.com/explore/" + note:                                                          bare,
		"https://www.xiaohongshu.com/search_result/" + note + "?xsec_token=" + xsec + "&xsec_source=":      red,
		"https://www.xiaohongshu.com/explore/" + note + "?xsec_token=a%20b":                                bare,
		"http://t.cn/A6abcDEF":                                                                             shortened("weibo", "https://t.cn/A6abcDEF"),
		"http://mapp.api.weibo.cn/fx/0123abcdef.html?luicode=1":                                            shortened("weibo", "https://mapp.api.weibo.cn/fx/0123abcdef.html"),
		"https://weibo.com/1000000001/PabcdEFgh?refer_flag=1":                                              status,
		"https://www.weibo.com/1000000001/PabcdEFgh#comment":                                               status,
		"https://m.weibo.cn/status/PabcdEFgh":                                                              status,
		"https://m.weibo.cn/detail/5100000000000001":                                                       mid,
		"https://share.api.weibo.cn/share/306788101,5100000000000001.html?weibo_id=5100000000000001":       mid,
		"http://share.api.weibo.cn/share/306788101%2C5100000000000001.html":                                mid,
		"https://m.weibo.cn/1000000001/5100000000000001":                                                   mid,
		"https://weibo.com/tv/show/1034:4812345678901234?from=old":                                         oid,
		"https://weibo.com/tv/show/1034%3A4812345678901234?mid=5100000000000001":                           both,
		"https://video.weibo.com/show?fid=1034:4812345678901234":                                           oid,
		"https://video.weibo.com/show?fid=1034%3A4812345678901234&type=mp4":                                oid,
		"https://h5.video.weibo.com/show/1034:4812345678901234":                                            oid,
		"https://h5.pipix.com/s/aBcDeF1/":                                                                  shortened("pipixia", "https://h5.pipix.com/s/aBcDeF1/"),
		"https://h5.pipix.com/item/7000000000000000002?app_id=1319":                                        item,
		"https://h5.pipix.com/ppx/item/7000000000000000002":                                                item,
		"https://video.weishi.qq.com/kL3mN4oP":                                                             shortened("weishi", "https://video.weishi.qq.com/kL3mN4oP"),
		"https://isee.weishi.qq.com/ws/app-pages/share/index.html?wxplay=1&id=7abcDEF12":                   feed,
		"https://h5.weishi.qq.com/weishi/feed/7abcDEF12/wsfeed?id=other":                                   feed,
		"https://share.xiaochuankeji.cn/hybrid/share/post?zy_to=a&pid=123456789":                           zuiyouPost,
		"https://share.izuiyou.com/hybrid/share/post?pid=123456789&zy_to=applink&share_count=1":            zuiyouPost,
		"https://www.izuiyou.com/share/post?pid=123456789":                                                 zuiyouPost,
		"https://v.huya.com/play/1002412640.html":                                                          play,
		"https://v.huya.com/1002412640.html?from=x":                                                        play,
		"https://www.huya.com/video/play/1002412640.html":                                                  play,
		"https://h5.pipigx.com/pp/post/123456789?zy_to=a":                                                  pipi,
		"https://share.ippzone.com/pp/post/123456789":                                                      pipi,
	}
	maps.Copy(all, recognisedOfSites())
	maps.Copy(all, recognisedOfNetworks())
	return all
}

func TestParse(t *testing.T) {
	platforms := map[string]bool{}
	for in, want := range recognised() {
		platforms[want.Platform] = true
		got, err := Parse(in)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", in, err, diff)
		}
		again, err := Parse(want.URL)
		if diff := cmp.Diff(want, again); err != nil || diff != "" {
			t.Errorf("%s, canonical: %v\n%s", want.URL, err, diff)
		}
	}
	if len(platforms) != len(Platforms()) {
		t.Errorf("links of %v only", slices.Sorted(maps.Keys(platforms)))
	}
}

func TestEveryHostIsRecognisedInTheTests(t *testing.T) {
	seen := map[string]bool{}
	for in := range recognised() {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		seen[strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")] = true
	}
	for _, p := range platforms {
		for _, host := range p.hosts {
			if host[0] != '.' && !seen[host] {
				t.Errorf("%s: %s is in the table, but not in a test", p.name, host)
			}
		}
	}
}

func TestAHostHasOneRow(t *testing.T) {
	rows := map[string]string{}
	for _, p := range platforms {
		for _, host := range p.hosts {
			if other := rows[host]; other != "" || strings.ToLower(host) != host {
				t.Errorf("%s of %s, also of %q", host, p.name, other)
			}
			rows[host] = p.name
		}
		for _, host := range hostsOfShortLinks()[p.name] {
			if !slices.Contains(p.hosts, host) {
				t.Errorf("%s: short links are on %s, which is not among its hosts", p.name, host)
			}
		}
	}
}

// hostsOfShortLinks are, by platform, the hosts of short links' URLs. No others may be
// requested to resolve a link.
func hostsOfShortLinks() map[string][]string {
	return map[string][]string{
		"douyin":      {"v.douyin.com", "jx.douyin.com"},
		"kuaishou":    {"v.kuaishou.com", "www.kuaishou.com"},
		"bilibili":    {"b23.tv", "bili2233.cn"},
		"xiaohongshu": {"xhslink.com", "xhslink.cn"},
		"weibo":       {"mapp.api.weibo.cn", "t.cn"},
		"pipixia":     {"h5.pipix.com"},
		"weishi":      {"video.weishi.qq.com"},
		"twitter":     {"t.co"},
		"tiktok":      {"vm.tiktok.com", "vt.tiktok.com", "www.tiktok.com"},
		"lofter":      {"s.lofter.com"},
		"xigua":       {"v.ixigua.com"},
		"toutiao":     {"m.toutiao.com"},
	}
}

func TestShortHostsAreThoseOfShortLinks(t *testing.T) {
	got := map[string][]string{}
	for _, l := range recognised() {
		if u, err := url.Parse(l.URL); err == nil && l.Short && !slices.Contains(got[l.Platform], u.Host) {
			got[l.Platform] = append(got[l.Platform], u.Host)
			if !IsShort(u) {
				t.Errorf("%s: not short", l.URL)
			}
		}
	}
	sorted := cmpopts.SortSlices(strings.Compare)
	if diff := cmp.Diff(hostsOfShortLinks(), got, sorted); diff != "" {
		t.Error(diff)
	}
}

func TestParseRefusesOtherHosts(t *testing.T) {
	for in, host := range map[string]string{
		"https://evil.example/?u=v.douyin.com":                              "evil.example",
		"https://evil.example/?u=https://v.douyin.com/abc":                  "evil.example",
		"https://evil.example/v.douyin.com/abc":                             "evil.example",
		"https://evil.example#@v.douyin.com/abc":                            "evil.example",
		`https://evil.example\@v.douyin.com/abc`:                            "evil.example",
		"https://v.douyin.com.evil.example/abc":                             "v.douyin.com.evil.example",
		"https://xv.douyin.com/abc":                                         "xv.douyin.com",
		"https://a.v.douyin.com/abc":                                        "a.v.douyin.com",
		"https://chenzhongtech.com/fw/photo/3x":                             "chenzhongtech.com",
		"https://evilchenzhongtech.com/fw/photo/3x":                         "evilchenzhongtech.com",
		"https://x.chenzhongtech.com.evil.example/fw/photo/3x":              "x.chenzhongtech.com.evil.example",
		"https://lofter.com/post/1d_2e":                                     "lofter.com",
		"https://a.lofter.com.evil.example/post/1d_2e":                      "a.lofter.com.evil.example",
		"https://xx.com/user/status/1":                                      "xx.com",
		"https://box.com/user/status/1":                                     "box.com",
		"https://quanmin.kg.qq.com/node/play?s=abc":                         "quanmin.kg.qq.com",
		"https://weibo.cn/status/PabcdEFgh":                                 "weibo.cn",
		"https://pipix.com/item/1":                                          "pipix.com",
		"https://2130706433/":                                               "2130706433",
		"https://localhost/":                                                "localhost",
		"https://www.youtube.com/watch?v=dQw4w9WgXcQ then v.douyin.com/abc": "www.youtube.com",
	} {
		got, err := Parse(in)
		if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("links to %q are not supported; ", host)) || !cmp.Equal(got, Link{}) {
			t.Errorf("%s: %v %v", in, got, err)
		}
	}
}

func TestAPartOfAHostIsNotMatched(t *testing.T) {
	got, err := Parse("https://h5.pipix.com/item/1") // contains x.com
	if err != nil || got.Platform != "pipixia" {
		t.Errorf("%v %v", got, err)
	}
}

func TestParseRefusesOddURLs(t *testing.T) {
	for _, in := range []string{
		"http://user@v.douyin.com/abc", "https://v.douyin.com@evil.example/abc", "https://user:pass@v.douyin.com/abc", "https://@v.douyin.com/abc",
		"https://v.douyin.com:8080/abc", "https://v.douyin.com:0443/abc", "https://v.douyin.com:x/abc", "https://127.0.0.1/abc", "https://127.0.0.1./abc",
		"https:///abc", "https://...", "https://:443/abc", "https://v.douyin.com%2eevil.example/abc", "https://v.douyin.com/%zz",
	} {
		if got, err := Parse(in); !errors.Is(err, ErrMalformed) || strings.Contains(err.Error(), "abc") {
			t.Errorf("%s: %v %v", in, got, err)
		}
	}
}

func TestParseFindsNoLink(t *testing.T) {
	for _, in := range []string{
		"", " ", "你好", "https://", "https://你好", "ftp://v.douyin.com/abc", "javascript:v.douyin.com/abc", "//v.douyin.com/abc", "user@v.douyin.com/abc",
		"v.douyin.com", "https:v.douyin.com/abc", "evil.example/?u=v.douyin.com/abc", "av.douyin.com/abc", "v.douyin.com:443/abc", "https://[::1]/abc", "https://ｖ.douyin.com/abc",
		"https%253A%252F%252Fv.douyin.com%252Fabc", "100% https%3A%2F%2Fv.douyin.com", strings.Repeat("x", maxText) + " https://v.douyin.com/abc",
	} {
		if got, err := Parse(in); !errors.Is(err, ErrNoLink) {
			t.Errorf("%.50q: %v %v", in, got, err)
		}
	}
}

func TestParseRefusesLinksToOtherPages(t *testing.T) {
	for _, in := range []string{
		"https://v.douyin.com/", "https://v.douyin.com/a/b", "https://v.douyin.com/" + strings.Repeat("a", 65), "https://www.douyin.com/user/MS4wLjABAAAA", "https://www.douyin.com/video/12ab",
		"https://www.douyin.com/?modal_id=12ab", "https://www.douyin.com/video/" + strings.Repeat("1", 25), "https://www.douyin.com/live/1", "https://www.douyin.com/x/video/1",
		"https://www.kuaishou.com/profile/3xabc?photoId=3x", "https://m.gifshow.com/fw/user/3xabc?shareObjectId=3xabc", "https://m.gifshow.com/fw/live/3xabc?shareObjectId=3xabc",
		"https://www.kuaishou.com/?photoId=a%2Fb", "https://b23.tv/", "https://www.bilibili.com/bangumi/play/ep1", "https://www.bilibili.com/video/BV1xx411c7m", "https://www.bilibili.com/video/av0",
		"https://www.bilibili.com/?bvid=av170001", "https://t.bilibili.com/opus", "https://www.xiaohongshu.com/user/profile/5f00aa00000000000100aa00", "https://www.xiaohongshu.com/explore/" + note[1:],
		"https://xhslink.com/", "https://xhslink.com/a/b/c", "https://weibo.com/u/1000000001", "https://weibo.com/1000000001/profile", "https://weibo.com/1000000001/myprofile", "https://weibo.com/1000000001",
		"https://video.weibo.com/show?fid=4812345678901234", "https://video.weibo.com/show", "https://mapp.api.weibo.cn/x.html", "https://share.api.weibo.cn/share/5100000000000001.html", "https://share.api.weibo.cn/share/306788101,x.html", "https://www.xiaohongshu.com/search_result?keyword=x", "https://t.cn/", "https://h5.pipix.com/item/x", "https://h5.pipix.com/",
		"https://h5.weishi.qq.com/weishi/personal/1/wspersonal?id=1", "https://isee.weishi.qq.com/", "https://share.xiaochuankeji.cn/?pid=1x", "https://www.huya.com/12345", "https://h5.pipigx.com/pp/post/",
		"https://www.acfun.cn/a/ac123", "https://www.acfun.cn/v/ac12x", "https://www.acfun.cn/bangumi/aa6002917", "https://m.acfun.cn/v/?ac=x", "https://haokan.baidu.com/", "https://haokan.baidu.com/v?vid=12a",
		"https://v.qq.com/x/cover/mzc00200mp9v9pw.html", "https://v.qq.com/x/channel/home", "https://v.qq.com/?vid=l3502vppd13", "https://m.v.qq.com/x/m/play?cid=abc", "https://m.v.qq.com/x/m/play?vid=a%2Fb0000000",
		"https://tv.sohu.com/v/MjAyMzA2MTQvbjYwMTMxNTE5Mi5zaHRtbA==.html", "https://tv.sohu.com/v/invalid.html", "https://tv.sohu.com/v/_.html", "https://tv.sohu.com/20130724/n382479172.shtml", "https://my.tv.sohu.com/us/1/x.shtml",
		"https://tv.cctv.com/lm/xwlb/index.shtml", "https://tv.cctv.com/2026/04/20/index.shtml", "https://tv.cctv.com/VIDEabc.shtml", "https://www.xinpianchang.com/u10357277", "https://www.xinpianchang.com/a1/b", "https://www.pearvideo.com/category_1", "https://www.pearvideo.com/author_1",
		"https://www.ixigua.com/", "https://www.ixigua.com/home/123456789", "https://www.ixigua.com/cinema/album/1", "https://v.6.cn/123456", "https://v.6.cn/minivideo/getlist.php",
		"https://m.oasis.weibo.cn/v1/h5/share?uid=2524813095", "https://m.oasis.weibo.cn/v1/h5/user?sid=1", "https://www.meipai.com/user/1234567", "https://www.meipai.com/video/863",
		"https://www.toutiao.com/", "https://www.toutiao.com/article/7505382061495176511/", "https://www.toutiao.com/w/7505382061495176511/", "https://www.toutiao.com/video/x", "https://m.toutiao.com/is/", "https://p.doupai.cc/", "https://p.doupai.cc/modules/topic/?id=5fa2", "https://p.doupai.cc/modules/user/?id=5fa20d8c8f71d10031f27abb", "https://p.doupai.cc/topic/x.html", "https://xspshare.baidu.com/", "https://xspshare.baidu.com/sv?vid=43a",
		"https://kg.qq.com/", "https://kg.qq.com/node/personal?s=abc", "https://kg.qq.com/node/play", "https://kg.qq.com/node/play?s=a%20b",
		"https://www.miyoushe.com/ys/accountCenter/postList?id=1", "https://m.miyoushe.com/ys/#/home", "https://www.miyoushe.com/ys/article/x", "https://www.lofter.com/", "https://blog.lofter.com/post/1dxg_2", "https://blog.lofter.com/post/1d", "https://s.lofter.com/x",
		"https://a.b.lofter.com/post/1d_2e", "https://blog.lofter.com/post/" + strings.Repeat("f", 16) + "_1", "https://www.doubao.com/video-sharing?share_id=1", "https://www.doubao.com/video-sharing?video_id=v1", "https://www.doubao.com/chat/1?share_id=1&video_id=v1",
		"https://x.com/jack", "https://x.com/jack/likes", "https://x.com/home", "https://x.com/jack/status/x", "https://x.com/jack/status/" + strings.Repeat("1", 21), "https://x.com/i/spaces/1", "https://t.co/", "https://t.co/a/b",
		"https://www.tiktok.com/@user", "https://www.tiktok.com/@user/live", "https://www.tiktok.com/@a/b/video/1", "https://www.tiktok.com/t/", "https://vm.tiktok.com/", "https://www.tiktok.com/tag/video",
		"https://bsky.app/profile/bsky.app", "https://bsky.app/profile/bsky.app/feed/3k", "https://bsky.app/profile/a%2Fb/post/3k", "https://bsky.app/profile/bsky.app/post/3k/liked-by",
	} {
		got, err := Parse(in)
		if !errors.Is(err, ErrNotPost) || !cmp.Equal(got, Link{}) {
			t.Errorf("%s: %v %v", in, got, err)
		}
	}
}

func TestErrorsNameThePlatforms(t *testing.T) {
	_, none := Parse("")
	_, other := Parse("https://" + strings.Repeat("a", 200) + ".example/SECRET")
	for _, err := range []error{none, other} {
		for _, name := range []string{"Douyin", "Kuaishou", "Bilibili", "Xiaohongshu", "Weibo", "Pipixia", "Weishi", "Zuiyou", "Huya", "Pipigaoxiao", "Miyoushe", "X (Twitter)", "TikTok"} {
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%v: does not name %s", err, name)
			}
		}
	}
	if strings.Contains(other.Error(), "SECRET") || strings.Contains(other.Error(), strings.Repeat("a", 101)) {
		t.Error(other)
	}
	if Platforms()[0] = words.Name("changed"); slices.Contains(Platforms(), words.Name("changed")) {
		t.Error("the table can be changed from outside")
	}
}
