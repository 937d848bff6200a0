package mcp

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
)

// maxMessage bounds a message, in bytes. The longest argument is the text of a QR code,
// with every character escaped.
const maxMessage = 128 << 10

// Methods that are told apart before the server reads a message.
const (
	methodCall   = "tools/call"
	methodListen = "subscriptions/listen"
)

// message is what decides how a message is treated, before it is answered.
type message struct {
	id        json.RawMessage // nil: it has none
	foreignID bool            // an answer would have another one
	method    string
	call      bool   // a sound one
	tool      string // that is called; "" if none is named
	arguments map[string]json.RawMessage
	noObject  bool // the arguments are of another type
	// text is the message again, without anything that the server could read in
	// another way, such as a member that comes twice.
	text []byte
}

// readMessage reads a single message: batches are no part of the protocol any more, and
// would be a way around limits.
func readMessage(body []byte) (*message, error) {
	var members, params map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, err
	}
	if members == nil {
		return nil, errors.New("expected an object, got null")
	}
	m := &message{}
	if id := members["id"]; isID(id) {
		m.id = id
	}
	m.foreignID = !isAnswerable(m.id)
	sound := hasVersion(members["jsonrpc"]) && m.id != nil && !m.foreignID
	if json.Unmarshal(members["method"], &m.method) == nil && m.method == methodCall && json.Unmarshal(members["params"], &params) == nil && sound {
		if err := m.readCall(members, params); err != nil {
			return nil, err
		}
	}
	var err error
	m.text, err = json.Marshal(members)
	return m, err
}

// readCall reads what a call asks for. Arguments of another type than an object are for
// the tool to refuse.
func (m *message) readCall(members, params map[string]json.RawMessage) (err error) {
	m.call = true
	_ = json.Unmarshal(params["name"], &m.tool) // another type names none
	if given := params["arguments"]; given != nil {
		if m.noObject = json.Unmarshal(given, &m.arguments) != nil; m.noObject {
			return nil
		}
		if params["arguments"], err = json.Marshal(m.arguments); err != nil {
			return err
		}
	}
	members["params"], err = json.Marshal(params)
	return err
}

func hasVersion(raw json.RawMessage) bool {
	var version string
	return json.Unmarshal(raw, &version) == nil && version == "2.0"
}

// isID reports whether it is the id of a message that is answered.
func isID(raw json.RawMessage) bool {
	var number float64
	var text string
	return len(raw) > 0 && string(raw) != "null" && (json.Unmarshal(raw, &number) == nil || json.Unmarshal(raw, &text) == nil)
}

// isAnswerable reports whether an id is a text, or a whole number that every program reads alike. The
// server of the protocol reads numbers as JavaScript does, and would answer others with another id.
func isAnswerable(id json.RawMessage) bool {
	var number float64
	return json.Unmarshal(id, &number) != nil || number == math.Trunc(number) && math.Abs(number) < 1<<53
}

// callsOneOf reports whether the message is a call that becomes a request for an
// endpoint, which counts against the rate limit there.
func (m *message) callsOneOf(tools map[string]*tool) bool { return m.call && m.mistake(tools) == nil }

// mistake is why a call becomes no request; nil for none, and for what is no call. The
// server of the protocol tells it to the caller.
func (m *message) mistake(tools map[string]*tool) *Refusal {
	t := tools[m.tool]
	switch {
	case !m.call:
		return nil
	case t == nil:
		return &Refusal{Status: http.StatusNotFound}
	case m.noObject || t.unknown(m.arguments) != "":
		return &Refusal{Status: http.StatusBadRequest, Endpoint: t.name}
	}
	return nil
}
