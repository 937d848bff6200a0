package tracking

import (
	"cmp"
	"regexp"
	"strings"
)

// States of a parcel.
const (
	Accepted   = "accepted"   // registered with the carrier, or collected
	InTransit  = "in_transit" // on its way
	Delivering = "delivering" // with the courier, or waiting in a locker or shop
	Delivered  = "delivered"  // to the addressee, or to somebody on their behalf
	Exception  = "exception"  // delayed, damaged, lost, stopped, or not deliverable
	Returned   = "returned"   // on its way back, or back
	Refused    = "refused"    // not accepted by the addressee
	Customs    = "customs"    // in customs clearance
	Unknown    = "unknown"
)

// maxText bounds the text that is read, since that is slow: events have some
// hundred bytes.
const maxText = 1 << 10

var stateNames = map[string]string{
	Accepted: "已揽收", InTransit: "运输中", Delivering: "派送中", Delivered: "已签收",
	Exception: "异常", Returned: "退回", Refused: "拒收", Customs: "清关",
}

// StateName is a state in Chinese; 未知 for a text that is not a state.
func StateName(state string) string { return cmp.Or(stateNames[state], "未知") }

// State derives a parcel's state from the text of its newest event, in Chinese or
// English. It is a heuristic for answers without a state code: a code, if there is
// one, is more reliable. Unknown means that no word of the text indicates a state.
// Only the first 1 KiB is read.
func State(latest string) string {
	if len(latest) > maxText {
		latest = latest[:maxText] // half a character matches no rule
	}
	text := strings.ToLower(toSimplified.Replace(latest))
	for _, s := range []string{withoutPlaces(text), text} {
		if state := chinese(clean(s)); state != Unknown {
			return state
		}
	}
	return english(text)
}

// rule is the state of the texts that match it and no earlier rule.
type rule struct {
	state string
	words *regexp.Regexp
}

func match(rules []rule, text string) string {
	for _, r := range rules {
		if r.words.MatchString(text) {
			return r.state
		}
	}
	return Unknown
}

// toSimplified converts the traditional characters of words in the rules, which
// carriers in Hong Kong and Taiwan write, to simplified ones.
var toSimplified = strings.NewReplacer(
	"簽", "签", "攬", "揽", "遞", "递", "運", "运", "輸", "输", "轉", "转", "達", "达", "發", "发", "離", "离", "開", "开",
	"關", "关", "櫃", "柜", "驛", "驿", "異", "异", "敗", "败", "滯", "滞", "損", "损", "無", "无", "聯", "联", "繫", "系",
	"貨", "货", "單", "单", "裝", "装", "車", "车", "點", "点", "網", "网", "庫", "库", "處", "处", "進", "进", "領", "领",
	"請", "请", "準", "准", "備", "备", "預", "预", "計", "计", "將", "将", "時", "时", "門", "门", "衛", "卫", "丟", "丢",
	"遺", "遗", "攔", "拦", "錯", "错", "誤", "误", "遲", "迟", "給", "给", "員", "员", "為", "为", "戶", "户", "沒", "没",
)

// brackets contain places and people in most events, whose names may contain any
// word: 【海关大楼驿站】.
var brackets = regexp.MustCompile(`【[^】]*】|\[[^\]]*\]`)

var lockers = regexp.MustCompile(`柜|驿站|丰巢|自提|代收`)

// withoutPlaces reduces each bracket to whether it names a locker.
func withoutPlaces(text string) string {
	return brackets.ReplaceAllStringFunc(text, func(place string) string {
		if lockers.MatchString(place) {
			return "柜"
		}
		return " "
	})
}

// dropped are the parts of a text that do not describe the current state, in the
// order in which they are dropped: clauses that begin with a condition or a
// courtesy, promises and requests, and words for people and places.
var dropped = []*regexp.Regexp{
	regexp.MustCompile(`(如[有您果需遇未无已]|若[^羌尔]|以免|避免|请勿|感谢|谢谢|期待|欢迎)[^，,。；;！!、]*`),
	regexp.MustCompile(`(逾期|超时)[^，,。；;！!、]{0,8}(将|会|则)[^，,。；;！!、]*|将(被|予以|自动|做)?退回`),
	regexp.MustCompile(`接待|未来`),
	regexp.MustCompile(`(预计|预期|预约|将于|将在|即将|将由)[^，,。；;！!已]{0,20}(签收|妥投|送达|派送|派件|配送|投递|退回|到达)`),
	regexp.MustCompile(`(等待|待|准备|安排|可以?|有权)(被|由)?(您|客户|用户|收件人|买家)?(签收|拒收|退回|派送|派件|配送)`),
	regexp.MustCompile(`(未|没|无法|不能|不便|不予|请|凭|方便|及时|验货后)[^，,。；;！!已]{0,6}签收`),
	regexp.MustCompile(`签收(图|码|验证码|密码|地址|要求|时间段|前|时[请须需务]|后)`),
	regexp.MustCompile(`(派件|派送|配送|投递|揽投|揽收|揽件)(员|人|网点|网络|城市|公司|点|站|中心|方|部|局|处)`),
	regexp.MustCompile(`收件(人|地址|方)|京东配送`),
}

// clean drops what does not describe the parcel's state. A space takes its place,
// so that the words around it are not joined.
func clean(text string) string {
	text = whiteSpace.ReplaceAllString(text, "")
	for _, re := range dropped {
		text = re.ReplaceAllString(text, " ")
	}
	return text
}

var whiteSpace = regexp.MustCompile(`[\s　]+`)

// chinese derives the state from a cleaned text. Strong evidence of a delivery
// comes before other states, and weak evidence, such as a single word, after them.
func chinese(text string) string { return match(chineseRules, text) }

var chineseRules = []rule{
	{Returned, regexp.MustCompile(`退回|退件|退签|退还|退货签收|退货件|返回(寄|发)件|已退`)},
	{Refused, regexp.MustCompile(`拒收|拒签|拒绝(签|接|收)`)},
	{Exception, regexp.MustCompile(`签收(失败|异常|不成功)|(未能?|无法|没有?|不)(妥投|送达)|未[^，,。；;]{0,4}成功`)},
	{Delivered, regexp.MustCompile(`已[^，,。；;]{0,16}签收|签收(人|成功|扫描|录入|完成|$|[，,。:：(（])|(本人|代|门卫|前台|家人|他人|完成)签收|妥投|(派送|派件|配送|投递|交付)(成功|完成|完毕)|完成(派送|配送|派件|投递)|(派送|派件|配送|投递)(至|给|到)(本人|客户|您)|(驿站|代收点|柜)[^，,。；;]{0,4}出库|已自提|(客户|用户|您|本人)已?(在[^，,。；;]{0,12})?(完成)?(取件|领取|提货|自提)|(已|被)[^，,。；;]{0,8}(取走|取出|领取|提走)`)},
	{Exception, regexp.MustCompile(`(超时|逾期)未|未(被)?取`)},
	{Delivering, regexp.MustCompile(`(柜|店|站|超市)代收|(已|被|暂|代)[^，,。；;]{0,12}(放|存|投|送|达|收)[^，,。；;]{0,24}(柜|驿站|代收点|自提点|代理点|超市|便利店|丰巢|菜鸟|妈妈)|待取|待自提|取件码|取货码|提货码|自提码|(及时|尽快|前往|凭)[^，,。；;]{0,12}(取件|取货|领取|提货|自提)|投柜`)},
	{Exception, regexp.MustCompile(`(派件|派送|配送|投递|送货|取件|揽收|揽件|清关|通关|报关)[^，,。；;已]{0,4}(失败|不成功|异常|未成功|有误)|(无法|不能|未能|暂停|取消)(正常)?(派|送|配|投|联系|清关|揽)|疑难|问题件|异常|滞留|破损|损坏|丢失|遗失|联系不上|无人接|无人应|关机|停机|地址(不详|错误|有误|不符)|超区|错分|错发|延误|延迟|晚点|扣留|扣件|扣关|查扣|海关扣|拦截|销单|已?取消|改约|改期|择日`)},
	{Delivering, regexp.MustCompile(`派件|派送|配送|投递|送货|送件|自取|自提|代收点|丰巢|(快递员|骑手|小哥)[^，,。；;]{0,20}(出发|正在为您|前往)`)},
	{Delivered, regexp.MustCompile(`签收|已送达|送达客户|已?代收|已交付`)},
	{Customs, regexp.MustCompile(`清关|报关|通关|海关[】\]]?(查验|放行|检查|审核|手续|处理|申报|接收)|(交|送|到达?|进口|出口|互换局)海关|关务`)},
	{Accepted, regexp.MustCompile(`揽收|揽件|揽投|收寄|收件|收取|取件|接单|下单|打单|寄件|提交了?订单|订单已?(创建|提交|生成|确认|打印|打包)|(已|商家|仓库)发货|等待揽`)},
	{InTransit, regexp.MustCompile(`到达|抵达|已到|发往|发出|离开|运输|运往|中转|转运|分拨|分拣|装车|发车|装袋|卸车|入库|出库|入仓|出仓|扫描|下一站|航班|起飞|降落|落地|封发|干线|集散|集包|拆包|打包|转投|转寄|转递|改寄|收入|在途|途中|出港|进港|启运|交航|处理中心|交接|分配|送往|送达|进口|出口`)},
}

// english derives the state from a text in lower case.
func english(text string) string {
	for _, re := range englishDropped {
		text = re.ReplaceAllString(text, " ")
	}
	return match(englishRules, text)
}

var englishDropped = []*regexp.Regexp{
	regexp.MustCompile(`\b(if|when|once|unless|until)\b[^.,;]*`),
	regexp.MustCompile(`\b(will|to|should|may|expected to|scheduled to|estimated to) be (\w+ )?(delivered|returned|picked up)\b`),
	regexp.MustCompile(`\b(estimated|expected|scheduled) (for )?(delivery|to deliver)\b|\bdelivery (date|by|estimate|expected|scheduled|office|centre|center|depot|facility|station|unit)\b`),
}

var englishRules = []rule{
	{Returned, regexp.MustCompile(`return(ed|ing)? to (the )?(sender|shipper|origin|seller|merchant)|\bbeing returned|\breturned\b|\breturn (shipment|parcel|in progress|initiated|process)|\bsent back`)},
	{Refused, regexp.MustCompile(`\brefus(ed|al)\b|rejected by|\bnot accepted by (the )?(recipient|addressee|consignee|customer)`)},
	{Exception, regexp.MustCompile(`\b(not|never|cannot be|could ?n[o']t be|could not be|can't be|unable to be|un)[ -]?(been |yet )?delivered|undeliver|unable to|unsuccessful|\bfail(ed|ure)|attempt|\bexception\b|damaged|\blost\b|\bmissing\b|(incorrect|wrong|incomplete|insufficient|bad) address|notice left|card left|no ?(one|body)( was)? (at )?home|not available|unavailable|on hold|\bheld\b|\bdelay|cancel+ed|seized|detained|intercept|expired`)},
	{InTransit, regexp.MustCompile(`(delivered|handed( over)?) (in)?to (the |a |an |our )?([\w-]+ ){0,3}(carrier|airline|air transport|airport|linehaul|hub|facility|cent(er|re)|warehouse|courier company|partner|agent)\b`)},
	{Delivering, regexp.MustCompile(`(delivered|handed( over)?) to (the |a |an )?([\w-]+ ){0,2}(post office|pick[- ]?up|collection|access point|service point|parcel ?shop)|out for delivery|\bout with|with (the |a )?(delivery )?(courier|driver)|(ready|available|awaiting|waiting) (for|to be)? ?(pick[- ]?up|picked|collection|collect)|delivery in progress|being delivered|on ([\w-]+ )?(vehicle )?for delivery|in delivery|(pick[- ]?up|collection|access|service) point|parcel ?shop`)},
	{Delivered, regexp.MustCompile(`\bdelivered\b|\bsigned\b|proof of delivery|delivery (was )?(completed?|successful|success|made)|(picked up|collected) by (the )?(recipient|addressee|consignee|customer|receiver)`)},
	{Customs, regexp.MustCompile(`\bcustoms\b|\bclearance\b|\bduties\b`)},
	{Accepted, regexp.MustCompile(`picked up|pick[- ]?up|\baccepted\b|acceptance|\bposted\b|posting|collected|label (has been )?(created|printed)|information (received|submitted|sent)|(order|shipment) (created|received|information)|pre-?shipment|pre-?advice|registered`)},
	{InTransit, regexp.MustCompile(`transit|depart|arriv|\bleft\b|sort(ed|ing)|process(ed|ing)|linehaul|line haul|flight|dispatch|despatch|received (at|by)|en route|on (its|the) way|shipped|forwarded|loaded|transport|hub|facility|handed over|transferred|exchange`)},
}
