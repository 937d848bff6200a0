package sharelink

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// These platforms have links that are more than a path or a parameter with an id.

// Paths are matched whole. The bounds are generous: they only prevent that other
// data is passed off as an id.
const (
	code   = `^/([A-Za-z0-9_-]{1,64})/?$`
	number = `([0-9]{1,24})`
)

var (
	codePath = regexp.MustCompile(code)
	digits   = regexp.MustCompile(`^` + number + `$`)
	word     = regexp.MustCompile(`^([A-Za-z0-9_-]{1,64})$`)
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

var (
	kuaishouOther = regexp.MustCompile(`^/(?:fw/(?:user|live)|profile|live|u)(?:/|$)`)
	kuaishouPosts = by(
		rule{host: "v.kuaishou.com", path: code, url: "https://v.kuaishou.com/$1", short: true},
		rule{path: `^/f/([A-Za-z0-9_-]{1,64})/?$`, url: "https://www.kuaishou.com/f/$1", short: true},
		rule{path: `^/(?:short-video|fw/photo)/([A-Za-z0-9_-]{1,64})/?$`, kind: "video", url: kuaishouVideo},
		rule{
			path: `^/fw/long-video/([A-Za-z0-9_-]{1,64})/?$`, kind: "long-video",
			url: "https://m.gifshow.com/fw/long-video/$1",
		},
		rule{param: "photoId", form: word, kind: "video", url: kuaishouVideo},
		rule{param: "shareObjectId", form: word, kind: "video", url: kuaishouVideo},
	)
)

const kuaishouVideo = "https://www.kuaishou.com/short-video/$1"

// kuaishou's parameters tell nothing on profiles and live rooms: the shared object is not
// a video there.
func kuaishou(a address) (Link, bool) {
	if a.host != "v.kuaishou.com" && kuaishouOther.MatchString(a.path) {
		return Link{}, false
	}
	return kuaishouPosts(a)
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

var weishiPath = regexp.MustCompile(`^/weishi/feed/([0-9A-Za-z]{1,64})(?:/|$)`)

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

var (
	acfunPath = regexp.MustCompile(`^/v/ac([0-9]{1,20})(?:_([0-9]{1,4}))?/?$`)
	acfunID   = regexp.MustCompile(`^(?:ac)?[0-9]{1,20}$`)
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

var (
	sohuPath  = regexp.MustCompile(`^/?us/([0-9]{1,20})/([0-9]{1,20})\.shtml$`)
	sohuCoded = regexp.MustCompile(`^/v/([A-Za-z0-9+/=_-]{1,128})\.html$`)
)

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

var (
	blueskyPath = regexp.MustCompile(`^/profile/([A-Za-z0-9.:_-]{1,253})/post/([A-Za-z0-9]{1,64})/?$`)
	lofterPath  = regexp.MustCompile(`^/post/([0-9a-f]{1,15})_([0-9a-f]{1,15})/?$`)
	lofterShort = regexp.MustCompile(`^/-s/([0-9A-Za-z]{1,64})/?$`)
	lofterBlog  = regexp.MustCompile(`^[a-z0-9-]{1,63}\.lofter\.com$`)
	doubaoPath  = regexp.MustCompile(`^/video-sharing/?$`)
)

// bluesky's posts are numbered by account, which is a name (a domain) or a DID.
func bluesky(a address) (Link, bool) {
	m := blueskyPath.FindStringSubmatch(a.path)
	if m == nil {
		return Link{}, false
	}
	account := strings.ToLower(m[1])
	if strings.HasPrefix(account, "did:") {
		account = m[1]
	}
	return Link{
		ID: m[2], URL: "https://bsky.app/profile/" + account + "/post/" + m[2],
		Extra: map[string]string{"account": account},
	}, true
}

var miyousheArticle = by(rule{
	path: `^/(?:[a-z0-9]{1,16}/)?article/([0-9]{1,20})/?$`, url: "https://www.miyoushe.com/ys/article/$1",
})

// miyoushe's pages for phones have the article in the fragment.
func miyoushe(a address) (Link, bool) {
	if strings.HasPrefix(a.fragment, "/article/") {
		a.path = a.fragment
	}
	return miyousheArticle(a)
}

// lofter's ids are those of the blog and of the post in base 16; its API takes
// them in base 10.
func lofter(a address) (Link, bool) {
	if a.host == "s.lofter.com" {
		m := lofterShort.FindStringSubmatch(a.path)
		if m == nil {
			return Link{}, false
		}
		return short(a.host, "/-s/"+m[1])
	}
	m := lofterPath.FindStringSubmatch(a.path)
	if m == nil || !lofterBlog.MatchString(a.host) {
		return Link{}, false
	}
	blog, _ := strconv.ParseInt(m[1], 16, 64) // fits: 15 digits
	post, _ := strconv.ParseInt(m[2], 16, 64)
	return Link{
		ID: m[1] + "_" + m[2], URL: "https://" + a.host + "/post/" + m[1] + "_" + m[2],
		Extra: map[string]string{"blog": strconv.FormatInt(blog, 10), "post": strconv.FormatInt(post, 10)},
	}, true
}

// doubao's links name the share as well as the video, and both are asked for.
func doubao(a address) (Link, bool) {
	video, share := a.get("video_id", word), a.get("share_id", digits)
	if !doubaoPath.MatchString(a.path) || video == "" || share == "" {
		return Link{}, false
	}
	return Link{
		ID: video, URL: "https://www.doubao.com/video-sharing?share_id=" + share + "&video_id=" + video,
		Extra: map[string]string{"share": share},
	}, true
}
