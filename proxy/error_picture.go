package proxy

import (
	"net/http"
	"strconv"
	"sync"

	"sundry/metrics/words"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/ipcard"
)

// errorPictures draws the pictures that stand for errors. Each is drawn when it is first needed,
// and kept: of what a caller sent, they say at most what an endpoint says that it has not found.
type errorPictures struct {
	types map[string]errorType
	mu    sync.Mutex
	drawn map[errorPicture][]byte
}

// errorPicture is all that a picture depends on.
type errorPicture struct {
	title, about, example, note, language string
	svg                                   bool
}

// mostErrorPictures bounds what is kept, which a reload of the catalog may add to: some 4 KB each.
const mostErrorPictures = 1024

func newErrorPictures() *errorPictures {
	p := &errorPictures{types: map[string]errorType{}, drawn: map[errorPicture][]byte{}}
	for _, t := range errorTypes() {
		if !t.title.IsZero() {
			p.types[t.example.errorType] = t
		}
	}
	return p
}

// body is the picture for an error in a language, and its content type; nil if the caller is
// better served without.
func (p *errorPictures) body(req *request, f *failure, l i18n.Language) (body []byte, contentType string) {
	wanted, svg := wantsPicture(req, f)
	t, ok := p.types[f.errorType]
	if !wanted || !ok {
		return nil, ""
	}
	contentType = contentPNG
	if svg {
		contentType = contentSVG
	}
	note := strconv.Itoa(f.status) + " " + f.errorType
	if req.route != nil {
		note += " · " + req.route.endpoint.Name
	}
	about, example := t.about(req, f)
	return p.draw(errorPicture{l.Of(t.title), l.Of(about), l.Of(example), note, l.Tag(), svg}), contentType
}

// about says more than the title: what a parameter takes, with an example, what an endpoint has not
// found, or when to try again. Of a path that leads nowhere the picture says at most what was meant: paths
// are made up faster than pictures are drawn.
func (t *errorType) about(req *request, f *failure) (about, example words.Text) {
	switch said := f.message.(type) {
	case *catalog.ParamError:
		if about, example = said.Expected(); !about.IsZero() {
			return about, example
		}
	case *nearMiss:
		return words.Say("There is no such endpoint. Did you mean "+said.near+"?", words.Join("没有这个接口，是不是要找 ", said.near, "？")), words.Text{}
	case words.Text:
		if f.errorType == typeNotFound && req.route != nil && said != t.example.message {
			return said, words.Text{}
		}
	}
	return t.standard(req, f), words.Text{}
}

// standard is what is said of every failure of the type.
func (t *errorType) standard(req *request, f *failure) words.Text {
	switch {
	case f.errorType == typeNotFound && req.route == nil:
		return words.Say("There is no such endpoint.", "没有这个接口。")
	case f.errorType == typeForbidden, f.errorType == typeNotFound:
		return t.meaning
	case f.status >= http.StatusTooManyRequests:
		return waiting(f)
	}
	return words.Text{} // the title has said it
}

// waiting says when to try again, in seconds up to a minute and then in minutes: the fewer the
// texts, the fewer pictures are drawn. A picture costs more than a millisecond, any other error
// microseconds: so none has what differs from call to call, such as the request id.
func waiting(f *failure) words.Text {
	seconds := ceilSeconds(f.retryAfter)
	switch {
	case f.retryAfter <= 0:
		return words.Say("Try again later.", "请稍后再试。")
	case seconds > 60:
		minutes := strconv.FormatInt((seconds+59)/60, 10)
		return words.Say("Try again in "+minutes+" min.", "请 "+minutes+" 分钟后再试。")
	}
	n := strconv.FormatInt(seconds, 10)
	return words.Say("Try again in "+n+" s.", "请 "+n+" 秒后再试。")
}

// draw draws a picture, or finds it; nil if it cannot be drawn.
func (p *errorPictures) draw(what errorPicture) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b, ok := p.drawn[what]; ok {
		return b
	}
	n := &ipcard.Notice{Title: what.title, About: what.about, Example: what.example, Note: what.note, Language: what.language}
	draw := n.PNG
	if what.svg {
		draw = n.SVG
	}
	b, err := draw()
	if err != nil {
		return nil // the fonts come with the program: a test draws them all
	}
	if len(p.drawn) >= mostErrorPictures {
		clear(p.drawn)
	}
	p.drawn[what] = b
	return b
}

// wantsPicture reports whether a caller who gets no answer is shown a picture: one
// whose form is a picture, or who would rather have a picture than JSON or a page. Of a
// mistake in the parameters, a program that takes anything and named no form is told in JSON.
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
	mistake := f.status == http.StatusBadRequest || f.status == http.StatusForbidden
	switch {
	case form != nil && form.IsPicture() && (chosen != nil || !mistake):
		return max(accepted.image, accepted.anything) > accepted.json, form.IsSVG()
	case form != nil && form.IsPicture():
		return accepted.image > accepted.json, form.IsSVG()
	case chosen != nil && chosen.Kind != "redirect":
		return false, false
	}
	return accepted.image > max(accepted.json, accepted.page), false
}
