package pages

import "sundry/proxy/site/i18n"

// neighbours are the pages of the reference before and after one; nil: it is the first, or the last.
type neighbours struct{ Before, After *homeEndpoint }

// around are those of the page of a name, in the order of the menu.
func (s *Set) around(l i18n.Language, name string) (n neighbours) {
	var all []homeEndpoint
	for _, g := range s.groups(l) {
		all = append(all, g.Endpoints...)
	}
	for i := range all {
		if all[i].Name != name {
			continue
		}
		if i > 0 {
			n.Before = &all[i-1]
		}
		if i+1 < len(all) {
			n.After = &all[i+1]
		}
	}
	return n
}
