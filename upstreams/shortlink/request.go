package shortlink

import (
	"context"
	"fmt"
	"net/http"

	"sundry/upstreams/webpage"
)

// ask sends the request for where the walk stands, and finds where the answer
// leads; nil for nowhere.
func (w *walk) ask(ctx context.Context) (*found, error) {
	ctx, cancel := context.WithTimeout(ctx, hopWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.at.String(), http.NoBody)
	if err != nil {
		return nil, failed(w.at, err)
	}
	req.Header.Set("User-Agent", agentFor(w.at))
	req.Header.Set("Accept", "text/html,*/*;q=0.8")
	req.Header.Set("Accept-Language", "zh-CN,zh;q=0.9,en;q=0.5")
	req.Header.Set("Accept-Encoding", "identity")
	for _, c := range w.jar.Cookies(w.at) {
		req.AddCookie(c)
	}
	resp, err := w.follower.Do.Do(req)
	if err != nil {
		return nil, failed(w.at, err)
	}
	defer func() { _ = resp.Body.Close() }()
	w.Status = resp.StatusCode
	w.keepCookies(resp)
	return w.read(resp)
}

// keepCookies for the host that set them alone, whatever domain they claim.
func (w *walk) keepCookies(resp *http.Response) {
	cookies := resp.Cookies()
	for _, c := range cookies {
		c.Domain = ""
	}
	w.jar.SetCookies(w.at, cookies)
}

// read reads the body only of an answer that has no Location.
func (w *walk) read(resp *http.Response) (*found, error) {
	moved := webpage.Redirects(resp.StatusCode)
	if location := resp.Header.Get("Location"); moved && location != "" {
		return resolve(w.at, location, "http"), nil
	}
	if !moved && resp.StatusCode != http.StatusOK {
		return nil, w.first(judge(w.at, resp.StatusCode))
	}
	if ref, ok := refresh(resp.Header.Get("Refresh")); ok {
		if f := firstWeb(w.at, "http", []string{ref}); f != nil {
			return f, nil
		}
	}
	kind := contentType(resp.Header)
	body := readBody(resp)
	if saysGone(w.at, kind, body) {
		return nil, w.first(fmt.Errorf("%s says so: %w", w.at.Host, ErrGone))
	}
	if !isHTML(kind) {
		return nil, nil
	}
	return search(w.at, body), nil
}

// first keeps an error of the link itself. What is wrong with where it leads is
// not wrong with the link.
func (w *walk) first(err error) error {
	if len(w.Hops) > 0 {
		return nil
	}
	return err
}
