package jq

// Function describes a function that programs may call beside those of jq.
type Function struct {
	// Call is how it is called, with its parameters.
	Call string
	// About says what it makes of its input.
	About string
	// Example is a program that calls it, and Result what that emits, in JSON; "" where
	// it depends on the time or on a long input.
	Example, Result string
}

// Functions are those that the program itself defines, for the reference.
func Functions() []Function {
	return []Function{
		{"filled", "The value, or null for one that says nothing: a blank text, the text null, an empty list or object.", `[" ", "null", [], "a"] | map(filled)`, `[null,null,null,"a"]`},
		{"https", "Makes http and protocol-relative links https; leaves any other value as it is.", `"//img.example.org/a.png" | https`, `"https://img.example.org/a.png"`},
		{"web_link", "An address as `https` makes it, or null for what is none: a path, a text without a host, an address with a null in it.", `["http://img.example.org/a.png", "/a.png", "https://example.org/null.png"] | map(web_link)`, `["https://img.example.org/a.png",null,null]`},
		{"html_text", "HTML without tags, with entities decoded and white space collapsed.", `"<p>Fish &amp;\n chips</p>" | html_text`, `"Fish & chips"`},
		{"china_time", "A time in China, in RFC 3339, of what services write: `2026-11-21 08:00:00`, also with / or 年月日 for - or with a zone, the times of RFC 3339 and RFC 1123, Unix seconds and milliseconds; null for what is none of these.", `["2026/11/21 8:00", 1795219200000, "Sat, 21 Nov 2026 00:00:00 GMT", "soon"] | map(china_time)`, `["2026-11-21T08:00:00+08:00","2026-11-21T08:00:00+08:00","2026-11-21T08:00:00+08:00",null]`},
		{"china_date", "The day of such a time in China, or a date: `2026/11/21`, `2026年11月21日`, `20261121`; null for what is neither.", `["2026年1月2日", "20260102", "2026-01-01T20:00:00Z"] | map(china_date)`, `["2026-01-02","2026-01-02","2026-01-02"]`},
		{"md5", "The MD5 sum of a text in hexadecimal, which some services sign requests with.", `"a" | md5`, `"0cc175b9c0f1b6a831c399e269772661"`},
		{"share", "What a share link of a video platform says without a request: {platform, id, kind, url, extra}. An error for other texts.", `"https://www.bilibili.com/video/BV1GJ411x7h7" | share | .platform`, `"bilibili"`},
		{"wbi_key(img; sub)", "The key that signs queries to Bilibili, of the names of two pictures.", `wbi_key("7cd084941338484aae1ad9425b84077c"; "4932caff0ff746eab6f01bf08b70ac45")`, `"ea1db124af3c7062474693fa704f4ff8"`},
		{"wbi_sign(key; now)", "A query string, signed for Bilibili.", `"bvid=BV1GJ411x7h7" | wbi_sign($vars.key; $now)`, ""},
		{"bilibili_player(now)", "A query string with what Bilibili's player says about the browser.", `"bvid=BV1GJ411x7h7" | bilibili_player($now)`, ""},
		{"twitter_token", "The token with which X is asked for an embedded post, of the post's number.", `"1790000000000000000" | twitter_token`, ""},
		{"country", "What a country's code of two letters says, in Chinese: {country, country_code, continent, continent_code}; an empty object for an unknown one.", `"US" | country | .country_code`, `"US"`},
		{"lunar_date", "A day, 2006-01-02, in the traditional Chinese calendar; null for a day beyond its table.", `"2026-02-17" | lunar_date`, `"丙午年正月初一"`},
		{"link_expiry", "When a signed link to a file ends, in Unix seconds; null for a link that does not say.", `"https://v.example.org/a.mp4?deadline=1795219200" | link_expiry`, "1795219200"},
		{"douyin_page", "What the next request takes from a share page of Douyin: {web_id, user_ip, token}.", `.page | douyin_page`, ""},
		{"douyin_reflow(web_id)", "The token of such a page, encrypted.", `.token | douyin_reflow(.web_id)`, ""},
		{"carriers", "The carriers that a parcel with this number may belong to: [{code, name, confidence, why}].", `"SF1234567890123" | carriers | .[0].code`, `"shunfeng"`},
		{"carrier_name", "The name of a carrier's code; null for an unknown one.", `"shunfeng" | carrier_name`, `"顺丰速运"`},
		{"needs_phone", "Whether a carrier asks for the last digits of a phone number.", `"shunfeng" | needs_phone`, "true"},
		{"to_kdniao", "A carrier's code in the words of kdniao; null for one it does not know.", `"shunfeng" | to_kdniao`, `"SF"`},
		{"from_kdniao", "The code of a carrier that kdniao names; null for an unknown one.", `"SF" | from_kdniao`, `"shunfeng"`},
		{"from_ali", "The code of a carrier that Alibaba's services name; null for an unknown one.", `"SFEXPRESS" | from_ali`, `"shunfeng"`},
		{"kuaidi100_state", "A parcel's state, of kuaidi100's.", `"3" | kuaidi100_state`, `"delivered"`},
		{"kdniao_state(detail)", "A parcel's state, of kdniao's two.", `"3" | kdniao_state("")`, `"delivered"`},
		{"ali_state", "A parcel's state, of Alibaba's.", `"3" | ali_state`, `"delivered"`},
		{"cainiao_state", "A parcel's state, of Cainiao's.", `"DELIVERED" | cainiao_state`, `"delivered"`},
		{"trail_state", "A parcel's state, of the text of its last event.", `"快件已签收" | trail_state`, `"delivered"`},
		{"state_name", "The Chinese name of a parcel's state.", `"delivered" | state_name`, `"已签收"`},
		{"trail", "Sorts events {time, text, place}, newest first, and masks phone numbers.", `[{time: "2026-01-02 03:04:05", text: "已揽收"}] | trail | .[0].text`, `"已揽收"`},
	}
}

// Given is a variable that programs may read.
type Given struct{ Name, About string }

// Variables are those of every program, for the reference.
func Variables() []Given {
	return []Given{
		{"$params", "the input of the call, by the names of its parameters"},
		{"$now", "the time of the call, in Unix seconds"},
		{"$vars", "results of steps and variables, by name"},
		{"$status", "the status of the reply"},
		{"$location", "the target of a redirect that is not followed, or an empty text"},
		{"$cookies", "the cookies that the reply sets, by name"},
		{"$headers", "the headers of the reply, by name in lower case"},
		{"$secrets", "keys and options, by name; only until the reply is received"},
	}
}
