package sharelink

import (
	"encoding/base64"
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
	l.add(a, addition{"p", page, "page"})
	return l, true
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
