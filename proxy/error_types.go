package proxy

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"sundry/metrics/words"
	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
	"sundry/upstreams"
)

// errorType is one of the closed list, with what is told of it before anything has failed.
type errorType struct {
	example *failure
	meaning words.Text // in the docs
	title   words.Text // on the picture that stands for it; zero: there is none
}

// errorTypes returns the closed list.
func errorTypes() []errorType {
	say := words.Say
	fails := func(kind upstreams.ErrorKind) *failure {
		return classify(context.Background(), &upstreams.Error{Kind: kind})
	}
	return []errorType{
		{missingExample(), say("A required parameter is missing.", "缺少必填参数。"), say("A parameter is missing", "缺少参数")},
		{invalidExample(), say("A value is not allowed; the message says what is, with an example.", "参数值有误；message 会说明允许的取值并举例。"),
			say("A parameter is not valid", "参数有误")},
		{fails(upstreams.Forbidden), say("Only other services on the public internet may be called.", "只能访问公网上的其他服务。"),
			say("Requests to this address are not allowed", "不允许访问该地址")},
		{fails(upstreams.Negative), say("What was asked for does not exist.", "查询的内容不存在。"), say("Not found", "没有找到")},
		{example: methodRefused(http.MethodPost), meaning: say("Endpoints are called with GET, HEAD or OPTIONS alone.", "接口只接受 GET、HEAD 和 OPTIONS。")},
		{limited(2 * time.Second), say("Too many requests from your address; Retry-After says when to try again.", "请求过于频繁；何时重试见响应头 Retry-After。"),
			say("Too many requests", "请求过于频繁")},
		{fails(upstreams.Internal), say("A fault of this service.", "服务内部错误。"), say("Internal error", "服务内部错误")},
		{fails(upstreams.Unavailable), say("No source is available at the moment.", "所有数据源暂时不可用。"),
			say("Not available at the moment", "暂时无法获取")},
		{overloaded(), say("The service is busy; Retry-After says when to try again.", "服务繁忙；何时重试见响应头 Retry-After。"),
			say("The service is busy", "服务繁忙")},
		{fails(upstreams.Timeout), say("No source answered in time.", "所有数据源都未及时回复。"),
			say("No source answered in time", "数据源响应超时")},
	}
}

func missingExample() *failure {
	return &failure{status: http.StatusBadRequest, errorType: typeMissing, parameter: "url", message: words.Say(
		"parameter url is missing; expected an http or https link, for example url=https://t.cn/A6abcdef",
		"缺少参数 url；应为 http 或 https 链接，例如 url=https://t.cn/A6abcdef")}
}

func invalidExample() *failure {
	return &failure{status: http.StatusBadRequest, errorType: typeInvalid, parameter: "size", message: words.Say(
		`parameter size: "0" is out of range; expected a whole number from 16 to 1024, for example size=256`,
		"参数 size 有误：“0”超出范围；应为 16 到 1024 的整数，例如 size=256")}
}

// exampleRequestID stands in examples.
const exampleRequestID = "4f1c2a9be07d3c58"

// errorExamples are one error of every type, made as errors are.
func errorExamples(l i18n.Language) []apidoc.Error {
	var out []apidoc.Error
	for _, t := range errorTypes() {
		f, message := t.example, l.Of(t.example.message)
		out = append(out, apidoc.Error{
			Type: f.errorType, Status: f.status, Body: json.RawMessage(f.appendJSON(nil, message, exampleRequestID)), Message: message, Meaning: l.Of(t.meaning),
		})
	}
	return out
}
