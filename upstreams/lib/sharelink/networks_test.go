package sharelink

// recognisedOfNetworks are links to networks and communities.
func recognisedOfNetworks() map[string]Link {
	tweet := post("twitter", "", "1849000000000000000", "https://x.com/i/status/1849000000000000000")
	tok := post("tiktok", "", "7106798200794926362", "https://www.tiktok.com/@_/video/7106798200794926362")
	sky := post("bluesky", "", "3l3vgf77uco2g", "https://bsky.app/profile/blu3blue.bsky.social/post/3l3vgf77uco2g", "account", "blu3blue.bsky.social")
	did := post("bluesky", "", "3l3vgf77uco2g", "https://bsky.app/profile/did:plc:z72i7hdynmk6r22z27h6tvur/post/3l3vgf77uco2g", "account", "did:plc:z72i7hdynmk6r22z27h6tvur")
	article := post("miyoushe", "", "75247726", "https://www.miyoushe.com/ys/article/75247726")
	blog := post("lofter", "", "1d3f_2bc01", "https://blog-1.lofter.com/post/1d3f_2bc01", "blog", "7487", "post", "179201")
	made := post("doubao", "", "v0369cg10004d9867lqljht6t4tvhh30", "https://www.doubao.com/video-sharing?share_id=49939181380407810&video_id=v0369cg10004d9867lqljht6t4tvhh30", "share", "49939181380407810")
	return map[string]Link{
		"https://x.com/elonmusk/status/1849000000000000000":                                                                            tweet,
		"https://www.x.com/elonmusk/status/1849000000000000000/photo/1":                                                                tweet,
		"https://mobile.x.com/i/status/1849000000000000000":                                                                            tweet,
		"https://x.com/X/status/1849000000000000000/mediaViewer?currentTweet=1849000000000000000":                                      tweet,
		"https://x.com/i/web/status/1849000000000000000":                                                                               tweet,
		"https://twitter.com/elonmusk/statuses/1849000000000000000?s=20&t=x":                                                           tweet,
		"https://www.twitter.com/elonmusk/status/1849000000000000000/video/1":                                                          tweet,
		"https://mobile.twitter.com/elonmusk/status/1849000000000000000":                                                               tweet,
		"https://fxtwitter.com/elonmusk/status/1849000000000000000":                                                                    tweet,
		"https://fixupx.com/elonmusk/status/1849000000000000000":                                                                       tweet,
		"https://vxtwitter.com/elonmusk/status/1849000000000000000":                                                                    tweet,
		"https://fixvx.com/elonmusk/status/1849000000000000000":                                                                        tweet,
		"https://t.co/AbCdEf1234":                                                                                                      shortened("twitter", "https://t.co/AbCdEf1234"),
		"https://www.tiktok.com/@some.user/video/7106798200794926362?is_from_webapp=1":                                                 tok,
		"https://tiktok.com/@some.user/photo/7106798200794926362":                                                                      tok,
		"https://www.tiktok.com/@/video/7106798200794926362":                                                                           tok,
		"https://m.tiktok.com/v/7106798200794926362.html?u_code=x":                                                                     tok,
		"https://www.tiktok.com/share/video/7106798200794926362/":                                                                      tok,
		"https://www.tiktokv.com/share/video/7106798200794926362":                                                                      tok,
		"https://www.tiktok.com/embed/v2/7106798200794926362":                                                                          tok,
		"https://vm.tiktok.com/ZTR45GpSF/":                                                                                             shortened("tiktok", "https://vm.tiktok.com/ZTR45GpSF/"),
		"https://vt.tiktok.com/ZSe4FqkKd":                                                                                              shortened("tiktok", "https://vt.tiktok.com/ZSe4FqkKd/"),
		"https://www.tiktok.com/t/ZTRC5xgJp":                                                                                           shortened("tiktok", "https://www.tiktok.com/t/ZTRC5xgJp/"),
		"https://bsky.app/profile/Blu3blue.bsky.social/post/3l3vgf77uco2g":                                                             sky,
		"https://fxbsky.app/profile/blu3blue.bsky.social/post/3l3vgf77uco2g":                                                           sky,
		"https://bsky.app/profile/did%3Aplc%3Az72i7hdynmk6r22z27h6tvur/post/3l3vgf77uco2g":                                             did,
		"https://www.miyoushe.com/ys/article/75247726":                                                                                 article,
		"https://miyoushe.com/sr/article/75247726/":                                                                                    article,
		"https://m.miyoushe.com/zzz/#/article/75247726":                                                                                article,
		"https://m.miyoushe.com/zzz?channel=beta/#/article/75247726":                                                                   article,
		"https://m.miyoushe.com/ys/article/75247726":                                                                                   article,
		"https://blog-1.lofter.com/post/1d3f_2bc01?incantation=x":                                                                      blog,
		"https://s.lofter.com/-s/AbC123":                                                                                               shortened("lofter", "https://s.lofter.com/-s/AbC123"),
		"https://www.doubao.com/video-sharing?source_type=mobile&share_id=49939181380407810&video_id=v0369cg10004d9867lqljht6t4tvhh30": made,
		"https://doubao.com/video-sharing/?video_id=v0369cg10004d9867lqljht6t4tvhh30&share_id=49939181380407810":                       made,
	}
}
