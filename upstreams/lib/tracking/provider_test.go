package tracking

import (
	"slices"
	"strings"
	"testing"
)

func TestFromKuaidi100(t *testing.T) {
	for state, codes := range map[string]string{
		InTransit: "0 7 1001 1002 1003", Accepted: "1 101 102 103", Exception: "2 13 201 202 204 205 209 210 211 299 401", Delivered: "3 301 302 303 304", Returned: "4 6", Delivering: "5 501", Customs: "8 10 11 12", Refused: "14 203",
		Unknown: "9 15 20 2000 2a1 a -1 1004 03",
	} {
		for code := range strings.FieldsSeq(codes) {
			if got := FromKuaidi100(code); got != state {
				t.Errorf("%s: %s, want %s", code, got, state)
			}
		}
	}
	if got := FromKuaidi100(""); got != Unknown {
		t.Errorf("empty: %s", got)
	}
}

func TestFromAliStatus(t *testing.T) {
	for code, want := range map[string]string{"0": Accepted, "1": InTransit, "2": Delivering, "3": Delivered, "4": Exception, "5": Exception, "6": Returned, "7": Unknown, "": Unknown, "03": Unknown} {
		if got := FromAliStatus(code); got != want {
			t.Errorf("%q: %s, want %s", code, got, want)
		}
	}
}

func TestFromKdniaoState(t *testing.T) {
	for state, pairs := range map[string]string{
		Accepted: "1/ 10/ 1/1", InTransit: "2/ 2/201 2/204 2/205 2/206 5/ 2/299", Delivering: "2/202 2/211 4/419", Delivered: "3/ 3/301 3/302 3/304 3/311 3/399", Exception: "4/ 4/401 4/412 4/423 6/604 4/nonsense", Refused: "4/404", Returned: "4/406 4/407", Customs: "6/ 6/601 6/602 6/603",
		Unknown: "/ 0/ 0/0 9/ x/y 99/999",
	} {
		for pair := range strings.FieldsSeq(pairs) {
			basic, ex, _ := strings.Cut(pair, "/")
			if got := FromKdniaoState(basic, ex); got != state {
				t.Errorf("%s: %s, want %s", pair, got, state)
			}
		}
	}
}

func TestFromCainiao(t *testing.T) {
	for state, words := range map[string]string{
		Delivered: "DELIVERED delivered SIGNIN GTMS_SIGNED", Delivering: "DELIVERING GTMS_DELIVERING GTMS_DO_DEPART READY_FOR_PICKUP", Accepted: "WAIT4PICKUP PICKEDUP PU_PICKUP_SUCCESS", Returned: "RETURN RETURNED",
		Exception: "SIGNIN_EXC GTMS_SIGN_FAILURE UNDELIVERED PU_PICKUP_FAILURE CC_EX_FAILURE DELIVERY_FAILED", Customs: "CC_IM_START CC_EX_SUCCESS CUSTOMS_CLEARANCE",
		InTransit: "IN_TRANSIT SHIPPING DEPART_FROM_ORIGINAL_COUNTRY ARRIVED_AT_DEST_COUNTRY LH_DEPART SC_INBOUND_SUCCESS CWS_WAIT4SIGNIN LTL_SIGNIN SC_SIGN_IN_SUCCESS GTMS_ACCEPT", Unknown: "ORDER_NOT_EXISTS NOTFOUND NONSENSE",
	} {
		for word := range strings.FieldsSeq(words) {
			if got := FromCainiao(word); got != state {
				t.Errorf("%s: %s, want %s", word, got, state)
			}
		}
	}
	if got := FromCainiao(" "); got != Unknown {
		t.Errorf("blank: %s", got)
	}
}

var states = []string{Accepted, InTransit, Delivering, Delivered, Exception, Returned, Refused, Customs, Unknown}

func TestStateName(t *testing.T) {
	var names []string
	for _, s := range states {
		names = append(names, StateName(s))
	}
	if want := strings.Fields("已揽收 运输中 派送中 已签收 异常 退回 拒收 清关 未知"); !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if got := StateName("lost"); got != "未知" {
		t.Errorf("no state: %s", got)
	}
}
