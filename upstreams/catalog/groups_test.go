package catalog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Groups of one's own come after the built-in ones, by name, and a group may have
// endpoints of several files.
func TestGroupsOfOnesOwn(t *testing.T) {
	load := func(groups map[string]string) (*Catalog, error) {
		files := map[string]string{}
		for name, group := range groups {
			files[name+".yaml"] = strings.NewReplacer("name: whole", "name: "+name, "group: text", "group: "+group).Replace(whole)
		}
		return Load(Options{Dir: writeCatalog(t, files)}, testEnvironment(t, nil))
	}
	const tools, fun = "{name: tools, en: Tools, zh: 工具}", "{name: fun, en: Fun, zh: 趣味}"
	c, err := load(map[string]string{"b": tools, "a": tools, "z": "images", "joke": fun})
	if err != nil {
		t.Fatal(err)
	}
	var groups []string
	for _, g := range c.Groups {
		groups = append(groups, strings.Join([]string{g.Name, g.EN, g.ZH}, " "))
	}
	want := []string{"images Images and wallpapers 图片与壁纸", "media Media 影音", "lookups Lookups 查询", "text Text and daily content 文字与每日内容", "fun Fun 趣味", "tools Tools 工具"}
	if diff := cmp.Diff(want, groups); diff != "" {
		t.Error(diff)
	}
	var last []string
	for _, e := range c.Endpoints[len(c.Endpoints)-3:] {
		last = append(last, e.Group+"/"+e.Name)
	}
	if diff := cmp.Diff([]string{"fun/joke", "tools/a", "tools/b"}, last); diff != "" {
		t.Error(diff)
	}
	if in := c.InGroup("tools"); len(in) != 2 {
		t.Errorf("%d endpoints in tools", len(in))
	}
	_, err = load(map[string]string{"a": tools, "b": "{name: tools, en: Helpers, zh: 工具}"})
	if err == nil || !strings.Contains(err.Error(), `b.yaml:3: group: tools has the titles "Helpers" and "工具", but "Tools" and "工具" in `) || !strings.Contains(err.Error(), "a.yaml; expected the same in both files") {
		t.Error(err)
	}
}
