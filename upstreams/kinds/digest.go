package kinds

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/host"
	"sundry/upstreams/jq"
	"sundry/upstreams/lib/chinatime"
	"sundry/upstreams/lib/ipcard"
)

// digestPicture draws the data of a source that has a digest of news (draw: digest): date,
// weekday, lunar, news and tip.
type digestPicture struct {
	work *host.Work
}

var _ upstreams.Picture = digestPicture{}

// Fetch implements upstreams.Picture. Nothing is fetched: the picture is drawn.
func (d digestPicture) Fetch(ctx context.Context, data any, a *upstreams.Attempt, _ *jq.Env) (*upstreams.Blob, error) {
	digest, err := digestOf(data)
	if err != nil {
		return nil, &upstreams.Error{Kind: upstreams.Malformed, Err: err}
	}
	release, err := d.work.EnterDrawing(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	b, err := digest.PNG()
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Internal, "draw a digest: %w", err)
	}
	a.Stage("picture", fmt.Sprintf("drawn, %d bytes", len(b)))
	return &upstreams.Blob{Type: "image/png", Bytes: b}, nil
}

// LargestPicture implements upstreams.Picture: a drawn one needs no room for a reply.
func (digestPicture) LargestPicture() int64 { return 0 }

// digestOf takes what the picture shows from the data.
func digestOf(data any) (*ipcard.Digest, error) {
	m, _ := data.(map[string]any)
	text := func(name string) string { s, _ := m[name].(string); return s }
	day, err := time.ParseInLocation(time.DateOnly, text("date"), chinatime.Zone())
	if err != nil {
		return nil, fmt.Errorf("draw: date: expected a date, for example 2026-11-21, got %q", text("date"))
	}
	d := &ipcard.Digest{Title: "每天60秒读懂世界", Date: day.Format("2006年1月2日"), Tip: text("tip")}
	if weekday := text("weekday"); weekday != "" {
		d.Date += " " + weekday
	}
	if name := text("lunar"); name != "" {
		d.Date += " · 农历" + name
	}
	news, _ := m["news"].([]any)
	for _, item := range news {
		if s, ok := item.(string); ok && strings.TrimSpace(s) != "" {
			d.News = append(d.News, s)
		}
	}
	if len(d.News) == 0 {
		return nil, fmt.Errorf("draw: news: expected an array of texts")
	}
	return d, nil
}
