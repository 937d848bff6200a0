package sharelink

import (
	"encoding/base64"
	"regexp"
	"strings"
)

var (
	acfunPath       = regexp.MustCompile(`^/v/ac([0-9]{1,20})(?:_([0-9]{1,4}))?/?$`)
	acfunID         = regexp.MustCompile(`^(?:ac)?[0-9]{1,20}$`)
	qqvideoPath     = regexp.MustCompile(`^/x/(?:page|cover/[0-9A-Za-z_-]{1,64})/([0-9A-Za-z]{8,16})\.html$`)
	qqvideoID       = regexp.MustCompile(`^[0-9A-Za-z]{8,16}$`)
	sohuPath        = regexp.MustCompile(`^/?us/([0-9]{1,20})/([0-9]{1,20})\.shtml$`)
	sohuCoded       = regexp.MustCompile(`^/v/([A-Za-z0-9+/=_-]{1,128})\.html$`)
	cctvPath        = regexp.MustCompile(`^/((?:19|20)[0-9]{2}/[0-9]{2}/[0-9]{2})/(VID[A-Za-z0-9]{1,60})\.shtml$`)
	xinpianPath     = regexp.MustCompile(`^/a([0-9]{1,20})/?$`)
	pearPath        = regexp.MustCompile(`^/(?:video|detail|living)_([0-9]{1,20})/?$`)
	xiguaPath       = regexp.MustCompile(`^/(?:video/|i|group/|douyin/share/video/)?([0-9]{6,24})/?$`)
	sixroomPath     = regexp.MustCompile(`^/(?:minivideo|v)/([0-9]{1,20})/?$`)
	meipaiPath      = regexp.MustCompile(`^/(?:video/(?:[0-9]{1,6}/)?|media/)([0-9]{6,24})/?$`)
	toutiaoPath     = regexp.MustCompile(`^/(?:video/|group/|item/|i)([0-9]{6,24})/?$`)
	toutiaoShort    = regexp.MustCompile(`^/is/([A-Za-z0-9_-]{1,64})/?$`)
	doupaiPath      = regexp.MustCompile(`^/topic/([0-9a-f]{24})\.html$`)
	doupaiID        = regexp.MustCompile(`^[0-9a-f]{24}$`)
	quanminkgePaths = regexp.MustCompile(`^/node/(?:[0-9A-Za-z]{1,32}/)?play(?:_v2)?/?$`)
)

// acfun's videos may have several parts, of which the first is not named.
func acfun(a address) (Link, bool) {
	id, part := strings.TrimPrefix(a.get("ac", acfunID), "ac"), ""
	if m := acfunPath.FindStringSubmatch(a.path); m != nil {
		id, part = m[1], m[2]
	}
	l := Link{ID: id, URL: "https://www.acfun.cn/v/ac" + id}
	if page.MatchString(part) {
		l.URL += "_" + part
		l.Extra = map[string]string{"page": part}
	}
	return l, id != ""
}

func haokan(a address) (Link, bool) {
	id := a.get("vid", digits)
	return Link{ID: id, URL: "https://haokan.baidu.com/v?vid=" + id}, id != ""
}

// qqvideo's pages of a series, which name no episode, are no posts.
func qqvideo(a address) (Link, bool) {
	id := ""
	if m := qqvideoPath.FindStringSubmatch(a.path); m != nil {
		id = m[1]
	} else if a.host == "m.v.qq.com" {
		id = a.get("vid", qqvideoID)
	}
	return Link{ID: id, URL: "https://v.qq.com/x/page/" + id + ".html"}, id != ""
}

// sohu's links have the path on its host for people's own videos, plain or in base
// 64. Others, to films and series, are not supported.
func sohu(a address) (Link, bool) {
	path := a.path
	if m := sohuCoded.FindStringSubmatch(path); m != nil {
		coded := strings.NewReplacer("-", "+", "_", "/", "=", "").Replace(m[1])
		decoded, err := base64.RawStdEncoding.DecodeString(coded)
		if err != nil {
			return Link{}, false
		}
		path = string(decoded)
	}
	m := sohuPath.FindStringSubmatch(path)
	if m == nil {
		return Link{}, false
	}
	return Link{ID: m[2], URL: "https://my.tv.sohu.com/us/" + m[1] + "/" + m[2] + ".shtml"}, true
}

// cctv's pages are by day.
func cctv(a address) (Link, bool) {
	m := cctvPath.FindStringSubmatch(a.path)
	if m == nil {
		return Link{}, false
	}
	return Link{ID: m[2], URL: "https://tv.cctv.com/" + m[1] + "/" + m[2] + ".shtml", Extra: map[string]string{"day": m[1]}}, true
}

func xinpianchang(a address) (Link, bool) {
	return a.numbered(xinpianPath, "https://www.xinpianchang.com/a", "")
}

func pearvideo(a address) (Link, bool) {
	return a.numbered(pearPath, "https://www.pearvideo.com/video_", "")
}

func quanminkge(a address) (Link, bool) {
	id := a.get("s", word)
	return Link{ID: id, URL: "https://kg.qq.com/node/play?s=" + id}, id != "" && quanminkgePaths.MatchString(a.path)
}

func xigua(a address) (Link, bool) {
	if a.host == "v.ixigua.com" {
		return a.code("/")
	}
	return a.numbered(xiguaPath, "https://www.ixigua.com/", "")
}

// sixroom's links name the video in the path, or in the parameter of a player.
func sixroom(a address) (Link, bool) {
	id := ""
	if m := sixroomPath.FindStringSubmatch(a.path); m != nil {
		id = m[1]
	} else if a.path == "/profile/watchMini.php" {
		id = a.get("vid", digits)
	}
	return Link{ID: id, URL: "https://v.6.cn/minivideo/" + id}, id != ""
}

func oasis(a address) (Link, bool) {
	id := a.get("sid", digits)
	return Link{ID: id, URL: "https://m.oasis.weibo.cn/v1/h5/share?sid=" + id}, id != "" && a.path == "/v1/h5/share"
}

func meipai(a address) (Link, bool) {
	return a.numbered(meipaiPath, "https://www.meipai.com/video/", "")
}

// doupai's links name the topic in a parameter; older ones in the path.
func doupai(a address) (Link, bool) {
	id := ""
	if m := doupaiPath.FindStringSubmatch(a.path); m != nil {
		id = m[1]
	} else if strings.TrimSuffix(a.path, "/") == "/modules/topic" {
		id = a.get("id", doupaiID)
	}
	return Link{ID: id, URL: "https://p.doupai.cc/modules/topic/?id=" + id}, id != ""
}

func quanmin(a address) (Link, bool) {
	id := a.get("vid", digits)
	return Link{ID: id, URL: "https://xspshare.baidu.com/sv?vid=" + id}, id != ""
}

// toutiao's articles and short posts, which have paths of their own, are no videos.
func toutiao(a address) (Link, bool) {
	if m := toutiaoShort.FindStringSubmatch(a.path); m != nil {
		return short("m.toutiao.com", "/is/"+m[1]+"/")
	}
	return a.numbered(toutiaoPath, "https://www.toutiao.com/video/", "/")
}
