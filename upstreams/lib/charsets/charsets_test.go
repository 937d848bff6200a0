package charsets

import "testing"

// The labels are those of the WHATWG standard. 㐀 has four bytes, and only in GB 18030.
func TestChineseLabelsMeanGB18030(t *testing.T) {
	for _, label := range []string{
		"gb18030", "chinese", "csgb2312", "csiso58gb231280", "gb2312", "gb_2312", "gb_2312-80", "gbk", "iso-ir-58", "x-gbk", "GB2312", " GBK\n",
	} {
		e, name, ok := Of(label)
		if !ok || name != "gb18030" {
			t.Errorf("%s: %q %v", label, name, ok)
			continue
		}
		if got, err := e.NewDecoder().String("\x81\x39\xee\x39\x80\xd6\xd0"); err != nil || got != "㐀€中" {
			t.Errorf("%s: %q %v", label, got, err)
		}
	}
	for label, want := range map[string]string{"utf8": "utf-8", "latin1": "windows-1252", "big5-hkscs": "big5", "klingon": "", "": ""} {
		if _, name, ok := Of(label); name != want || ok != (want != "") {
			t.Errorf("%s: %q %v", label, name, ok)
		}
	}
}

func TestLabels(t *testing.T) {
	for _, r := range []struct{ header, text, want string }{
		{"text/html; charset=gb_2312-80", `<meta charset="big5">`, "gb_2312-80"},
		{"text/html", `<meta http-equiv=Content-Type content="text/html; charset = GBK">`, "GBK"},
		{"text/xml", `<?xml version="1.0" encoding='gb2312'?>`, "gb2312"},
		{"", "<p>no</p>", ""},
	} {
		if got := Label(r.header, []byte(r.text)); got != r.want {
			t.Errorf("%+v: %q", r, got)
		}
	}
}

func TestReadable(t *testing.T) {
	for in, want := range map[string]string{
		"<meta charset=gb2312>\xd6\xd0\x81\x39\xee\x39": "<meta charset=gb2312>中㐀",
		"<meta charset=gb2312>中":                        "<meta charset=gb2312>中",
		"\xd6\xd0":                                      "\xd6\xd0",
		"<meta charset=utf-8>a\xd6":                     "<meta charset=utf-8>a\ufffd",
	} {
		if got := string(Readable([]byte(in))); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
