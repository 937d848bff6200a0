package sharelink

// recognisedOfSites are links to video sites.
func recognisedOfSites() map[string]Link {
	ac := post("acfun", "", "35457073", "https://www.acfun.cn/v/ac35457073")
	second := post("acfun", "", "35468952", "https://www.acfun.cn/v/ac35468952_2", "page", "2")
	hao := post("haokan", "", "11345678901234567890", "https://haokan.baidu.com/v?vid=11345678901234567890")
	tencent := post("qqvideo", "", "l3502vppd13", "https://v.qq.com/x/page/l3502vppd13.html")
	us := post("sohu", "", "399571612", "https://my.tv.sohu.com/us/335942214/399571612.shtml")
	news := post("cctv", "", "VIDEabcDEF0123456789abcdef260420", "https://tv.cctv.com/2026/04/20/VIDEabcDEF0123456789abcdef260420.shtml", "day", "2026/04/20")
	short := post("xinpianchang", "", "11766551", "https://www.xinpianchang.com/a11766551")
	pear := post("pearvideo", "", "1076290", "https://www.pearvideo.com/video_1076290")
	song := post("quanminkge", "", "kgAbC_-123", "https://kg.qq.com/node/play?s=kgAbC_-123")
	melon := post("xigua", "", "7359024563000000001", "https://www.ixigua.com/7359024563000000001")
	room := post("sixroom", "", "7425678", "https://v.6.cn/minivideo/7425678")
	green := post("oasis", "", "4506676592820518", "https://m.oasis.weibo.cn/v1/h5/share?sid=4506676592820518")
	pretty := post("meipai", "", "6826061694944437551", "https://www.meipai.com/video/6826061694944437551")
	topic := post("doupai", "", "5fa20d8c8f71d10031f27abb", "https://p.doupai.cc/modules/topic/?id=5fa20d8c8f71d10031f27abb")
	small := post("quanmin", "", "4360835078718407166", "https://xspshare.baidu.com/sv?vid=4360835078718407166")
	head := post("toutiao", "", "7505382061495176511", "https://www.toutiao.com/video/7505382061495176511/")
	return map[string]Link{
		"https://www.toutiao.com/video/7505382061495176511/?log_from=x":                    head,
		"https://m.toutiao.com/i7505382061495176511/":                                      head,
		"https://toutiao.com/group/7505382061495176511":                                    head,
		"https://m.toutiao.com/is/iAbC_12/":                                                shortened("toutiao", "https://m.toutiao.com/is/iAbC_12/"),
		"https://www.toutiao.com/is/iAbC_12":                                               shortened("toutiao", "https://m.toutiao.com/is/iAbC_12/"),
		"https://p.doupai.cc/modules/topic/?id=5fa20d8c8f71d10031f27abb&utm_term=x":        topic,
		"https://p.doupai.cc/topic/5fa20d8c8f71d10031f27abb.html":                          topic,
		"https://xspshare.baidu.com/sv?source=share-h5&vid=4360835078718407166":            small,
		"https://xspshare.baidu.com/88fc0154b588926c3abcb?vid=4360835078718407166":         small,
		"https://www.ixigua.com/7359024563000000001?logTag=x":                              melon,
		"https://ixigua.com/i7359024563000000001/":                                         melon,
		"https://m.ixigua.com/video/7359024563000000001":                                   melon,
		"https://m.ixigua.com/douyin/share/video/7359024563000000001?aweme_type=107":       melon,
		"https://v.ixigua.com/RedcbWM":                                                     shortened("xigua", "https://v.ixigua.com/RedcbWM/"),
		"https://v.6.cn/minivideo/7425678":                                                 room,
		"https://m.6.cn/v/7425678?a=1":                                                     room,
		"https://v.6.cn/profile/watchMini.php?vid=7425678":                                 room,
		"https://m.oasis.weibo.cn/v1/h5/share?sid=4506676592820518&luicode=1":              green,
		"http://www.meipai.com/video/863/6826061694944437551?client_id=1089857302":         pretty,
		"https://meipai.com/video/6826061694944437551/":                                    pretty,
		"https://m.meipai.com/media/6826061694944437551":                                   pretty,
		"https://www.acfun.cn/v/ac35457073?from=video":                                     ac,
		"https://acfun.cn/v/ac35457073/":                                                   ac,
		"https://m.acfun.cn/v/?ac=35457073&sid=1":                                          ac,
		"https://www.acfun.cn/v/ac35457073_1":                                              ac,
		"https://www.acfun.cn/v/ac35468952_2?shareUid=1":                                   second,
		"https://haokan.baidu.com/v?pd=wisenatural&vid=11345678901234567890":               hao,
		"https://haokan.hao123.com/v?vid=11345678901234567890&pd=pc":                       hao,
		"https://v.qq.com/x/page/l3502vppd13.html?ptag=v_qq_com":                           tencent,
		"https://v.qq.com/x/cover/mzc00200mp9v9pw/l3502vppd13.html":                        tencent,
		"https://m.v.qq.com/x/m/play?cid=&vid=l3502vppd13&ptag=v_qq_com":                   tencent,
		"https://tv.sohu.com/v/dXMvMzM1OTQyMjE0LzM5OTU3MTYxMi5zaHRtbA==.html":              us,
		"https://tv.sohu.com/v/dXMvMzM1OTQyMjE0LzM5OTU3MTYxMi5zaHRtbA.html?src=pl":         us,
		"http://my.tv.sohu.com/us/335942214/399571612.shtml":                               us,
		"https://tv.sohu.com/us/335942214/399571612.shtml":                                 us,
		"https://tv.cctv.com/2026/04/20/VIDEabcDEF0123456789abcdef260420.shtml?spm=C1":     news,
		"http://tv.cctv.cn/2026/04/20/VIDEabcDEF0123456789abcdef260420.shtml":              news,
		"https://www.xinpianchang.com/a11766551?from=IndexPick":                            short,
		"https://xinpianchang.com/a11766551/":                                              short,
		"https://www.pearvideo.com/video_1076290":                                          pear,
		"https://pearvideo.com/detail_1076290?st=7":                                        pear,
		"https://www.pearvideo.com/living_1076290":                                         pear,
		"https://kg.qq.com/node/play?s=kgAbC_-123&shareuid=1&g_f=share":                    song,
		"https://kg2.qq.com/node/play?s=kgAbC_-123":                                        song,
		"https://kg3.qq.com/node/play_v2/?s=kgAbC_-123":                                    song,
		"https://static-play.kg.qq.com/node/a1q1NeUJ1N/play_v2?s=kgAbC_-123&topsource=xyz": song,
	}
}
