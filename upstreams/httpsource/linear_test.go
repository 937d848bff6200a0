package httpsource

import (
	"net/url"
	"testing"

	"github.com/andybalholm/cascadia"

	"sundry/upstreams/lib/costtest"
)

// TestReadingIsLinear: no reply takes longer than its length explains.
func TestReadingIsLinear(t *testing.T) {
	gbk, _ := charset("gbk")
	from := &url.URL{Scheme: "https", Host: "a.example"}
	css, err := cascadia.ParseGroup("div > p, li a, b")
	if err != nil {
		t.Fatal(err)
	}
	texts := []namedSelection{{"texts", selected{each: css}}}
	page, doc := &document{parsePage, texts}, &document{parseXML, texts}
	for name, read := range map[string]func(b []byte){
		"measure": func(b []byte) { measureJSON(b) },
		"json":    func(b []byte) { _, _ = DecodeJSON(b) },
		"jsonp":   func(b []byte) { _, _ = decodeJSONP(b) },
		"script":  func(b []byte) { _, _ = scriptDecoder("window.S")(b) },
		"element": func(b []byte) { _, _ = scriptDecoder("#S")(b) },
		"charset": func(b []byte) { _, _ = toUTF8(b, gbk) },
		"html":    func(b []byte) { _, _ = page.decode(t.Context(), b, from) },
		"xml": func(b []byte) {
			text, _ := textOfXML(b, nil)
			_, _ = doc.decode(t.Context(), text, from)
		},
		"rss": func(b []byte) {
			_, _ = readFeed(t, "<rss><channel><item><x:a>"+string(b)+"</x:a></item></channel></rss>")
		},
		"atom": func(b []byte) {
			_, _ = readFeed(t, "<feed><entry><content type='html'><![CDATA["+string(b)+"]]></content></entry></feed>")
		},
		"picture": func(b []byte) { _, _ = Sniff(b) },
	} {
		t.Run(name, func(t *testing.T) { costtest.Linear(t, func(text string) { read([]byte(text)) }) })
	}
}
