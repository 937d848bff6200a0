package pages

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"sundry/proxy/site/i18n"
	"sundry/proxy/site/status"
	"sundry/upstreams/lib/chinatime"
	"sundry/upstreams/lib/plainjson"
)

// StatusJSONPath is where programs read the status, below the base path.
const StatusJSONPath = "/status.json"

// StatusNowPath is where the home page reads the present alone.
const StatusNowPath = StatusPath + "/now.json"

// addStatus adds the page of the status, and the same for programs and readers of feeds. They are the documents
// that do not depend on the catalog alone.
func (s *Set) addStatus() {
	for path, kind := range map[string]Kind{StatusPath: Page, StatusFeedPath: Answer, StatusJSONPath: File, StatusNowPath: File} {
		s.places[path] = Place{kind, func(l i18n.Language) (*Document, error) {
			return s.ofReport(s.cfg.Status())[path](l)
		}}
	}
}

// ofReport are the documents of a report, by path: those of before, or new ones. Each is made
// when it is first asked for.
func (s *Set) ofReport(r *status.Report) map[string]generator {
	s.statusMu.Lock()
	defer s.statusMu.Unlock()
	if s.status != r {
		s.status, s.ofStatus = r, map[string]generator{
			StatusPath:     once(func(l i18n.Language) (*Document, error) { return s.statusPage(l, r) }),
			StatusFeedPath: once(func(l i18n.Language) (*Document, error) { return s.statusFeed(l, r) }),
			StatusJSONPath: once(func(i18n.Language) (*Document, error) { return statusJSON(r) }),
			StatusNowPath:  once(func(i18n.Language) (*Document, error) { return statusJSON(r.Now()) }),
		}
	}
	return s.ofStatus
}

// statusJSON makes a document of the status for programs.
func statusJSON(of any) (*Document, error) {
	var b bytes.Buffer
	if err := plainjson.NewEncoder(&b).Encode(of); err != nil {
		return nil, fmt.Errorf("status: %w", err)
	}
	return newPassing(typeJSON, b.Bytes()), nil
}

func (s *Set) statusPage(l i18n.Language, r *status.Report) (*Document, error) {
	v := view{
		Template: "status", Path: StatusPath, Section: StatusPath, Title: l.Say("Status", "状态"),
		Description: l.Say("Whether each endpoint works: now, and over the last 90 days, with incidents.", "各接口当前及过去 90 天的可用情况与故障记录。"),
		Data:        s.statusView(l, r),
	}
	text, err := s.execute(l, &v)
	if err != nil {
		return nil, fmt.Errorf("page %s: %w", v.Path, err)
	}
	return newPassing(typeHTML, text), nil
}

// statusView is what the template of the status shows.
type statusView struct {
	*status.Report
	State    status.State // of the headline
	Headline string
	Unasked  int // endpoints of which nothing is known; 0 where that is the headline
	// Groups are those of the catalog, but before them what has trouble, the worst first.
	Groups []statusGroup
	// Open are the incidents that are not over, and Over the others.
	Open, Over []*status.Incident
}

type statusGroup struct {
	Name, Title string
	Rows        []statusRow
}

// statusRow is an endpoint.
type statusRow struct {
	Card homeEndpoint
	Is   *status.Endpoint
	Bars statusBars
	// Since says when its trouble began; "": it has none, or nobody knows.
	Since string
}

// statusTime is a time in the time zone that readers of a language expect.
type statusTime struct{ Machine, Date, Clock string }

func (s *Set) statusView(l i18n.Language, r *status.Report) statusView {
	of := make(map[string]*status.Endpoint, len(r.Endpoints))
	for i := range r.Endpoints {
		of[r.Endpoints[i].Name] = &r.Endpoints[i]
	}
	v := statusView{Report: r}
	v.State, v.Headline = headline(l, r)
	if v.State != status.Unknown {
		v.Unasked = r.Count(status.Unknown)
	}
	for i := range r.Incidents {
		if in := &r.Incidents[i]; in.Over() {
			v.Over = append(v.Over, in)
		} else {
			v.Open = append(v.Open, in)
		}
	}
	v.addGroups(l, s.groups(l), of)
	return v
}

// addGroups adds the endpoints of the report by group; those that have trouble are in one of their own, which is the first.
func (v *statusView) addGroups(l i18n.Language, groups []homeGroup, of map[string]*status.Endpoint) {
	trouble := statusGroup{Name: "trouble", Title: l.Say("In trouble", "异常")}
	for _, g := range groups {
		group := statusGroup{Name: g.Name, Title: g.Title}
		for _, card := range g.Endpoints {
			e := of[card.Name]
			if e == nil {
				continue
			}
			bars := barsOf(e.Bars)
			bars.Notes = notesOf(l, v.Report, e)
			into, since := &group, ""
			if e.State.Trouble() {
				into, since = &trouble, sinceWords(l, v.TroubleSince(card.Name), v.At)
			}
			into.Rows = append(into.Rows, statusRow{card, e, bars, since})
		}
		if group.Rows != nil {
			v.Groups = append(v.Groups, group)
		}
	}
	if trouble.Rows == nil {
		return
	}
	slices.SortStableFunc(trouble.Rows, func(a, b statusRow) int { return int(b.Is.State) - int(a.Is.State) })
	v.Groups = slices.Insert(v.Groups, 0, trouble)
}

// headline says in a sentence how all endpoints are, with the state that it is in.
func headline(l i18n.Language, r *status.Report) (status.State, string) {
	works, trouble, unknown := r.Count(status.Works), r.Trouble(), r.Count(status.Unknown)
	switch {
	case trouble > 0:
		return r.Worst(), fmt.Sprintf(l.Say("%d of %d endpoints work", "%[2]d 个接口中 %[1]d 个正常"), works, works+trouble)
	case works == 0:
		return status.Unknown, l.Say("Nobody has asked yet", "尚无调用记录")
	case unknown > 0:
		return status.Works, l.Say("No endpoint has trouble", "未发现接口异常")
	}
	return status.Works, l.Say("All endpoints work", "所有接口工作正常")
}

func stateWord(l i18n.Language, s status.State) string {
	switch s {
	case status.Works:
		return l.Say("Works", "正常")
	case status.Fallback:
		return l.Say("Answers from a fallback", "备用响应")
	case status.Stale:
		return l.Say("Older responses", "响应较旧")
	case status.Failing:
		return l.Say("Failing", "暂不可用")
	case status.Unknown:
	}
	return l.Say("No data", "暂无数据")
}

// sinceWords says when something began, with the day where that is not today; "" where nobody knows.
func sinceWords(l i18n.Language, from, now time.Time) string {
	if from.IsZero() {
		return ""
	}
	at, words := timeIn(l, from), ""
	if at.Date != timeIn(l, now).Date {
		words = at.Date + " "
	}
	return fmt.Sprintf(l.Say("since %s UTC", "自 %s 起"), words+at.Clock)
}

// notesOf says of each day whose bar shows trouble what it was, the latest first.
func notesOf(l i18n.Language, r *status.Report, e *status.Endpoint) (notes []barNote) {
	for i, bar := range slices.Backward(e.Bars) {
		if bar.Stale+bar.Failing > 0 {
			day := r.FirstDay.AddDate(0, 0, i).Format(l.Say("Jan 2", "1 月 2 日"))
			notes = append(notes, barNote{i * barStep, day + l.Say(": ", "：") + sharesWords(l, e.Days[i])})
		}
	}
	return notes
}

func sharesWords(l i18n.Language, s status.Shares) string {
	return fmt.Sprintf(l.Say("%v%% worked, %v%% got older responses, %v%% failed", "正常 %v%%，响应较旧 %v%%，失败 %v%%"), s.Works, s.Stale, s.Failing)
}

// timeIn gives a time of China in Chinese, and else UTC: where the visitor is, nobody
// knows.
func timeIn(l i18n.Language, at time.Time) statusTime {
	t := statusTime{Machine: at.UTC().Format(time.RFC3339)}
	if l == i18n.Chinese {
		at = at.In(chinatime.Zone())
		t.Date, t.Clock = at.Format("1 月 2 日"), at.Format("15:04")
		return t
	}
	at = at.UTC()
	t.Date, t.Clock = at.Format("Jan 2"), at.Format("15:04")
	return t
}
