package main

import (
	"net/http"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// lookup answers with the value of the key that is the path of the request. Its
// headers are as many as those of a hit.
type lookup struct{ client *redis.Client }

func newLookup(url string) (http.Handler, error) {
	if url == "" {
		return http.NotFoundHandler(), nil
	}
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	options.PoolSize = 32 // as Sundry's
	return &lookup{redis.NewClient(options)}, nil
}

func (l *lookup) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := l.client.Get(r.Context(), r.RequestURI).Bytes()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	h := w.Header()
	h["Access-Control-Allow-Origin"] = []string{"*"}
	h["Age"] = []string{"0"}
	h["Cache-Control"] = []string{"public, max-age=86399"}
	h["Cache-Status"] = []string{"sundry; hit; ttl=86399; detail=redis"}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	h["Content-Type"] = []string{"application/json; charset=utf-8"}
	h["Etag"] = []string{`W/"60dd3b9c4ce8916425fc"`}
	h["Sundry-Source"] = []string{"made"}
	h["Vary"] = []string{"Accept-Encoding"}
	h["X-Content-Type-Options"] = []string{"nosniff"}
	h["X-Request-Id"] = []string{"62a450b73433f058"}
	_, _ = w.Write(body) //nolint:gosec // the load has no browser
}
