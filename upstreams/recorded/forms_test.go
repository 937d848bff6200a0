package recorded

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sundry/upstreams/catalog"
	"sundry/upstreams/chinatime"
)

// TestEveryFormOfEveryCase renders each recorded success in every form.
func TestEveryFormOfEveryCase(t *testing.T) {
	c := replayed(t)
	for _, e := range c.Endpoints {
		for _, q := range Examples(e) {
			in, bad := e.Parse(q, catalog.Caller{Addr: caller})
			if bad != nil {
				t.Fatal(bad)
			}
			content, err := (&catalog.Fill{Input: in}).Load(t.Context(), false)
			if err != nil {
				t.Errorf("%s?%s: %v", e.Name, q, err)
				continue
			}
			for i, f := range content.Forms {
				if len(f) == 0 {
					t.Errorf("%s?%s: form %d has no body", e.Name, q, i)
				}
				for _, b := range f {
					if b.Status != 200 && b.Status != 302 || b.Type == "" || len(b.Data) == 0 {
						t.Errorf("%s?%s: form %d: %+v", e.Name, q, i, b)
					}
				}
			}
		}
	}
}

func TestTexts(t *testing.T) {
	c := replayed(t)
	text := func(endpoint, query string) string {
		e, _ := c.Get(endpoint)
		in, bad := e.Parse(query, catalog.Caller{Addr: caller})
		if bad != nil {
			t.Fatal(bad)
		}
		content, err := (&catalog.Fill{Input: in}).Load(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		return string(content.Forms[in.Form.FormIndex()][0].Data)
	}
	if diff := cmp.Diff("mc.example.net:25565 在线 3/100\n版本 Paper 1.21.4\nHello world\n玩家 Alex\n模组 1 个", strings.Split(text("gamestatus", "host=mc.example.net&type=text"), "\n延迟")[0]); diff != "" {
		t.Error(diff)
	}
	if got := text("wpcat", "type=text"); strings.Count(got, "\n") != 20 || !strings.HasPrefix(got, "https://p15.qhimg.com/") {
		t.Errorf("wpcat: %s", got)
	}
	if got := text("60s", "type=text"); !strings.HasPrefix(got, "每天60秒读懂世界 "+time.Now().In(chinatime.Zone()).Format("2006-01-02")) || !strings.Contains(got, "\n15. ") || !strings.HasSuffix(got, "【微语】示例微语一句\n") {
		t.Errorf("60s: %s", got)
	}
}
