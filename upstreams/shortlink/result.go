package shortlink

// Result of a walk.
type Result struct {
	URL   string // that the walk began with
	Long  string // that it ended at; URL itself for a link that does not redirect
	Clean string // Long without known tracking keys
	// Hops are the URLs after the first, in order: Long is the last of them.
	Hops []string
	// Status of the last answer; 0 when nobody was asked, or did not answer.
	Status int
	// Via is how the last hop was found: http (Location or Refresh), meta,
	// script, query (it stood in the URL), interstitial (a page that shows it),
	// or none.
	Via string
	// Warned: a service on the way warns of the link.
	Warned bool
	// Blocked: a service on the way hides where the link leads; Long is its page.
	Blocked bool
	// Final is false when the link leads further than Long: too many hops, a
	// loop, a block, a last hop that did not answer or gave no readable target.
	Final bool
	// AppURL is where the last page sends telephones instead, for the schemes of
	// some well-known apps; "" otherwise.
	AppURL string
}

// Data has only values as encoding/json decodes them, but numbers are int.
// status and app_url are nil when unknown.
func (r *Result) Data() map[string]any {
	hops := make([]any, len(r.Hops))
	for i, h := range r.Hops {
		hops[i] = h
	}
	data := map[string]any{
		"url": r.URL, "long_url": r.Long, "clean_url": r.Clean, "hops": hops, "hop_count": len(hops),
		"status": nil, "via": r.Via, "warned": r.Warned, "blocked": r.Blocked, "final": r.Final, "app_url": nil,
	}
	if r.Status != 0 {
		data["status"] = r.Status
	}
	if r.AppURL != "" {
		data["app_url"] = r.AppURL
	}
	return data
}
