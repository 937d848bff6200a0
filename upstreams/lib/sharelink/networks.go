package sharelink

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	twitterPath  = regexp.MustCompile(`^/(?:i/web|[A-Za-z0-9_]{1,20})/status(?:es)?/([0-9]{1,20})(?:/(?:photo|video)/[0-9]|/mediaViewer)?/?$`)
	tiktokPath   = regexp.MustCompile(`^/(?:(?:(?:@[^/]{0,64}|share)/)?(?:video|photo|v)|embed(?:/v2)?)/([0-9]{1,24})(?:\.html)?/?$`)
	tiktokShort  = regexp.MustCompile(`^/t/([A-Za-z0-9_-]{1,64})/?$`)
	blueskyPath  = regexp.MustCompile(`^/profile/([A-Za-z0-9.:_-]{1,253})/post/([A-Za-z0-9]{1,64})/?$`)
	miyoushePath = regexp.MustCompile(`^/(?:[a-z0-9]{1,16}/)?article/([0-9]{1,20})/?$`)
	lofterPath   = regexp.MustCompile(`^/post/([0-9a-f]{1,15})_([0-9a-f]{1,15})/?$`)
	lofterShort  = regexp.MustCompile(`^/-s/([0-9A-Za-z]{1,64})/?$`)
	lofterBlog   = regexp.MustCompile(`^[a-z0-9-]{1,63}\.lofter\.com$`)
	doubaoPath   = regexp.MustCompile(`^/video-sharing/?$`)
)

// twitter's links are also shared with the hosts of services that make previews of
// them, whose paths are the same. The name of the account is not checked by the
// site, so the canonical URL has none.
func twitter(a address) (Link, bool) {
	if a.host == "t.co" {
		return a.code("")
	}
	return a.numbered(twitterPath, "https://x.com/i/status/", "")
}

// tiktok shows photos on the page of videos too.
func tiktok(a address) (Link, bool) {
	if a.host == "vm.tiktok.com" || a.host == "vt.tiktok.com" {
		return a.code("/")
	}
	if m := tiktokShort.FindStringSubmatch(a.path); m != nil {
		return short("www.tiktok.com", "/t/"+m[1]+"/")
	}
	return a.numbered(tiktokPath, "https://www.tiktok.com/@_/video/", "")
}

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

// miyoushe's pages for phones have the article in the fragment.
func miyoushe(a address) (Link, bool) {
	if strings.HasPrefix(a.fragment, "/article/") {
		a.path = a.fragment
	}
	return a.numbered(miyoushePath, "https://www.miyoushe.com/ys/article/", "")
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
