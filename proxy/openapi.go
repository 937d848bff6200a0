package proxy

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"sundry/proxy/site/i18n"
	"sundry/proxy/site/openapi"
	"sundry/upstreams"
	"sundry/upstreams/lib/words"
)

// serveOpenAPI answers with the OpenAPI document, in English unless the caller asks for
// another language.
func (s *Server) serveOpenAPI(w http.ResponseWriter, r *http.Request) {
	set := s.current.Load().pages
	if set == nil {
		s.failPage(w, r, notFound(words.Say("the catalog is not loaded yet", "接口目录尚未加载")))
		return
	}
	in := i18n.OfAnswer(r.URL.RawQuery, r.Header, i18n.English)
	d, err := set.OpenAPI(in.Language)
	if err != nil {
		s.cfg.Log.Error("generating the OpenAPI document failed", "error", err)
		s.failPage(w, r, &failure{status: http.StatusInternalServerError, errorType: typeInternal, message: words.Say("this page could not be generated", "页面生成失败")})
		return
	}
	w.Header().Set("Content-Language", in.Tag())
	s.serveDocument(w, r, d, false, in)
}

// exampleRequestID stands in examples.
const exampleRequestID = "4f1c2a9be07d3c58"

// errorExamples are one error of every type, made as errors are.
func errorExamples(l i18n.Language) []openapi.Error {
	fails := func(kind upstreams.ErrorKind) *failure {
		return classify(context.Background(), &upstreams.Error{Kind: kind})
	}
	failed := []*failure{
		{status: http.StatusBadRequest, errorType: typeMissing, parameter: "url", message: words.Say(
			"parameter url is missing; expected an http or https link, for example url=https://t.cn/A6abcdef",
			"缺少参数 url；应为 http 或 https 链接，例如 url=https://t.cn/A6abcdef")},
		{status: http.StatusBadRequest, errorType: typeInvalid, parameter: "size", message: words.Say(
			`parameter size: "0" is out of range; expected a whole number from 16 to 1024, for example size=256`,
			"参数 size 有误：“0”超出范围；应为 16 到 1024 的整数，例如 size=256")},
		{status: http.StatusForbidden, errorType: typeForbidden, parameter: "url", message: words.Say(
			"parameter url: the value contains a user name or password; expected an http or https link, for example url=https://t.cn/A6abcdef",
			"参数 url 有误：所给的值含有用户名或密码；应为 http 或 https 链接，例如 url=https://t.cn/A6abcdef")},
		fails(upstreams.Negative), methodRefused(http.MethodPost), limited(2 * time.Second),
		fails(upstreams.Internal), fails(upstreams.Unavailable), overloaded(), fails(upstreams.Timeout),
	}
	var out []openapi.Error
	for _, f := range failed {
		message := l.Of(f.message)
		out = append(out, openapi.Error{Type: f.errorType, Status: f.status, Body: json.RawMessage(f.appendJSON(nil, message, exampleRequestID)), Message: message})
	}
	return out
}
