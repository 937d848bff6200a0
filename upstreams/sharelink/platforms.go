package sharelink

import (
	"net/url"
	"slices"
	"strings"
)

// platform is a row of the table.
type platform struct {
	name, label string
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
	{"douyin", "抖音 Douyin", []string{"v.douyin.com", "jx.douyin.com", "www.douyin.com", "douyin.com", "m.douyin.com", "www.iesdouyin.com", "jingxuan.douyin.com"}, douyin},
	{"kuaishou", "快手 Kuaishou", []string{"v.kuaishou.com", "www.kuaishou.com", "kuaishou.com", "m.kuaishou.com", "c.kuaishou.com", "kuaishou.cn", "m.gifshow.com", ".chenzhongtech.com"}, kuaishou},
	{"bilibili", "哔哩哔哩 Bilibili", []string{"b23.tv", "bili2233.cn", "www.bilibili.com", "bilibili.com", "m.bilibili.com", "t.bilibili.com"}, bilibili},
	{"xiaohongshu", "小红书 Xiaohongshu", []string{"xhslink.com", "xhslink.cn", "www.xiaohongshu.com", "xiaohongshu.com"}, xiaohongshu},
	{"weibo", "微博 Weibo", []string{"weibo.com", "www.weibo.com", "m.weibo.cn", "video.weibo.com", "h5.video.weibo.com", "mapp.api.weibo.cn", "share.api.weibo.cn", "t.cn"}, weibo},
	{"pipixia", "皮皮虾 Pipixia", []string{"h5.pipix.com"}, pipixia},
	{"weishi", "微视 Weishi", []string{"isee.weishi.qq.com", "h5.weishi.qq.com", "video.weishi.qq.com"}, weishi},
	{"zuiyou", "最右 Zuiyou", []string{"share.xiaochuankeji.cn", "www.izuiyou.com", "share.izuiyou.com"}, zuiyou},
	{"huya", "虎牙 Huya", []string{"v.huya.com", "www.huya.com"}, huya},
	{"pipigaoxiao", "皮皮搞笑 Pipigaoxiao", []string{"h5.pipigx.com", "share.ippzone.com"}, pipigaoxiao},
	{"acfun", "AcFun A站", []string{"www.acfun.cn", "acfun.cn", "m.acfun.cn"}, acfun},
	{"haokan", "好看视频 Haokan", []string{"haokan.baidu.com", "haokan.hao123.com"}, haokan},
	{"qqvideo", "腾讯视频 Tencent Video", []string{"v.qq.com", "m.v.qq.com"}, qqvideo},
	{"sohu", "搜狐视频 Sohu", []string{"tv.sohu.com", "my.tv.sohu.com"}, sohu},
	{"cctv", "央视网 CCTV", []string{"tv.cctv.com", "tv.cctv.cn"}, cctv},
	{"xinpianchang", "新片场 Xinpianchang", []string{"www.xinpianchang.com", "xinpianchang.com"}, xinpianchang},
	{"pearvideo", "梨视频 Pear Video", []string{"www.pearvideo.com", "pearvideo.com"}, pearvideo},
	{"quanminkge", "全民K歌 Quanmin K Ge", []string{"kg.qq.com", "kg2.qq.com", "kg3.qq.com", "static-play.kg.qq.com"}, quanminkge},
	{"miyoushe", "米游社 Miyoushe", []string{"www.miyoushe.com", "miyoushe.com", "m.miyoushe.com"}, miyoushe},
	{"lofter", "LOFTER 乐乎", []string{"s.lofter.com", ".lofter.com"}, lofter},
	{"doubao", "豆包 Doubao", []string{"www.doubao.com", "doubao.com"}, doubao},
	{"twitter", "X (Twitter) 推特", []string{
		"x.com", "www.x.com", "mobile.x.com", "twitter.com", "www.twitter.com", "mobile.twitter.com", "t.co",
		"fxtwitter.com", "fixupx.com", "vxtwitter.com", "fixvx.com",
	}, twitter},
	{"tiktok", "TikTok", []string{"www.tiktok.com", "tiktok.com", "m.tiktok.com", "vm.tiktok.com", "vt.tiktok.com", "www.tiktokv.com"}, tiktok},
	{"bluesky", "Bluesky", []string{"bsky.app", "fxbsky.app"}, bluesky},
}

// Platforms are the names of the supported platforms, Chinese and Latin, for
// messages.
func Platforms() []string {
	labels := make([]string, len(platforms))
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
