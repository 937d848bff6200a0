package sharelink

import (
	"regexp"
	"strings"
)

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
