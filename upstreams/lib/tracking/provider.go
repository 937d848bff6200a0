package tracking

import (
	"slices"
	"strings"
)

// codes are the codes of a provider by the state that they mean, with spaces between them.
type codes map[string]string

func (c codes) state(code string) string {
	for state, all := range c {
		if slices.Contains(strings.Fields(all), code) {
			return state
		}
	}
	return Unknown
}

// orProblem is the state, or that of a code of three digits from the first one, which are
// specific problems.
func orProblem(state, code string, first byte) string {
	if state == Unknown && digits(code, 3, 3) && code[0] == first {
		return Exception
	}
	return state
}

var kuaidi100 = codes{
	InTransit: "0 7 1001 1002 1003", Accepted: "1 101 102 103", Delivering: "5 501", Delivered: "3 301 302 303 304",
	Returned: "4 6", Refused: "14 203", Customs: "8 10 11 12",
	Exception: "2 13 401", // 401: cancelled
}

// FromKuaidi100 converts kuaidi100's state, basic (3) or advanced (301):
// https://api.kuaidi100.com/document/5f0ffb5ebc8da837cbd8aefc.
func FromKuaidi100(state string) string { return orProblem(kuaidi100.state(state), state, '2') }

var ali = codes{Accepted: "0", InTransit: "1", Delivering: "2", Delivered: "3", Exception: "4 5", Returned: "6"}

// FromAliStatus converts deliverystatus of "全国快递物流查询" on Alibaba
// Cloud's market.
func FromAliStatus(deliverystatus string) string { return ali.state(deliverystatus) }

var kdniaoStates = codes{
	Accepted: "1 10", Delivered: "3 301 302 304 311", Refused: "404", Returned: "406 407", Customs: "6 601 602 603", Exception: "4 604",
	InTransit:  "2 201 204 205 206 5", // 5: forwarded to another address
	Delivering: "202 211 419",         // 419: delivered again
}

// FromKdniaoState converts kdniao's State and its more detailed StateEx, which may
// be empty, and has priority if it is known: https://www.kdniao.com/documents.
func FromKdniaoState(state, ex string) string {
	for _, code := range []string{ex, state} {
		if s := orProblem(kdniaoStates.state(code), code, '4'); s != Unknown {
			return s
		}
	}
	return Unknown
}

// FromCainiao converts the status of a parcel on global.cainiao.com (DELIVERED), or
// the actionCode of an event (GTMS_SIGNED). The codes are not documented; others
// than the known ones are recognised by their parts.
func FromCainiao(word string) string {
	word = fold(word)
	switch word {
	case "SIGNIN", "SIGNED", "DELIVERED", "GTMS_SIGNED":
		return Delivered
	case "DELIVERING", "OUT_FOR_DELIVERY", "GTMS_DO_DEPART", "READY_FOR_PICKUP", "AVAILABLE_FOR_PICKUP", "WAITING_PICKUP":
		return Delivering
	case "WAIT4PICKUP", "PICKEDUP", "PICKED_UP", "ACCEPT", "CREATED": // from the sender
		return Accepted
	case "ORDER_NOT_EXISTS", "NOT_FOUND", "NOTFOUND":
		return Unknown
	}
	for _, part := range cainiao {
		if strings.Contains(word, part.word) {
			return part.state
		}
	}
	return Unknown
}

// cainiao are parts of codes, the most specific first. Signing for a parcel on the
// way, at a warehouse, is not a delivery.
var cainiao = []struct{ word, state string }{
	{"RETURN", Returned}, {"REFUSE", Refused}, {"REJECT", Refused},
	{"FAIL", Exception}, {"EXCEPTION", Exception}, {"_EXC", Exception}, {"UNDELIVER", Exception}, {"HOLD", Exception}, {"EXPIRED", Exception}, {"CANCEL", Exception},
	{"CC_", Customs}, {"CUSTOMS", Customs}, {"CLEARANCE", Customs},
	{"DELIVERING", Delivering}, {"PU_PICKUP", Accepted},
	{"TRANSIT", InTransit}, {"TRANSPORT", InTransit}, {"SHIPPING", InTransit}, {"SHIPPED", InTransit}, {"DEPART", InTransit}, {"ARRIV", InTransit}, {"ON_THE_WAY", InTransit},
	{"LH_", InTransit}, {"SC_", InTransit}, {"GTMS_ACCEPT", InTransit}, {"SIGNIN", InTransit}, {"SIGN_IN", InTransit},
}
