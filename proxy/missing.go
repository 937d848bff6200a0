package proxy

import (
	"net/http"
	"strings"

	"sundry/metrics/words"
	"sundry/proxy/mcp"
	"sundry/proxy/site/i18n"
	"sundry/proxy/site/pages"
)

// nothingAt says that there is nothing at a path, and which endpoint or API was probably meant.
func (s *Server) nothingAt(path string) words.Both {
	below, inside := strings.CutPrefix(path, s.cfg.BasePath+"/api/")
	if now := s.current.Load(); inside && now.catalog != nil {
		name, near := now.nearest(below)
		if rt := now.apis[near]; rt != nil && len(rt.Hosts) > 0 {
			return words.Say(near+" is not here, but at "+strings.Join(rt.Hosts, ", "), words.Join(near, " 不在这里，地址为 ", strings.Join(rt.Hosts, "、")))
		}
		if near != "" {
			return &nearMiss{name, near}
		}
	}
	if path == s.cfg.BasePath+mcp.Path {
		return words.Say("there are no tools for agents here: the operator offers them with SUNDRY_MCP=true", "这里没有给智能体用的工具：由运营者用 SUNDRY_MCP=true 开启")
	}
	list := s.cfg.BasePath + "/"
	return words.Say("there is no such endpoint; see the list at "+list, "没有这个接口，接口列表见 "+list)
}

// nearMiss says that there is no endpoint of a name, and which was probably meant.
type nearMiss struct{ name, near string }

// EN implements words.Both.
func (m *nearMiss) EN() string {
	return `there is no endpoint "` + m.name + `"; did you mean ` + m.near + "?"
}

// ZH implements words.Both.
func (m *nearMiss) ZH() string {
	return words.Join("没有接口 ", m.name, "，是不是要找 ", m.near, "？")
}

// nearest is what was probably meant by a name in a path below /api/; "": nothing is near. Only APIs have paths below theirs.
func (g *generation) nearest(below string) (name, near string) {
	name, _, _ = strings.Cut(below, "/")
	near = g.catalog.Nearest(name)
	if endpointOf(below) == "" && g.apis[near] == nil {
		return name, ""
	}
	return name, near
}

// missingPage is the page for a visitor whose browser asks for one that there is not; nil
// for programs, and below /api/, where nobody expects a page.
func (s *Server) missingPage(req *request, f *failure) (*pages.Document, i18n.Choice) {
	path, inside := strings.CutPrefix(req.r.URL.Path, s.cfg.BasePath)
	set := s.current.Load().pages
	if req.route != nil || f.errorType != typeNotFound || set == nil || !inside || strings.HasPrefix(path, "/api/") {
		return nil, i18n.Choice{}
	}
	if accepted := weigh(req.r.Header["Accept"]); accepted.page == 0 || accepted.page < max(accepted.json, accepted.image) {
		return nil, i18n.Choice{}
	}
	in := s.cfg.Languages.OfPage(req.r)
	d, err := set.Missing(path, in.Language)
	if err != nil {
		s.cfg.Log.Error("generating a page failed", "path", req.r.URL.Path, "error", err)
		return nil, in
	}
	return d, in
}

// writeMissing sends that page, in the language of all pages. It is compressed for nobody:
// it is small, and crawlers and finders of holes get it most.
func (s *Server) writeMissing(req *request, f *failure, d *pages.Document, in i18n.Choice) int {
	h := req.w.Header()
	body, _ := d.Body(0)
	s.setErrorHeaders(h, f, req.id.String(), "", len(body))
	s.remember(req.w, in)
	h.Set("Vary", "Accept, Cookie, Accept-Language")
	h.Set("Content-Language", in.Tag())
	h.Set("Content-Type", d.Type)
	h.Set("Content-Security-Policy", d.CSP)
	h.Set("Referrer-Policy", "same-origin")
	req.begin(f.status)
	if req.r.Method == http.MethodHead {
		return 0
	}
	n, _ := req.w.Write(body) // a failed write has no reader
	return n
}
