package catalog

import (
	"cmp"
	"slices"

	"go.yaml.in/yaml/v4"

	"sundry/metrics/words"
	"sundry/upstreams/declare"
)

// Group is a group of endpoints, with its titles.
type Group struct {
	Name, EN, ZH string
	// AboutEN and AboutZH say what its endpoints are for; "" of an operator's own.
	AboutEN, AboutZH string
	// endpoints in the order of the specification; others follow by name.
	endpoints []string
}

// builtinGroups are in the order of the specification.
func builtinGroups() []Group {
	return []Group{
		{"images", "Images and wallpapers", "图片与壁纸",
			"Wallpapers, icons, avatars and QR codes: the picture itself, a link to it, or its facts as JSON.", "壁纸、图标、头像与二维码：直接返回图片、图片链接，或以 JSON 返回图片信息。",
			[]string{"wpcat", "dailywp", "favicon", "ipinfo", "avatar", "qrcode", "sjbz"}},
		{"media", "Media", "影音",
			"Videos and songs: of a share link, or at random.", "视频与音乐：解析分享链接，或随机返回一个。",
			[]string{"vidparse", "music", "sjsp"}},
		{"lookups", "Lookups", "查询",
			"What is known about an IP address, a parcel, a game server, a short link or an identity number.", "查询 IP 归属地、快递、游戏服务器、短链接与身份证号等。",
			[]string{"dwzrec", "onlinestatus", "sfz", "ip", "gamestatus", "kd"}},
		{"text", "Text and daily content", "文字与每日内容",
			"The news of the day, this day in history, and quotes.", "每日新闻简报、历史上的今天与一言。",
			[]string{"lishi", "yiyan", "dailynews", "60s"}},
	}
}

// InGroup lists the endpoints of a group, in the catalog's order.
func (c *Catalog) InGroup(name string) []*Endpoint {
	var all []*Endpoint
	for _, e := range c.Endpoints {
		if e.Group == name {
			all = append(all, e)
		}
	}
	return all
}

// groupSpec is the name of a built-in group, or a group of the operator's own with
// its titles.
type groupSpec struct {
	name declare.Text
	own  *ownGroup // nil: a built-in one
}

// ownGroup is a group that is not built in.
type ownGroup struct {
	// Name of the group: lower-case letters, digits and hyphens.
	Name declare.Text `yaml:"name" required:"true" example:"tools"`
	// EN is the English title; without it, the Chinese one stands for both.
	EN string `yaml:"en" any:"language" example:"Tools"`
	// ZH is the Chinese title; without it, the English one stands for both.
	ZH string `yaml:"zh" any:"language" example:"工具"`
}

// UnmarshalYAML takes a name, or a mapping with titles.
func (g *groupSpec) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Load(&g.name)
	}
	g.own = &ownGroup{}
	err := n.Load(g.own)
	g.name = g.own.Name
	return err
}

// Shape implements declare.Shaped.
func (groupSpec) Shape(of func(any) *declare.Shape) *declare.Shape {
	return &declare.Shape{Kind: declare.Union, Of: []*declare.Shape{of(declare.Text{}), of(ownGroup{})}}
}

// compile checks the group of a file. What other files say of it is compared when
// all are compiled.
func (g *groupSpec) compile(file int, problems *declare.Problems) Group {
	line, builtin := cmp.Or(g.name.Line, file), builtinGroups()
	i := slices.IndexFunc(builtin, func(b Group) bool { return b.Name == g.name.Value })
	if g.own == nil {
		if i < 0 {
			problems.Add(line, "group: expected one of %s, or one of your own as in {name: tools, en: Tools, zh: 工具}, got %q", groupNames(builtin), g.name.Value)
			return Group{Name: g.name.Value}
		}
		return builtin[i]
	}
	title := declare.InLanguages{EN: g.own.EN, ZH: g.own.ZH}.Text()
	switch {
	case i >= 0:
		problems.Add(line, "group: %s is built in, with its own titles; expected group: %s, or another name", g.name.Value, g.name.Value)
	case !endpointName.MatchString(g.name.Value):
		problems.Add(line, "group: name: expected lower-case letters, digits and hyphens, for example tools, got %q", g.name.Value)
	case title.IsZero():
		problems.Add(line, "group: %s: expected a title, for example {name: tools, en: Tools, zh: 工具}", g.name.Value)
	}
	return Group{Name: g.name.Value, EN: title.EN(), ZH: title.ZH()}
}

func groupNames(groups []Group) words.Text {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.Name
	}
	return words.Names(names...)
}

// addGroups collects the groups of all endpoints. Files that give a group different
// titles are a mistake.
func (c *Catalog) addGroups() []error {
	c.Groups = builtinGroups()
	own := map[string]*Endpoint{} // the first of each group that is not built in
	var failed []error
	for _, e := range c.Endpoints {
		if e == nil || slices.ContainsFunc(c.Groups, func(g Group) bool { return g.Name == e.Group && own[e.Group] == nil }) {
			continue
		}
		first := own[e.Group]
		if first == nil {
			own[e.Group] = e
			c.Groups = append(c.Groups, e.group)
			continue
		}
		if first.group.EN != e.group.EN || first.group.ZH != e.group.ZH {
			failed = append(failed, Mistake{e.File, e.groupLine, declare.Say("group: %s has the titles %q and %q, but %q and %q in %s; expected the same in both files",
				e.Group, e.group.EN, e.group.ZH, first.group.EN, first.group.ZH, first.File)})
		}
	}
	slices.SortStableFunc(c.Groups[len(builtinGroups()):], func(a, b Group) int { return cmp.Compare(a.Name, b.Name) })
	return failed
}

// order sorts endpoints by group, then as the group lists them.
func (c *Catalog) order() {
	place := func(e *Endpoint) (group, row int) {
		group = slices.IndexFunc(c.Groups, func(g Group) bool { return g.Name == e.Group })
		if row = slices.Index(c.Groups[group].endpoints, e.Name); row < 0 {
			row = len(c.Groups[group].endpoints)
		}
		return group, row
	}
	slices.SortStableFunc(c.Endpoints, func(a, b *Endpoint) int {
		groupA, rowA := place(a)
		groupB, rowB := place(b)
		return cmp.Or(cmp.Compare(groupA, groupB), cmp.Compare(rowA, rowB), cmp.Compare(a.Name, b.Name))
	})
}
