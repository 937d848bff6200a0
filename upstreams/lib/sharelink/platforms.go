package sharelink

import (
	"net/url"
	"slices"
	"strings"

	"sundry/upstreams/lib/words"
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

// platforms is the table. A host is in one row only. Kuaishou's short links
// redirect to random names below chenzhongtech.com.
var platforms = []platform{
	{"douyin", words.Say("Douyin", "抖音"), []string{"v.douyin.com", "jx.douyin.com", "www.douyin.com", "douyin.com", "m.douyin.com", "www.iesdouyin.com", "jingxuan.douyin.com"}, douyin},
	{"kuaishou", words.Say("Kuaishou", "快手"), []string{"v.kuaishou.com", "www.kuaishou.com", "kuaishou.com", "m.kuaishou.com", "c.kuaishou.com", "kuaishou.cn", "m.gifshow.com", ".chenzhongtech.com"}, kuaishou},
	{"bilibili", words.Say("Bilibili", "哔哩哔哩"), []string{"b23.tv", "bili2233.cn", "www.bilibili.com", "bilibili.com", "m.bilibili.com", "t.bilibili.com"}, bilibili},
	{"xiaohongshu", words.Say("Xiaohongshu", "小红书"), []string{"xhslink.com", "xhslink.cn", "www.xiaohongshu.com", "xiaohongshu.com"}, xiaohongshu},
	{"weibo", words.Say("Weibo", "微博"), []string{"weibo.com", "www.weibo.com", "m.weibo.cn", "video.weibo.com", "h5.video.weibo.com", "mapp.api.weibo.cn", "share.api.weibo.cn", "t.cn"}, weibo},
	{"pipixia", words.Say("Pipixia", "皮皮虾"), []string{"h5.pipix.com"}, pipixia},
	{"weishi", words.Say("Weishi", "微视"), []string{"isee.weishi.qq.com", "h5.weishi.qq.com", "video.weishi.qq.com"}, weishi},
	{"zuiyou", words.Say("Zuiyou", "最右"), []string{"share.xiaochuankeji.cn", "www.izuiyou.com", "share.izuiyou.com"}, zuiyou},
	{"huya", words.Say("Huya", "虎牙"), []string{"v.huya.com", "www.huya.com"}, huya},
	{"pipigaoxiao", words.Say("Pipigaoxiao", "皮皮搞笑"), []string{"h5.pipigx.com", "share.ippzone.com"}, pipigaoxiao},
	{"acfun", words.Name("AcFun"), []string{"www.acfun.cn", "acfun.cn", "m.acfun.cn"}, acfun},
	{"haokan", words.Say("Haokan", "好看视频"), []string{"haokan.baidu.com", "haokan.hao123.com"}, haokan},
	{"qqvideo", words.Say("Tencent Video", "腾讯视频"), []string{"v.qq.com", "m.v.qq.com"}, qqvideo},
	{"sohu", words.Say("Sohu", "搜狐视频"), []string{"tv.sohu.com", "my.tv.sohu.com"}, sohu},
	{"cctv", words.Say("CCTV", "央视网"), []string{"tv.cctv.com", "tv.cctv.cn"}, cctv},
	{"xinpianchang", words.Say("Xinpianchang", "新片场"), []string{"www.xinpianchang.com", "xinpianchang.com"}, xinpianchang},
	{"pearvideo", words.Say("Pear Video", "梨视频"), []string{"www.pearvideo.com", "pearvideo.com"}, pearvideo},
	{"quanminkge", words.Say("Quanmin K Ge", "全民 K 歌"), []string{"kg.qq.com", "kg2.qq.com", "kg3.qq.com", "static-play.kg.qq.com"}, quanminkge},
	{"xigua", words.Say("Xigua", "西瓜视频"), []string{"v.ixigua.com", "www.ixigua.com", "ixigua.com", "m.ixigua.com"}, xigua},
	{"sixroom", words.Say("6.cn", "六间房"), []string{"v.6.cn", "m.6.cn"}, sixroom},
	{"oasis", words.Say("Oasis", "绿洲"), []string{"m.oasis.weibo.cn"}, oasis},
	{"meipai", words.Say("Meipai", "美拍"), []string{"www.meipai.com", "meipai.com", "m.meipai.com"}, meipai},
	{"doupai", words.Say("Doupai", "逗拍"), []string{"p.doupai.cc"}, doupai},
	{"quanmin", words.Say("Quanmin", "度小视"), []string{"xspshare.baidu.com"}, quanmin},
	{"toutiao", words.Say("Toutiao", "今日头条"), []string{"m.toutiao.com", "www.toutiao.com", "toutiao.com"}, toutiao},
	{"miyoushe", words.Say("Miyoushe", "米游社"), []string{"www.miyoushe.com", "miyoushe.com", "m.miyoushe.com"}, miyoushe},
	{"lofter", words.Name("LOFTER"), []string{"s.lofter.com", ".lofter.com"}, lofter},
	{"doubao", words.Say("Doubao", "豆包"), []string{"www.doubao.com", "doubao.com"}, doubao},
	{"twitter", words.Say("X (Twitter)", "X（Twitter）"), []string{
		"x.com", "www.x.com", "mobile.x.com", "twitter.com", "www.twitter.com", "mobile.twitter.com", "t.co",
		"fxtwitter.com", "fixupx.com", "vxtwitter.com", "fixvx.com",
	}, twitter},
	{"tiktok", words.Name("TikTok"), []string{"www.tiktok.com", "tiktok.com", "m.tiktok.com", "vm.tiktok.com", "vt.tiktok.com", "www.tiktokv.com"}, tiktok},
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
