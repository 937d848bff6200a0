package mcp

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"sundry/metrics/words"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/lib/plainjson"
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

	code    int             // 0: the server of the protocol tells of it
	id      json.RawMessage // of the message that it answers; nil: it belongs to none
	message words.Text
	wait    time.Duration // 0: trying again is of no use
}

// refuse says in both languages what was expected.
func refuse(status, code int, en, zh string) *Refusal {
	return &Refusal{Status: status, code: code, message: words.Say(en, zh)}
}

func tooLarge() *Refusal {
	most := strconv.Itoa(maxMessage)
	return refuse(http.StatusRequestEntityTooLarge, codeInvalidRequest, "expected a message of at most "+most+" bytes", "消息不得超过 "+most+" 字节")
}

func overloaded() *Refusal {
	f := refuse(http.StatusServiceUnavailable, codeRefused, "too many requests are waiting; try again in a moment", "排队的请求太多，请稍后再试")
	f.wait = time.Second
	return f
}

func internalError() words.Text { return words.Say("internal error", "服务内部错误") }

func unknownTool(name string) words.Text {
	return words.Sayf("unknown tool %.40q; tools/list has those that there are", "没有名为%.40q的工具，可用的工具见 tools/list", name)
}

// write answers with an error of JSON-RPC. Codes are the contract; the words are in the caller's language.
func (f *Refusal) write(w http.ResponseWriter, in i18n.Choice) {
	body, _ := plainjson.Marshal(ordered{ // nothing in it that cannot be JSON
		{Name: "jsonrpc", Value: "2.0"}, {Name: "id", Value: f.id},
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
