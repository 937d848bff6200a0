package shortlink

import (
	"net/url"
	"slices"
	"testing"
)

func TestRefresh(t *testing.T) {
	for in, want := range map[string]string{
		"0;URL=https://a.example/":    "https://a.example/",
		" 5 ; url = 'https://a/?x' y": "https://a/?x",
		`0;url="https://a/;b"`:        "https://a/;b",
		`0;url="https://a/`:           "https://a/",
		"0, x":                        "x",
		"0 https://a/":                "https://a/",
		"0.5;url=x":                   "x",
		";url=x":                      "x",
		"0\n;\nURL=\nx":               "x",
		"6;url=x":                     "",
		"99999999999999999999;url=x":  "",
		"0":                           "",
		"0;":                          "",
		"0;url=":                      "",
		"0;url=''":                    "",
		"-1;url=x":                    "",
		"url=x":                       "",
		"":                            "",
	} {
		if got, ok := refresh(in); got != want || ok != (want != "") {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestScanRefreshes(t *testing.T) {
	for in, want := range map[string][]string{
		`<META HTTP-EQUIV=Refresh CONTENT=0;URL=/x?a&amp;b>`:                                    {"/x?a&b"},
		`<meta content="0; url=x" http-equiv='refresh' />`:                                      {"x"},
		`<meta http-equiv=refresh content=9;url=late><meta http-equiv=refresh content=1;url=y>`: {"y"},
		`<!-- <meta http-equiv=refresh content=0;url=x> -->`:                                    nil,
		`<script>"<meta http-equiv=refresh content=0;url=x>"</script>`:                          nil,
		`<meta name=refresh content=0;url=x>`:                                                   nil,
		`<meta http-equiv=refresh content=0;url=x http-equiv=y`:                                 nil,
	} {
		if got := scan([]byte(in), false).refresh; !slices.Equal(got, want) {
			t.Errorf("%s is %q, want %q", in, got, want)
		}
	}
}

func TestFirstScriptTargetThatIsAPage(t *testing.T) {
	u := &url.URL{Scheme: "https", Host: "v.kuaishou.com", Path: "/x"}
	f := search(u, []byte(`<script>location.href="kwai://x"; location.href="javascript:x"; location.href="https://[";</script><script>location.replace("/y")</script>`))
	if f == nil || f.target.String() != "https://v.kuaishou.com/y" || f.via != "script" {
		t.Errorf("%+v", f)
	}
}

// sound checks that targets of any pages and headers are http or https, absolute,

// and can be sent.

func FuzzSearch(f *testing.F) {
	f.Add("t.cn", []byte(`<div class=open-url><a href=//x/></div><div class=desc>http://x</div>`))
	f.Add("t.co", []byte(`<noscript><meta http-equiv=refresh content="0;url='https://x/\u00e9'"></noscript>`))
	f.Add("m.tb.cn", []byte(`<script>var url = "https:\/\/x";location.replace('\x2f')</script>`))
	f.Add("lnkd.in", []byte(`<a href="http://x y/%">`))
	f.Fuzz(func(t *testing.T, host string, body []byte) {
		base := &url.URL{Scheme: "https", Host: host, Path: "/"}
		if _, err := url.Parse(base.String()); err != nil || host == "" {
			return
		}
		sound(t, search(base, body))
	})
}
