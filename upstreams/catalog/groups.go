package catalog

import (
	"cmp"
	"slices"
)

// Group is one of the specification's groups of endpoints.
type Group struct {
	Name, EN, ZH string
	// endpoints in the order of the specification; others follow by name.
	endpoints []string
}

// Groups are in the order of the specification.
func Groups() []Group {
	return []Group{
		{"images", "Images and wallpapers", "图片与壁纸", []string{"wpcat", "dailywp", "favicon", "ipinfo", "avatar", "qrcode", "sjbz"}},
		{"media", "Media", "影音", []string{"vidparse", "music", "sjsp"}},
		{"lookups", "Lookups", "查询", []string{"dwzrec", "onlinestatus", "sfz", "ip", "gamestatus", "kd"}},
		{"text", "Text and daily content", "文字与每日内容", []string{"lishi", "yiyan", "dailynews", "60s"}},
	}
}

func groupNames() []string {
	var names []string
	for _, g := range Groups() {
		names = append(names, g.Name)
	}
	return names
}

// order sorts endpoints by group, then as the group lists them.
func order(endpoints []*Endpoint) {
	groups := Groups()
	place := func(e *Endpoint) (group, row int) {
		group = slices.IndexFunc(groups, func(g Group) bool { return g.Name == e.Group })
		if row = slices.Index(groups[group].endpoints, e.Name); row < 0 {
			row = len(groups[group].endpoints)
		}
		return group, row
	}
	slices.SortStableFunc(endpoints, func(a, b *Endpoint) int {
		groupA, rowA := place(a)
		groupB, rowB := place(b)
		return cmp.Or(cmp.Compare(groupA, groupB), cmp.Compare(rowA, rowB), cmp.Compare(a.Name, b.Name))
	})
}
