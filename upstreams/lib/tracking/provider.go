package tracking

import "strings"

// FromKuaidi100 converts kuaidi100's state, basic (3) or advanced (301):
// https://api.kuaidi100.com/document/5f0ffb5ebc8da837cbd8aefc.
func FromKuaidi100(state string) string {
	switch state {
	case "0", "7", "1001", "1002", "1003":
		return InTransit
	case "1", "101", "102", "103":
		return Accepted
	case "3", "301", "302", "303", "304":
		return Delivered
	case "4", "6":
		return Returned
	case "5", "501":
		return Delivering
	case "8", "10", "11", "12":
		return Customs
	case "14", "203":
		return Refused
	case "2", "13", "401": // 401: cancelled
		return Exception
	}
	if len(state) == 3 && state[0] == '2' && digits(state, 3, 3) {
		return Exception // 201 and higher are specific problems
	}
	return Unknown
}

// FromAliStatus converts deliverystatus of "全国快递物流查询" on Alibaba
// Cloud's market.
func FromAliStatus(deliverystatus string) string {
	switch deliverystatus {
	case "0":
		return Accepted
	case "1":
		return InTransit
	case "2":
		return Delivering
	case "3":
		return Delivered
	case "4", "5":
		return Exception
	case "6":
		return Returned
	}
	return Unknown
}

// FromKdniaoState converts kdniao's State and its more detailed StateEx, which may
// be empty, and has priority if it is known: https://www.kdniao.com/documents.
func FromKdniaoState(state, ex string) string {
	if s := kdniaoState(ex); s != Unknown {
		return s
	}
	return kdniaoState(state)
}

func kdniaoState(code string) string {
	switch code {
	case "1", "10":
		return Accepted
	case "2", "201", "204", "205", "206", "5": // 5: forwarded to another address
		return InTransit
	case "202", "211", "419": // 419: delivered again
		return Delivering
	case "3", "301", "302", "304", "311":
		return Delivered
	case "404":
		return Refused
	case "406", "407":
		return Returned
	case "6", "601", "602", "603":
		return Customs
	case "4", "604":
		return Exception
	}
	if len(code) == 3 && code[0] == '4' && digits(code, 3, 3) {
		return Exception // 401 and higher are specific problems
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
