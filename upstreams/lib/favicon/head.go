package favicon

import (
	"errors"
	"io"
	"net/url"
	"regexp"
	"strings"

	"sundry/upstreams/lib/webpage"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// head is what a page declares about its icons.
type head struct {
	base    string // of the first <base href>, "" without
	refresh string // target of the first <meta http-equiv=refresh>, "" without
	links   []link // in the page's order
}

// link is a link to an icon.
type link struct {
	rel, href, sizes string
	dark             bool // for pages in dark colors only
}

// headScanner reads a page up to its body, as browsers do.
type headScanner struct {
	head
	z         *html.Tokenizer
	closed    bool // the end tag of the head has been read
	raw       bool // the next text is the content of an element such as title
	templates int  // open template elements, whose content is not shown
}

// scanHead collects the icon links in front of the body. If a page is cut off, the links
// before that count; it is an error only before the first link.
func scanHead(r io.Reader) (head, error) {
	s := &headScanner{z: html.NewTokenizer(r)}
	s.z.SetMaxBuf(maxPage)
	for {
		kind := s.z.Next()
		if kind == html.ErrorToken {
			if err := s.z.Err(); len(s.links) == 0 && !errors.Is(err, io.EOF) && !errors.Is(err, html.ErrBufferExceeded) {
				return head{}, err
			}
			return s.head, nil
		}
		if s.beginsBody(kind) {
			return s.head, nil
		}
	}
}

// beginsBody processes a token, and reports whether the body begins with it. Behind the
// end of the head, anything that cannot be in a head begins the body
// (https://html.spec.whatwg.org/#the-after-head-insertion-mode). In front of it, only
// its tag does: many heads contain what does not belong there.
func (s *headScanner) beginsBody(kind html.TokenType) bool {
	raw := s.raw
	s.raw = false
	switch kind {
	case html.TextToken:
		return s.closed && !raw && s.templates == 0 && strings.Trim(string(s.z.Raw()), " \t\n\r\f") != ""
	case html.EndTagToken:
		name, _ := s.z.TagName()
		return s.end(atom.Lookup(name))
	case html.StartTagToken, html.SelfClosingTagToken:
		name, more := s.z.TagName()
		return s.start(atom.Lookup(name), more)
	}
	return false
}

func (s *headScanner) end(name atom.Atom) (body bool) {
	switch name {
	case atom.Template:
		s.templates = max(s.templates-1, 0)
	case atom.Head:
		s.closed = true
	case atom.Body, atom.Html:
		return s.templates == 0
	}
	return false
}

func (s *headScanner) start(name atom.Atom, more bool) (body bool) {
	switch name {
	case atom.Template:
		s.templates++
	case atom.Title, atom.Style, atom.Script, atom.Noscript, atom.Noframes:
		s.raw = true
	case atom.Base, atom.Link, atom.Meta:
		if s.templates == 0 {
			s.declare(name, webpage.Attributes(s.z, more))
		}
	case atom.Html, atom.Head, atom.Basefont, atom.Bgsound:
	case atom.Body, atom.Frameset:
		return s.templates == 0
	default:
		return s.closed && s.templates == 0
	}
	return false
}

// declare processes an element of the head.
func (s *headScanner) declare(name atom.Atom, a map[string]string) {
	switch name {
	case atom.Base:
		if s.base == "" {
			s.base = a["href"]
		}
	case atom.Meta:
		if target, ok := webpage.Refresh(a["content"]); ok && s.refresh == "" && strings.EqualFold(a["http-equiv"], "refresh") {
			s.refresh = target
		}
	case atom.Link:
		rel := strings.ToLower(a["rel"])
		if screen, dark := mediaOf(a["media"]); a["href"] != "" && isIconRel(rel) && screen {
			s.links = append(s.links, link{rel: rel, href: a["href"], sizes: a["sizes"], dark: dark})
		}
	}
}

// isIconRel reports whether one of the tokens of a rel attribute is that of an icon.
func isIconRel(rel string) bool {
	for token := range strings.FieldsSeq(rel) {
		switch token {
		case "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "fluid-icon":
			return true
		}
	}
	return false
}

var (
	otherMedia = regexp.MustCompile(`^(only\s+)?(print|speech|tty|tv|projection|handheld|braille|embossed|aural)\b|^not\s+(all|screen)\s*$`)
	darkMedia  = regexp.MustCompile(`prefers-color-scheme\s*:\s*dark`)
)

// mediaOf reads a list of media queries. screen reports whether one of them may hold for
// a screen, and dark whether those that may are for dark colors only.
func mediaOf(list string) (screen, dark bool) {
	if list == "" {
		return true, false
	}
	dark = true
	for query := range strings.SplitSeq(strings.ToLower(list), ",") {
		if query = strings.TrimSpace(query); !otherMedia.MatchString(query) {
			screen, dark = true, dark && darkMedia.MatchString(query)
		}
	}
	return screen, dark
}

// baseURL is the URL that links are resolved against: the page's base, else its
// own.
func (h head) baseURL(page *url.URL) *url.URL {
	base, err := webpage.Reference(page, h.base)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" {
		return page
	}
	return base
}
