package admin

import (
	"net/http"
	"net/netip"

	"sundry/proxy/explain"
)

// explain says what would become of a request. It changes nothing; it is a POST so that what is personal in the URL stands in no
// log of URLs.
func (a *api) explain(r *http.Request) (any, error) {
	var body struct {
		URL    string   `json:"url"`
		Fields []string `json:"fields"` // of the request, such as "Accept-Language: de"
	}
	if err := decodeBody(r, &body); err != nil {
		return nil, err
	}
	asked, err := explain.Request(body.URL, body.Fields)
	if err != nil {
		return nil, told("url", err)
	}
	x := &explain.Explainer{Catalog: a.Catalog(), BasePath: a.PublicPath, Running: &explain.Running{Spaces: a.Spaces, Journal: &a.Env.Journal, Foresee: a.Foresee}}
	caller, _ := netip.ParseAddrPort(r.RemoteAddr) // none of a socket of the file system
	return x.Explain(asked.WithContext(r.Context()), caller.Addr().Unmap(), languageOf(r).Language), nil
}
