package mcp

import (
	"net/http"
	"strconv"
	"time"

	"sundry/proxy/site/i18n"
	"sundry/upstreams/lib/plainjson"
	"sundry/upstreams/lib/words"
)

// Codes of errors, by JSON-RPC and by the protocol's own use of it.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
	codeRefused        = -32000
	codeInternal       = -32603
)

// Refusal is why a message was not answered as its sender wished, for whoever counts.
type Refusal struct {
	// Status is that of the answer, or that of the same mistake in a request for an
	// endpoint, where the protocol wants the answer to have 200.
	Status int
	// Endpoint is the one whose tool was called by mistake; "" for none.
	Endpoint string

	code    int // 0: the server of the protocol tells of it
	message words.Text
	wait    time.Duration // 0: trying again is of no use
}

func wrongOrigin() *Refusal {
	return &Refusal{Status: http.StatusForbidden, code: codeRefused,
		message: words.Say("pages of this origin may not send messages; see mcp_origins", "此源的网页不得发送消息，见 mcp_origins")}
}

func wrongMethod() *Refusal {
	return &Refusal{Status: http.StatusMethodNotAllowed, code: codeRefused,
		message: words.Say("expected POST: there are no streams or sessions here", "请使用 POST：这里不提供流和会话")}
}

func wrongType() *Refusal {
	return &Refusal{Status: http.StatusUnsupportedMediaType, code: codeInvalidRequest,
		message: words.Say("expected Content-Type: application/json", "Content-Type 应为 application/json")}
}

func tooLarge() *Refusal {
	return &Refusal{Status: http.StatusRequestEntityTooLarge, code: codeInvalidRequest,
		message: words.Sayf("expected a message of at most %d bytes", "消息不得超过 %d 字节", maxMessage)}
}

func cutOff() *Refusal {
	return &Refusal{Status: http.StatusBadRequest, code: codeParse, message: words.Say("the message did not arrive whole", "消息没有完整到达")}
}

func noMessage() *Refusal {
	return &Refusal{Status: http.StatusBadRequest, code: codeParse, message: words.Say("expected a single JSON-RPC message", "请求正文应为一条 JSON-RPC 消息")}
}

func noSubscriptions() *Refusal {
	return &Refusal{Status: http.StatusNotFound, code: codeNoMethod, message: words.Say("there are no subscriptions here", "这里不提供订阅")}
}

func limited(wait time.Duration) *Refusal {
	return &Refusal{Status: http.StatusTooManyRequests, code: codeRefused, wait: max(wait, time.Second),
		message: words.Say("too many requests from your address; try again later", "你的地址发来的请求太多，请稍后再试")}
}

func overloaded() *Refusal {
	return &Refusal{Status: http.StatusServiceUnavailable, code: codeRefused, wait: time.Second,
		message: words.Say("too many requests are waiting; try again in a moment", "排队的请求太多，请稍后再试")}
}

func failed() *Refusal {
	return &Refusal{Status: http.StatusInternalServerError, code: codeInternal, message: internalError()}
}

func internalError() words.Text { return words.Say("internal error", "服务内部错误") }

func unknownTool(name string) words.Text {
	return words.Sayf("unknown tool %.40q; tools/list has those that there are", "没有名为 %.40q 的工具，可用的工具见 tools/list", name)
}

// write answers with an error of JSON-RPC that belongs to no message. Codes are the
// contract; the words are in the caller's language.
func (f *Refusal) write(w http.ResponseWriter, in i18n.Choice) {
	body, _ := plainjson.Marshal(ordered{ // nothing in it that cannot be JSON
		{Name: "jsonrpc", Value: "2.0"}, {Name: "id", Value: nil},
		{Name: "error", Value: ordered{{Name: "code", Value: f.code}, {Name: "message", Value: in.Of(f.message)}}},
	})
	h := w.Header()
	if f.wait > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((f.wait+time.Second-1)/time.Second), 10))
	}
	if in.Vary != "" {
		h.Add("Vary", in.Vary)
	}
	h.Set("Content-Language", in.Tag())
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(f.Status)
	_, _ = w.Write(body) // a failed write has no reader
}
