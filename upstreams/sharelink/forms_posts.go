package sharelink

import (
	"net/url"
	"regexp"
	"strings"
)

var (
	bilibiliPath = regexp.MustCompile(`^/(?:video/)?((?i:bv)[0-9A-Za-z]{10}|(?i:av)[1-9][0-9]{0,18})/?$`)
	bilibiliOpus = regexp.MustCompile(`^/opus/([0-9]{1,24})/?$`)
	bilibiliPost = regexp.MustCompile(`^/([0-9]{1,24})/?$`)
	bvid         = regexp.MustCompile(`^(?i:bv)[0-9A-Za-z]{10}$`)
	page         = regexp.MustCompile(`^(?:[2-9]|[1-9][0-9]{1,3})$`)
)

// bilibili's short hosts serve ids as well as codes.
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
	xhsPath  = regexp.MustCompile(`^/(?:explore|discovery/item|user/profile/[0-9A-Za-z]{1,64})/([0-9A-Fa-f]{24})/?$`)
	// No dot: at a link's end it would be taken for the sentence's.
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
	}
	if m := weiboShow.FindStringSubmatch(a.path); m != nil {
		return a.weiboVideo(m[1])
	}
	// What follows a user's number may also be the name of a tab, such as
	// /1000000001/profile. An id in base 62 is not of small letters alone.
	m := weiboStatus.FindStringSubmatch(a.path)
	if m == nil || lowerCase.MatchString(m[1]) {
		return Link{}, false
	}
	return Link{ID: m[1], Kind: "status", URL: "https://m.weibo.cn/detail/" + m[1]}, true
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
