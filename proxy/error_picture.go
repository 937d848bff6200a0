package proxy

import (
	"net/http"
	"strconv"
	"sync"

	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/ipcard"
)

// errorPictures are the pictures that stand for errors, by type. Each is drawn when it
// is first needed, and kept.
type errorPictures map[string]errorPicture

// errorPicture draws the picture of a type; nil if it cannot be drawn.
type errorPicture struct{ png, svg func() []byte }

func newErrorPictures() errorPictures {
	all := errorPictures{}
	for _, t := range errorTypes() {
		if f := t.example; !t.title.IsZero() {
			n := &ipcard.Notice{ZH: t.title.ZH(), EN: t.title.EN(), Note: strconv.Itoa(f.status) + " " + f.errorType}
			all[f.errorType] = errorPicture{png: drawn(n.PNG), svg: drawn(n.SVG)}
		}
	}
	return all
}

func drawn(draw func() ([]byte, error)) func() []byte {
	return sync.OnceValue(func() []byte {
		b, err := draw()
		if err != nil {
			return nil // the fonts come with the program: a test draws them all
		}
		return b
	})
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
