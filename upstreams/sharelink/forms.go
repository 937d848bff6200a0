package sharelink

import "regexp"

// Paths are matched whole. Bounds are generous: they keep an id from being
// used as a carrier of something else.
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

// code reads the host's links that are a code and nothing else. The end is
// what the platform writes behind it.
func (a address) code(end string) (Link, bool) {
	m := codePath.FindStringSubmatch(a.path)
	if m == nil {
		return Link{}, false
	}
	return short(a.host, "/"+m[1]+end)
}

// get is the parameter if it has the form, or empty.
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
	// On pages of people and live rooms the object that is shared is not a video.
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
