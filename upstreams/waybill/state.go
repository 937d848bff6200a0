package waybill

import "strings"

// States of a parcel.
const (
	Accepted   = "accepted"   // ordered from the carrier, or collected
	InTransit  = "in_transit" // on its way
	Delivering = "delivering" // with the courier, or waiting in a locker or shop
	Delivered  = "delivered"  // in the addressee's hands, or in those of a stand-in
	Exception  = "exception"  // delayed, damaged, lost, stopped, or not deliverable
	Returned   = "returned"   // on its way back, or back
	Refused    = "refused"    // not taken by the addressee
	Customs    = "customs"    // at the customs
	Unknown    = "unknown"
)

// maxText bounds the reading of prose, which is not cheap: events have some
// hundred bytes.
const maxText = 1 << 10

// StateName gives a state in Chinese; a text that is no state is 未知.
func StateName(state string) string {
	switch state {
	case Accepted:
		return "已揽收"
	case InTransit:
		return "运输中"
	case Delivering:
		return "派送中"
	case Delivered:
		return "已签收"
	case Exception:
		return "异常"
	case Returned:
		return "退回"
	case Refused:
		return "拒收"
	case Customs:
		return "清关"
	}
	return "未知"
}

// State derives a parcel's state from the text of its newest event, in Chinese
// or English. It is for answers that come without a state code, and a reading
// of prose: a code, where there is one, is better. Unknown means that no word
// of the text tells a state. What follows after 1 KiB is not read.
func State(latest string) string {
	if len(latest) > maxText {
		latest = latest[:maxText] // half a character is no word
	}
	text := strings.ToLower(simplified.Replace(latest))
	for _, s := range []string{withoutPlaces(text), text} {
		if state := chinese(clean(s)); state != Unknown {
			return state
		}
	}
	return english(text)
}
