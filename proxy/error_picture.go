package proxy

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/ipcard"
)

// errorPictures are the pictures that stand for errors, by type. Each is drawn when it
// is first needed, and kept.
type errorPictures map[string]errorPicture

// errorPicture draws the picture of a type; nil if it cannot be drawn.
type errorPicture struct{ png, svg func() []byte }

// newErrorPictures has what every type says, in the words of a title.
func newErrorPictures() errorPictures {
	return errorPictures{
		typeMissing:     notice(http.StatusBadRequest, typeMissing, "缺少参数", "A parameter is missing"),
		typeInvalid:     notice(http.StatusBadRequest, typeInvalid, "参数有误", "A parameter is not valid"),
		typeForbidden:   notice(http.StatusForbidden, typeForbidden, "不允许访问该地址", "Requests to this address are not allowed"),
		typeNotFound:    notice(http.StatusNotFound, typeNotFound, "没有找到", "Not found"),
		typeLimited:     notice(http.StatusTooManyRequests, typeLimited, "请求过于频繁，请稍后再试", "Too many requests; try again later"),
		typeInternal:    notice(http.StatusInternalServerError, typeInternal, "服务内部错误", "Internal error"),
		typeUnavailable: notice(http.StatusBadGateway, typeUnavailable, "暂时无法获取，请稍后再试", "Not available at the moment; try again later"),
		typeOverloaded:  notice(http.StatusServiceUnavailable, typeOverloaded, "服务繁忙，请稍后再试", "The service is busy; try again in a moment"),
		typeTimeout:     notice(http.StatusGatewayTimeout, typeTimeout, "上游响应超时，请稍后再试", "No upstream answered in time; try again later"),
	}
}

func notice(status int, errorType, zh, en string) errorPicture {
	n := &ipcard.Notice{ZH: zh, EN: en, Note: strconv.Itoa(status) + " " + errorType}
	drawn := func(draw func() ([]byte, error)) func() []byte {
		return sync.OnceValue(func() []byte {
			b, err := draw()
			if err != nil {
				return nil // the fonts come with the program: a test draws them all
			}
			return b
		})
	}
	return errorPicture{drawn(n.PNG), drawn(n.SVG)}
}

// body is the picture for an error, and its content type; nil if the caller is better
// served without.
func (p errorPictures) body(req *request, f *failure) (body []byte, contentType string) {
	wanted, svg := wantsPicture(req, f)
	picture, ok := p[f.errorType]
	switch {
	case !wanted || !ok:
		return nil, ""
	case svg:
		return picture.svg(), contentSVG
	}
	return picture.png(), contentPNG
}

// wantsPicture reports whether a caller who gets no answer is shown a picture: one
// whose form is a picture, or who would rather have a picture than JSON or a page. Of a
// mistake in the parameters, a program that takes anything is told in JSON.
func wantsPicture(req *request, f *failure) (wanted, svg bool) {
	if req.r.Method != http.MethodGet && req.r.Method != http.MethodHead {
		return false, false // pictures are loaded with GET
	}
	var chosen, form *catalog.Form
	if req.route != nil {
		chosen = req.route.endpoint.ChosenForm(req.r.URL.RawQuery)
		if form = chosen; form == nil {
			form = req.route.endpoint.Forms[0]
		}
	}
	accepted := weigh(req.r.Header["Accept"])
	switch {
	case form != nil && form.IsPicture():
		generic := accepted.anything && f.status != http.StatusBadRequest && f.status != http.StatusForbidden
		return accepted.image > accepted.json || accepted.json == 0 && generic, form.IsSVG()
	case chosen != nil && chosen.Kind != "redirect":
		return false, false
	}
	return accepted.image > max(accepted.json, accepted.page), false
}

// acceptedTypes are the weights that Accept gives to types that it names.
type acceptedTypes struct {
	image, json, page float64
	// anything: there is no Accept, or it has */*.
	anything bool
}

// weigh parses all lines of Accept (RFC 9110, 12.5.1).
func weigh(lines []string) acceptedTypes {
	out := acceptedTypes{anything: len(lines) == 0}
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			name, params, _ := strings.Cut(item, ";")
			out.add(strings.ToLower(strings.TrimSpace(name)), weight(params))
		}
	}
	return out
}

func (a *acceptedTypes) add(name string, q float64) {
	switch {
	case strings.HasPrefix(name, "image/"):
		a.image = max(a.image, q)
	case name == "application/json", strings.HasSuffix(name, "+json"):
		a.json = max(a.json, q)
	case name == "text/html", name == "application/xhtml+xml":
		a.page = max(a.page, q)
	case name == "*/*":
		a.anything = q > 0
	}
}
