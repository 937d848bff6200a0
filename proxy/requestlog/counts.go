package requestlog

import "sundry/metrics/words"

// namedLines is how many unreadable lines are named.
const namedLines = 3

// Counts are the lines of the logs, by what became of them.
type Counts struct {
	Lines    int `json:"lines"`
	Requests int `json:"requests"`
	Fills    int `json:"fills"`
	// Other lines are about something else: other paths, methods and endpoints, and other
	// messages of Sundry.
	Other int `json:"other"`
	// Refused requests were answered without the cache: invalid, limited, shed.
	Refused int `json:"refused"`
	// Future lines are far ahead of now.
	Future int `json:"future"`
	// Keyless lines of Sundry's log are about keys that are not known, by endpoint.
	Keyless map[string]int `json:"keyless"`
	Broken  int            `json:"unreadable"`
	// Unreadable are the first of these, and Unreadables the same for people.
	Unreadable  []string     `json:"unreadable_first,omitempty"`
	Unreadables []words.Text `json:"-"`
}

// line counts the n-th line of a log, and names it if it could not be read.
func (c *Counts) line(name words.Text, n int, err error) {
	c.Lines++
	if err == nil {
		return
	}
	c.Broken++
	if len(c.Unreadable) < namedLines {
		why := words.Sayf("%s:%d: %s", "%s:%d：%s", name, n, words.Failure(err))
		c.Unreadable, c.Unreadables = append(c.Unreadable, why.EN()), append(c.Unreadables, why)
	}
}

// Words say how many lines there were of each kind.
func (c *Counts) Words() words.Text {
	keyless := 0
	for _, n := range c.Keyless {
		keyless += n
	}
	parts := []words.Text{words.Sayf("%d requests", "%d 次请求", c.Requests), words.Sayf("%d fills", "%d 次回源", c.Fills)}
	add := func(n int, en, zh string) {
		if n > 0 {
			parts = append(parts, words.Sayf("%d "+en, "%d "+zh, n))
		}
	}
	add(c.Other, "about something else", "行与此无关")
	add(c.Refused, "refused requests", "次请求被拒绝")
	add(keyless, "without a key", "行没有键")
	add(c.Future, "more than a month ahead", "行比现在晚一个月以上")
	add(c.Broken, "not readable", "行无法识别")
	return words.Sayf("%d lines: %s", "%d 行：%s", c.Lines, words.List(parts...))
}
