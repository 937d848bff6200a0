package sharelink

import (
	"net/url"
	"regexp"
	"strings"
)

// Paths are matched whole. The bounds are generous: they only prevent that other
// data is passed off as an id.
var (
	codePath = regexp.MustCompile(`^/([A-Za-z0-9_-]{1,64})/?$`)
	digits   = regexp.MustCompile(`^[0-9]{1,24}$`)
	word     = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

	douyinPath = regexp.MustCompile(`^/(?:share/|m/)?(video|note|slides)/([0-9]{1,24})/?$`)

	kuaishouPath  = regexp.MustCompile(`^/(short-video|fw/photo|fw/long-video)/([A-Za-z0-9_-]{1,64})/?$`)
	kuaishouShort = regexp.MustCompile(`^/f/([A-Za-z0-9_-]{1,64})/?$`)
	kuaishouOther = regexp.MustCompile(`^/(?:fw/(?:user|live)|profile|live|u)(?:/|$)`)
)

func short(host, path string) (Link, bool) {
	return Link{Short: true, URL: "https://" + host + path}, true
}

// code parses links whose path is only a code. The end is what the platform
// appends to it.
func (a address) code(end string) (Link, bool) {
	m := codePath.FindStringSubmatch(a.path)
	if m == nil {
		return Link{}, false
	}
	return short(a.host, "/"+m[1]+end)
}

// get is the parameter if it has the form, else empty.
func (a address) get(name string, form *regexp.Regexp) string {
	if v := a.query.Get(name); form.MatchString(v) {
		return v
	}
	return ""
}

func douyin(a address) (Link, bool) {
	if a.host == "v.douyin.com" || a.host == "jx.douyin.com" {
		return a.code("/")
	}
	kind, id := "video", a.get("modal_id", digits)
	if m := douyinPath.FindStringSubmatch(a.path); m != nil {
		kind, id = m[1], m[2]
	}
	return Link{ID: id, Kind: kind, URL: "https://www.iesdouyin.com/share/" + kind + "/" + id + "/"}, id != ""
}

func kuaishou(a address) (Link, bool) {
	if a.host == "v.kuaishou.com" {
		return a.code("")
	}
	if m := kuaishouShort.FindStringSubmatch(a.path); m != nil {
		return short("www.kuaishou.com", "/f/"+m[1])
	}
	if m := kuaishouPath.FindStringSubmatch(a.path); m != nil {
		if m[1] == "fw/long-video" {
			return Link{ID: m[2], Kind: "long-video", URL: "https://m.gifshow.com/fw/long-video/" + m[2]}, true
		}
		return kuaishouVideo(m[2])
	}
	// On profiles and live rooms the shared object is not a video.
	if kuaishouOther.MatchString(a.path) {
		return Link{}, false
	}
	if id := a.get("photoId", word); id != "" {
		return kuaishouVideo(id)
	}
	return kuaishouVideo(a.get("shareObjectId", word))
}

func kuaishouVideo(id string) (Link, bool) {
	return Link{ID: id, Kind: "video", URL: "https://www.kuaishou.com/short-video/" + id}, id != ""
}

var (
	bilibiliPath = regexp.MustCompile(`^/(?:video/)?((?i:bv)[0-9A-Za-z]{10}|(?i:av)[1-9][0-9]{0,18})/?$`)
	bilibiliOpus = regexp.MustCompile(`^/opus/([0-9]{1,24})/?$`)
	bilibiliPost = regexp.MustCompile(`^/([0-9]{1,24})/?$`)
	bvid         = regexp.MustCompile(`^(?i:bv)[0-9A-Za-z]{10}$`)
	page         = regexp.MustCompile(`^(?:[2-9]|[1-9][0-9]{1,3})$`)
)

// bilibili's short hosts have paths with ids as well as codes.
func bilibili(a address) (Link, bool) {
	if m := bilibiliPath.FindStringSubmatch(a.path); m != nil {
		return a.bilibiliVideo(m[1])
	}
	if a.host == "b23.tv" || a.host == "bili2233.cn" {
		return a.code("")
	}
	post := bilibiliOpus
	if a.host == "t.bilibili.com" {
		post = bilibiliPost
	}
	if m := post.FindStringSubmatch(a.path); m != nil {
		return Link{ID: m[1], Kind: "opus", URL: "https://www.bilibili.com/opus/" + m[1]}, true
	}
	if id := a.get("bvid", bvid); id != "" {
		return a.bilibiliVideo(id)
	}
	return Link{}, false
}

func (a address) bilibiliVideo(id string) (Link, bool) {
	prefix := "BV"
	if strings.EqualFold(id[:2], "av") {
		prefix = "av"
	}
	id = prefix + id[2:]
	l := Link{ID: id, Kind: "video", URL: "https://www.bilibili.com/video/" + id}
	if p := a.get("p", page); p != "" {
		l.URL += "?p=" + p
		l.Extra = map[string]string{"page": p}
	}
	return l, true
}

var (
	xhsShort = regexp.MustCompile(`^((?:/[a-z])?/[A-Za-z0-9_-]{1,64})/?$`)
	xhsPath  = regexp.MustCompile(`^/(?:explore|discovery/item|search_result|user/profile/[0-9A-Za-z]{1,64})/([0-9A-Fa-f]{24})/?$`)
	// No dot: at the end of a link it would be parsed as the end of the sentence.
	xsecToken = regexp.MustCompile(`^[A-Za-z0-9_=+/-]{1,256}$`)
)

func xiaohongshu(a address) (Link, bool) {
	if a.host == "xhslink.com" || a.host == "xhslink.cn" {
		m := xhsShort.FindStringSubmatch(a.path)
		if m == nil {
			return Link{}, false
		}
		return short(a.host, m[1])
	}
	m := xhsPath.FindStringSubmatch(a.path)
	if m == nil {
		return Link{}, false
	}
	id := strings.ToLower(m[1])
	l := Link{ID: id, Kind: "note", URL: "https://www.xiaohongshu.com/discovery/item/" + id}
	if token := a.get("xsec_token", xsecToken); token != "" {
		l.URL += "?xsec_token=" + url.QueryEscape(token)
		l.Extra = map[string]string{"xsec_token": token}
	}
	return l, true
}

var (
	weiboShare  = regexp.MustCompile(`^/share/[0-9]{1,20},([0-9]{5,24})\.html$`)
	weiboMapp   = regexp.MustCompile(`^/fx/[0-9A-Za-z]{1,64}\.html$`)
	weiboShow   = regexp.MustCompile(`^/(?:tv/)?show(?:/([0-9]{1,20}:[0-9A-Za-z_]{1,64}))?/?$`)
	weiboOID    = regexp.MustCompile(`^[0-9]{1,20}:[0-9A-Za-z_]{1,64}$`)
	weiboStatus = regexp.MustCompile(`^/(?:status|detail|[0-9]{1,20})/([0-9A-Za-z]{5,24})/?$`)
	lowerCase   = regexp.MustCompile(`^[a-z]+$`)
)

func weibo(a address) (Link, bool) {
	switch a.host {
	case "t.cn":
		return a.code("")
	case "mapp.api.weibo.cn":
		if !weiboMapp.MatchString(a.path) {
			return Link{}, false
		}
		return short(a.host, a.path)
	case "share.api.weibo.cn":
		m := weiboShare.FindStringSubmatch(a.path)
		if m == nil {
			return Link{}, false
		}
		return weiboStatusOf(m[1])
	}
	if m := weiboShow.FindStringSubmatch(a.path); m != nil {
		return a.weiboVideo(m[1])
	}
	// A user's number may also be followed by the name of a tab, such as
	// /1000000001/profile. An id in base 62 does not consist of lower-case letters
	// only.
	m := weiboStatus.FindStringSubmatch(a.path)
	if m == nil || lowerCase.MatchString(m[1]) {
		return Link{}, false
	}
	return weiboStatusOf(m[1])
}

func weiboStatusOf(id string) (Link, bool) {
	return Link{ID: id, Kind: "status", URL: "https://m.weibo.cn/detail/" + id}, true
}

func (a address) weiboVideo(oid string) (Link, bool) {
	if oid == "" {
		oid = a.get("fid", weiboOID)
	}
	l := Link{ID: oid, Kind: "oid", URL: "https://weibo.com/tv/show/" + oid}
	if mid := a.get("mid", digits); mid != "" {
		l.URL += "?mid=" + mid
		l.Extra = map[string]string{"mid": mid}
	}
	return l, oid != ""
}

var (
	pipixiaShort    = regexp.MustCompile(`^/s/([A-Za-z0-9_-]{1,64})/?$`)
	pipixiaPath     = regexp.MustCompile(`^/(?:ppx/)?item/([0-9]{1,24})/?$`)
	weishiPath      = regexp.MustCompile(`^/weishi/feed/([0-9A-Za-z]{1,64})(?:/|$)`)
	huyaPath        = regexp.MustCompile(`^/(?:(?:video/)?play/)?([0-9]{1,24})\.html$`)
	pipigaoxiaoPath = regexp.MustCompile(`^/pp/post/([0-9]{1,24})/?$`)
)

func pipixia(a address) (Link, bool) {
	if m := pipixiaShort.FindStringSubmatch(a.path); m != nil {
		return short(a.host, "/s/"+m[1]+"/")
	}
	return a.numbered(pipixiaPath, "https://h5.pipix.com/item/", "")
}

// weishi's pages below /weishi are named by what they show, and only its feed
// is a video's; the others tell by the parameter.
func weishi(a address) (Link, bool) {
	if a.host == "video.weishi.qq.com" {
		return a.code("")
	}
	id := ""
	if m := weishiPath.FindStringSubmatch(a.path); m != nil {
		id = m[1]
	} else if !strings.HasPrefix(a.path, "/weishi/") {
		id = a.get("id", word)
	}
	return Link{ID: id, URL: "https://h5.weishi.qq.com/weishi/feed/" + id}, id != ""
}

func zuiyou(a address) (Link, bool) {
	id := a.get("pid", digits)
	return Link{ID: id, URL: "https://share.xiaochuankeji.cn/hybrid/share/post?pid=" + id}, id != ""
}

func huya(a address) (Link, bool) {
	return a.numbered(huyaPath, "https://v.huya.com/play/", ".html")
}

func pipigaoxiao(a address) (Link, bool) {
	return a.numbered(pipigaoxiaoPath, "https://h5.pipigx.com/pp/post/", "")
}

// numbered reads an id from the path; the URL is the id between two texts.
func (a address) numbered(path *regexp.Regexp, before, after string) (Link, bool) {
	m := path.FindStringSubmatch(a.path)
	if m == nil {
		return Link{}, false
	}
	return Link{ID: m[1], URL: before + m[1] + after}, true
}
