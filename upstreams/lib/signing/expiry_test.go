package signing

import "testing"

func TestExpiry(t *testing.T) {
	for link, want := range map[string]int64{
		"https://p3-sign.douyinpic.com/c~q.jpeg?x-expires=1790000000&x-signature=cd":                         1790000000,
		"https://f.video.weibocdn.com/h.mp4?label=mp4_720p&Expires=1790000001&ssig=b":                        1790000001,
		"https://upos-sz-mirrorcos.bilivideo.com/1-192.mp4?platform=html5&deadline=1790000002&upsig=ab":      1790000002,
		"http://cdn.video.aibizhi.dandanjiang.tv/5fb9.mp4?sign=066d&t=6ab13b83":                              1790000003,
		"http://sns-video-v6.xhscdn.com/259.mp4?sign=db6c&t=6AB13B84":                                        1790000004,
		"http://sns-video-v6.xhscdn.com/259.mp4?sign=db6c&t=1790000005":                                      1790000005,
		"https://v11-weba.douyinvod.com/150422f5184f9333db8ff832b942bfbc/6ab13b86/video/tos/cn/x/?a=6383":    1790000006,
		"https://v26-web.douyinvod.com/150422f5184f9333db8ff832b942bfbc/6ab13b86/x/?a=6383&expires=nonsense": 1790000006,
		// Other numbers in the same places, and none at all.
		"https://example.com/a.mp4?t=12":                                        0,
		"https://example.com/a.mp4?t=00000012":                                  0,
		"https://example.com/a.mp4?t=99999999999":                               0,
		"https://example.com/a.mp4?t=-1790000000":                               0,
		"https://example.com/a.mp4?deadline=6ab13b83":                           0,
		"https://example.com/150422f5184f9333db8ff832b942bfbc/00000012/x.mp4":   0,
		"https://example.com/x/150422f5184f9333db8ff832b942bfbc/6ab13b86/x.mp4": 0,
		"https://example.com/a.mp4":                                             0,
		"http://%zz/?t=6ab13b83":                                                0,
		"":                                                                      0,
	} {
		at, ok := LinkExpiry(link)
		if ok != (want != 0) || ok && at.Unix() != want {
			t.Errorf("%s: %v %v, want %d", link, at, ok, want)
		}
	}
}
