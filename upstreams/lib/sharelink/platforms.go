package sharelink

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"sundry/metrics/words"
)

// platform is a row of the table.
type platform struct {
	name  string
	label words.Text
	// hosts of its links; one with a leading dot matches all names below it.
	hosts []string
	// parse parses a link of one of the hosts. It leaves Platform empty.
	parse func(address) (Link, bool)
}

// address has the parts of a URL by which a link is recognised.
type address struct {
	host, path string // the path without percent-encoding
	query      url.Values
	fragment   string // where a site's script reads what to show
}

// qqvideoPage is the path of an episode of Tencent Video.
const qqvideoPage = `^/x/(?:page|cover/[0-9A-Za-z_-]{1,64})/([0-9A-Za-z]{8,16})\.html$`

// What several rules have.
const (
	kuaishouVideo = "https://www.kuaishou.com/short-video/$1"
	weishiVideo   = "https://h5.weishi.qq.com/weishi/feed/$1"
	weiboStatus   = "https://m.weibo.cn/detail/$1"
	weiboVideo    = `([0-9]{1,20}:[0-9A-Za-z_]{1,64})`
	xhsCode       = `^((?:/[a-z])?/[A-Za-z0-9_-]{1,64})/?$`
)

// weiboMID is the status that a video belongs to.
var weiboMID = addition{"mid", digits, "mid"}

// platforms is the table. A host is in one row only. Kuaishou's short links
// redirect to random names below chenzhongtech.com.
var platforms = []platform{
	{"douyin", words.Say("Douyin", "抖音"), []string{"v.douyin.com", "jx.douyin.com", "www.douyin.com", "douyin.com", "m.douyin.com", "www.iesdouyin.com", "jingxuan.douyin.com"}, by(
		rule{host: "v.douyin.com", path: code, url: "https://v.douyin.com/$1/", short: true},
		rule{host: "jx.douyin.com", path: code, url: "https://jx.douyin.com/$1/", short: true},
		rule{
			path: `^/(?:share/|m/)?(video|note|slides)/` + number + `/?$`, id: "$2", kind: "$1",
			url: "https://www.iesdouyin.com/share/$1/$2/",
		},
		rule{param: "modal_id", form: digits, kind: "video", url: "https://www.iesdouyin.com/share/video/$1/"},
	)},
	{"kuaishou", words.Say("Kuaishou", "快手"), []string{"v.kuaishou.com", "www.kuaishou.com", "kuaishou.com", "m.kuaishou.com", "c.kuaishou.com", "kuaishou.cn", "m.gifshow.com", ".chenzhongtech.com"}, by(
		rule{host: "v.kuaishou.com", path: code, url: "https://v.kuaishou.com/$1", short: true},
		// On profiles and in live rooms, the object that is shared is no video.
		rule{path: `^/(?:fw/(?:user|live)|profile|live|u)(?:/|$)`, none: true},
		rule{path: `^/f/([A-Za-z0-9_-]{1,64})/?$`, url: "https://www.kuaishou.com/f/$1", short: true},
		rule{path: `^/(?:short-video|fw/photo)/([A-Za-z0-9_-]{1,64})/?$`, kind: "video", url: kuaishouVideo},
		rule{
			path: `^/fw/long-video/([A-Za-z0-9_-]{1,64})/?$`, kind: "long-video",
			url: "https://m.gifshow.com/fw/long-video/$1",
		},
		rule{param: "photoId", form: word, kind: "video", url: kuaishouVideo},
		rule{param: "shareObjectId", form: word, kind: "video", url: kuaishouVideo},
	)},
	{"bilibili", words.Say("Bilibili", "哔哩哔哩"), []string{"b23.tv", "bili2233.cn", "www.bilibili.com", "bilibili.com", "m.bilibili.com", "t.bilibili.com"}, bilibili},
	{"xiaohongshu", words.Say("Xiaohongshu", "小红书"), []string{"xhslink.com", "xhslink.cn", "www.xiaohongshu.com", "xiaohongshu.com"}, by(
		rule{host: "xhslink.com", path: xhsCode, url: "https://xhslink.com$1", short: true},
		rule{host: "xhslink.cn", path: xhsCode, url: "https://xhslink.cn$1", short: true},
		rule{
			path: `^/(?:explore|discovery/item|search_result|user/profile/[0-9A-Za-z]{1,64})/([0-9A-Fa-f]{24})/?$`,
			kind: "note", url: "https://www.xiaohongshu.com/discovery/item/$1", lower: true,
			// No dot: at the end of a link it would be parsed as the end of the sentence.
			with: &addition{"xsec_token", regexp.MustCompile(`^[A-Za-z0-9_=+/-]{1,256}$`), "xsec_token"},
		},
	)},
	{"weibo", words.Say("Weibo", "微博"), []string{"weibo.com", "www.weibo.com", "m.weibo.cn", "video.weibo.com", "h5.video.weibo.com", "mapp.api.weibo.cn", "share.api.weibo.cn", "t.cn"}, by(
		rule{host: "t.cn", path: code, url: "https://t.cn/$1", short: true},
		rule{host: "mapp.api.weibo.cn", path: `^(/fx/[0-9A-Za-z]{1,64}\.html)$`, url: "https://mapp.api.weibo.cn$1", short: true},
		rule{host: "share.api.weibo.cn", path: `^/share/[0-9]{1,20},([0-9]{5,24})\.html$`, kind: "status", url: weiboStatus},
		rule{path: `^/(?:tv/)?show/` + weiboVideo + `/?$`, kind: "oid", url: "https://weibo.com/tv/show/$1", with: &weiboMID},
		rule{
			path: `^/(?:tv/)?show/?$`, param: "fid", form: regexp.MustCompile(`^` + weiboVideo + `$`),
			kind: "oid", url: "https://weibo.com/tv/show/$1", with: &weiboMID,
		},
		// A user's number may also be followed by the name of a tab, such as
		// /1000000001/profile. An id in base 62 does not consist of lower-case letters only.
		rule{path: `^/[^/]*/[a-z]*/?$`, none: true},
		rule{path: `^/(?:status|detail|[0-9]{1,20})/([0-9A-Za-z]{5,24})/?$`, kind: "status", url: weiboStatus},
	)},
	{"pipixia", words.Say("Pipixia", "皮皮虾"), []string{"h5.pipix.com"}, by(
		rule{path: `^/s/([A-Za-z0-9_-]{1,64})/?$`, url: "https://h5.pipix.com/s/$1/", short: true},
		rule{path: `^/(?:ppx/)?item/` + number + `/?$`, url: "https://h5.pipix.com/item/$1"},
	)},
	{"weishi", words.Say("Weishi", "微视"), []string{"isee.weishi.qq.com", "h5.weishi.qq.com", "video.weishi.qq.com"}, by(
		rule{host: "video.weishi.qq.com", path: code, url: "https://video.weishi.qq.com/$1", short: true},
		// Pages below /weishi are named by what they show, and only the feed is a video's.
		rule{path: `^/weishi/feed/([0-9A-Za-z]{1,64})(?:/|$)`, url: weishiVideo},
		rule{path: `^/weishi/`, none: true},
		rule{param: "id", form: word, url: weishiVideo},
	)},
	{"zuiyou", words.Say("Zuiyou", "最右"), []string{"share.xiaochuankeji.cn", "www.izuiyou.com", "share.izuiyou.com"}, by(
		rule{param: "pid", form: digits, url: "https://share.xiaochuankeji.cn/hybrid/share/post?pid=$1"},
	)},
	{"huya", words.Say("Huya", "虎牙"), []string{"v.huya.com", "www.huya.com"}, by(
		rule{path: `^/(?:(?:video/)?play/)?` + number + `\.html$`, url: "https://v.huya.com/play/$1.html"},
	)},
	{"pipigaoxiao", words.Say("Pipigaoxiao", "皮皮搞笑"), []string{"h5.pipigx.com", "share.ippzone.com"}, by(
		rule{path: `^/pp/post/` + number + `/?$`, url: "https://h5.pipigx.com/pp/post/$1"},
	)},
	{"acfun", words.Name("AcFun"), []string{"www.acfun.cn", "acfun.cn", "m.acfun.cn"}, by(
		// Of several parts, the first is not named.
		rule{path: `^/v/ac([0-9]{1,20})_(?P<page>[2-9]|[1-9][0-9]{1,3})/?$`, url: "https://www.acfun.cn/v/ac${1}_$2"},
		rule{path: `^/v/ac([0-9]{1,20})(?:_[0-9]{1,4})?/?$`, url: "https://www.acfun.cn/v/ac$1"},
		rule{param: "ac", form: regexp.MustCompile(`^(?:ac)?([0-9]{1,20})$`), url: "https://www.acfun.cn/v/ac$1"},
	)},
	{"haokan", words.Say("Haokan", "好看视频"), []string{"haokan.baidu.com", "haokan.hao123.com"}, by(
		rule{param: "vid", form: digits, url: "https://haokan.baidu.com/v?vid=$1"},
	)},
	// qqvideo: pages of a series, which name no episode, are no posts.
	{"qqvideo", words.Say("Tencent Video", "腾讯视频"), []string{"v.qq.com", "m.v.qq.com"}, by(
		rule{host: "m.v.qq.com", path: qqvideoPage, url: "https://v.qq.com/x/page/$1.html"},
		rule{
			host: "m.v.qq.com", param: "vid", form: regexp.MustCompile(`^([0-9A-Za-z]{8,16})$`),
			url: "https://v.qq.com/x/page/$1.html",
		},
		rule{path: qqvideoPage, url: "https://v.qq.com/x/page/$1.html"},
	)},
	{"sohu", words.Say("Sohu", "搜狐视频"), []string{"tv.sohu.com", "my.tv.sohu.com"}, sohu},
	// cctv: by day.
	{"cctv", words.Say("CCTV", "央视网"), []string{"tv.cctv.com", "tv.cctv.cn"}, by(
		rule{
			path: `^/(?P<day>(?:19|20)[0-9]{2}/[0-9]{2}/[0-9]{2})/(VID[A-Za-z0-9]{1,60})\.shtml$`, id: "$2",
			url: "https://tv.cctv.com/$1/$2.shtml",
		},
	)},
	{"xinpianchang", words.Say("Xinpianchang", "新片场"), []string{"www.xinpianchang.com", "xinpianchang.com"}, by(
		rule{path: `^/a([0-9]{1,20})/?$`, url: "https://www.xinpianchang.com/a$1"},
	)},
	{"pearvideo", words.Say("Pear Video", "梨视频"), []string{"www.pearvideo.com", "pearvideo.com"}, by(
		rule{path: `^/(?:video|detail|living)_([0-9]{1,20})/?$`, url: "https://www.pearvideo.com/video_$1"},
	)},
	{"quanminkge", words.Say("Quanmin K Ge", "全民 K 歌"), []string{"kg.qq.com", "kg2.qq.com", "kg3.qq.com", "static-play.kg.qq.com"}, by(
		rule{
			path: `^/node/(?:[0-9A-Za-z]{1,32}/)?play(?:_v2)?/?$`, param: "s", form: word,
			url: "https://kg.qq.com/node/play?s=$1",
		},
	)},
	{"xigua", words.Say("Xigua", "西瓜视频"), []string{"v.ixigua.com", "www.ixigua.com", "ixigua.com", "m.ixigua.com"}, by(
		rule{host: "v.ixigua.com", path: code, url: "https://v.ixigua.com/$1/", short: true},
		rule{path: `^/(?:video/|i|group/|douyin/share/video/)?([0-9]{6,24})/?$`, url: "https://www.ixigua.com/$1"},
	)},
	{"sixroom", words.Say("6.cn", "六间房"), []string{"v.6.cn", "m.6.cn"}, by(
		rule{path: `^/(?:minivideo|v)/([0-9]{1,20})/?$`, url: "https://v.6.cn/minivideo/$1"},
		rule{path: `^/profile/watchMini\.php$`, param: "vid", form: digits, url: "https://v.6.cn/minivideo/$1"},
	)},
	{"oasis", words.Say("Oasis", "绿洲"), []string{"m.oasis.weibo.cn"}, by(
		rule{path: `^/v1/h5/share$`, param: "sid", form: digits, url: "https://m.oasis.weibo.cn/v1/h5/share?sid=$1"},
	)},
	{"meipai", words.Say("Meipai", "美拍"), []string{"www.meipai.com", "meipai.com", "m.meipai.com"}, by(
		rule{path: `^/(?:video/(?:[0-9]{1,6}/)?|media/)([0-9]{6,24})/?$`, url: "https://www.meipai.com/video/$1"},
	)},
	{"doupai", words.Say("Doupai", "逗拍"), []string{"p.doupai.cc"}, by(
		rule{path: `^/topic/([0-9a-f]{24})\.html$`, url: "https://p.doupai.cc/modules/topic/?id=$1"},
		rule{
			path: `^/modules/topic/?$`, param: "id", form: regexp.MustCompile(`^([0-9a-f]{24})$`),
			url: "https://p.doupai.cc/modules/topic/?id=$1",
		},
	)},
	{"quanmin", words.Say("Quanmin", "度小视"), []string{"xspshare.baidu.com"}, by(
		rule{param: "vid", form: digits, url: "https://xspshare.baidu.com/sv?vid=$1"},
	)},
	// toutiao: articles and short posts, which have paths of their own, are no videos.
	{"toutiao", words.Say("Toutiao", "今日头条"), []string{"m.toutiao.com", "www.toutiao.com", "toutiao.com"}, by(
		rule{path: `^/is/([A-Za-z0-9_-]{1,64})/?$`, url: "https://m.toutiao.com/is/$1/", short: true},
		rule{path: `^/(?:video/|group/|item/|i)([0-9]{6,24})/?$`, url: "https://www.toutiao.com/video/$1/"},
	)},
	{"miyoushe", words.Say("Miyoushe", "米游社"), []string{"www.miyoushe.com", "miyoushe.com", "m.miyoushe.com"}, miyoushe},
	{"lofter", words.Name("LOFTER"), []string{"s.lofter.com", ".lofter.com"}, lofter},
	{"doubao", words.Say("Doubao", "豆包"), []string{"www.doubao.com", "doubao.com"}, doubao},
	// twitter: the site does not check the name of the account, and services that make
	// previews have the same paths.
	{"twitter", words.Say("X (Twitter)", "X（Twitter）"), []string{
		"x.com", "www.x.com", "mobile.x.com", "twitter.com", "www.twitter.com", "mobile.twitter.com", "t.co",
		"fxtwitter.com", "fixupx.com", "vxtwitter.com", "fixvx.com",
	}, by(
		rule{host: "t.co", path: code, url: "https://t.co/$1", short: true},
		rule{
			path: `^/(?:i/web|[A-Za-z0-9_]{1,20})/status(?:es)?/([0-9]{1,20})(?:/(?:photo|video)/[0-9]|/mediaViewer)?/?$`,
			url:  "https://x.com/i/status/$1",
		},
	)},
	// tiktok: photos are shown on the page of videos too.
	{"tiktok", words.Name("TikTok"), []string{"www.tiktok.com", "tiktok.com", "m.tiktok.com", "vm.tiktok.com", "vt.tiktok.com", "www.tiktokv.com"}, by(
		rule{host: "vm.tiktok.com", path: code, url: "https://vm.tiktok.com/$1/", short: true},
		rule{host: "vt.tiktok.com", path: code, url: "https://vt.tiktok.com/$1/", short: true},
		rule{path: `^/t/([A-Za-z0-9_-]{1,64})/?$`, url: "https://www.tiktok.com/t/$1/", short: true},
		rule{
			path: `^/(?:(?:(?:@[^/]{0,64}|share)/)?(?:video|photo|v)|embed(?:/v2)?)/` + number + `(?:\.html)?/?$`,
			url:  "https://www.tiktok.com/@_/video/$1",
		},
	)},
	{"bluesky", words.Name("Bluesky"), []string{"bsky.app", "fxbsky.app"}, bluesky},
}

// Platforms are the names of the supported platforms, for messages.
func Platforms() []words.Text {
	labels := make([]words.Text, len(platforms))
	for i, p := range platforms {
		labels[i] = p.label
	}
	return labels
}

// platformOf finds the row of a host in lower case, or nil.
func platformOf(host string) *platform {
	i := slices.IndexFunc(platforms, func(p platform) bool {
		return slices.ContainsFunc(p.hosts, func(entry string) bool {
			return entry == host || entry[0] == '.' && strings.HasSuffix(host, entry)
		})
	})
	if i < 0 {
		return nil
	}
	return &platforms[i]
}
