package tracking

import (
	"strings"
	"testing"
)

func TestState(t *testing.T) {
	for state, texts := range map[string][]string{
		Delivered: {
			"您的快件已签收", "已签收,签收人是快递柜", "已签收，签收人凭取货码签收。", "客户签收人: 已签收，签收人凭取货码签收。 已签收 感谢使用圆通速递，期待再次为您服务 如有疑问请联系：18500000000",
			"【苏州市】 您的快递已签收, 签收人在【丰巢的西门丰巢柜2号柜(丰巢智能快递柜)】领取。如有疑问请电联:（13700000000）, 您的快递已经妥投。",
			"您的快件已签收，如有疑问请电联快递员【王某，电话：13600000000】。", `在官网"运单资料&签收图",可查看签收人信息`, "本人签收", "签收", "已由门卫签收", "快件已由接待处签收", "已由未来城店代签收",
			"妥投-本人收", "货物已完成配送，感谢您选择京东配送", "派件异常后签收", "客户已取件", "您的快件已被取走", "已签收，如您未收到此快递，请电联派件员", "已簽收", "派送成功", "已 签 收",
			"【如东县网点】已签收", "快件已送达", "已代收，代收人：邻居", "韵达快递 签收人：本人", "您的快件代签收(家人)，如有疑问请电联业务员", "快件已派送至本人", "您已在驿站完成取件", "包裹已由驿站出库", "您的快件已由丰巢柜签收", "签收时间：2026-01-02", "快件已签收 签收人: 门卫", "已签收，签收人：张三，退货请联系商家",
			"Delivered", "Package delivered", "Delivered, Parcel Locker", "Shipment delivered. Signed for by: FRONT DESK", "Delivery completed", "Picked up by recipient", "Signed",
		},
		Delivering: {
			"正在派送途中,请您准备签收(派件人:王某,电话:13600000000)", "快件交给王某,正在派送途中（联系电话：13600000000）", "郭** 派件中 派件员电话13600000000", "【常熟】 的王某（13700000000） 正在第1次派件, 请保持电话畅通,并耐心等待",
			"快件已被【丰巢的西门丰巢柜2号柜(丰巢智能快递柜)】代收，如有问题请电联（4000000000），感谢使用中通快递，期待再次为您服务！", "快件已由历城区翡翠雅郡北区西门店代收，请及时取件，如有疑问请联系15500000000",
			"待取件", "您的快件已送达 保安处 保管，请及时领取。", "您的快件已暂存至【菜鸟驿站】，如有疑问请联系", "客户要求自取", "投递到包裹柜", "【杭州市】快件已到达【杭州滨江网点】，业务员正在派送中", "已放入丰巢", "快件已存放至菜鸟驿站，请凭取件码1-2-3456及时领取，逾期将退回", "您的快件已送达【XX驿站】，请凭取货码签收", "包裹已投递至智能柜", "配送员开始配送，请您准备收货，配送员，王某，手机号，13600000000",
			"正在投递", "正在派件，如遇无法联系将放驿站", "快递员【王某】已出发，正在为您派件", "清关完成，正在派送", "重新派送", "派送中，验货后签收", "派件中，预计今天18:00前签收", "派送中，请当面签收", "联系不上收件人，已放驿站", "正在派送，未签收",
			"請及時取件，快件已存入順豐櫃", "派送中，凭签收码签收",
			"Out for delivery", "On FedEx vehicle for delivery", "With delivery courier", "Ready for pickup at post office", "Available for collection", "Item is ready for pick up", "Delivered to access point", "Delivered to the local post office", "Awaiting collection", "Item is ready for pickup", "快件已到达【菜鸟驿站】，取件码1-2-3", "Out for delivery, expected to be delivered today",
		},
		Returned: {
			"退回件已签收", "快件退回中", "客户拒收，快件退回发件人", "已退回", "退件已由商家签收", "因地址不详，退回寄件人", "退签",
			"Returned to sender", "Return to Sender - refused", "The item is being returned", "Parcel returned",
		},
		Refused:   {"收件人拒收", "拒收", "客户拒绝签收", "拒签", "拒收，将退回", "【北京】客户拒收，待处理", "Refused by recipient", "Delivery refused"},
		Exception: {"派件失败", "因电话无人接听/关机/无信号，暂无法联系", "快件派送不成功(因收方客户不在)，正在处理中，待再次派送", "Notice left (no authorized recipient available)", "派件失败，联系不上收件人，明日再派", "派送不成功：收件人不在", "未妥投：收件人名址有误", "签收失败", "收件人电话无人接听，无法派送", "疑难件", "快件破损", "超区件", "快件已拦截", "滞留在驿站", "存放驿站超时未取", "清关异常", "揽收失败", "地址不详", "未投递成功", "包裹丢失", "Delivery attempt failed", "Attempted delivery - no one home", "Could not be delivered", "Undelivered", "Not delivered", "Shipment on hold", "Delayed", "Incorrect address", "Delivery exception", "unable to deliver"},
		Customs:   {"清关中", "【海关】放行", "已清关", "等待清关", "海关查验", "送交海关", "出口报关", "邮件已交海关", "Customs clearance completed", "Arrived at customs", "Clearance processing"},
		Accepted:  {"已揽收", "【杭州市】 【余杭】（0571-88888888） 的 张某 （13800000000） 已揽收", "顺丰速运 已收取快件", "快递员已取件", "待揽收", "已收件", "已收寄", "【海关大楼驿站】已揽收", "商家已下单", "您的订单由第三方商家仓库发货", "已揽件，等待运输", "等待揽收", "Picked up", "Shipment picked up", "Shipping label created", "Shipment information received", "Accepted by carrier", "Posting"},
		InTransit: {
			"快件到达 【杭州转运中心】", "【重庆转运中心】 已发出,下一站 【重庆渝北】", "快件已到达派件网点", "到达派件城市", "离开【揽投部】", "【山东济南】 已收入", "运输中", "快件已发车", "快件在【深圳集散中心】完成分拣，准备发往 【杭州萧山集散中心】", "地址变更，快件转寄", "Arriving late, in transit to next facility", "航班起飞", "已到达【海关路营业部】，等待派送", "货物已分配，等待配送", "已封发", "【签收路】已发出", "您的订单已到达【北京分拣中心】", "预计明天送达，运输中", "干线", "快件离开【菜鸟驿站】 已发往【杭州】", "预计签收时间11月22日，快件到达杭州转运中心", "已離開 香港", "【苏州市】 快件离开 【苏州】 已发往 【如皋】",
			"In transit", "Departed from facility", "Arrived at sort facility", "Delivered to local carrier", "Delivered to air transport", "Processed through facility", "Handed over to airline", "Arrived at delivery office", "Will be delivered tomorrow, in transit",
		},
		Unknown: {"", " ", "你好", "未签收", "预计签收", "请准备签收", "待签收", "尚未签收", "123", "【】", "hello", "预计明天18点前送达", "感谢您使用圆通速递，期待再次为您签收"},
	} {
		for _, text := range texts {
			if got := State(text); got != state {
				t.Errorf("%q: %s, want %s", text, got, state)
			}
		}
	}
}

func TestStateReadsTheBeginning(t *testing.T) {
	if got := State("已揽收" + strings.Repeat("已放", 1<<20) + "已签收"); got != Accepted {
		t.Error(got)
	}
	if got := State(strings.Repeat("。", maxText) + "已签收"); got != Unknown {
		t.Error(got)
	}
}
