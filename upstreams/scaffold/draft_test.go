package scaffold

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestAddresses(t *testing.T) {
	for _, row := range []struct {
		url    string
		values map[string]string
		sent   string // with the names of parameters
		query  string
	}{
		{"https://a.example.org/x?b=2&a=1", nil, "https://a.example.org/x?a=1&b=2", "a=1&b=2"},
		{"https://a.example.org/{id}?format=json", map[string]string{"id": "a b"}, "https://a.example.org/a%20b?format=json", "id=a+b"},
		{"https://a.example.org/?appId=9&q=x", map[string]string{"pageSize": "5"}, "https://a.example.org/?appId=replay&pageSize=5&q=x", "page_size=5&q=x"},
		{"https://a.example.org/?type=5&page-no=1", nil, "https://a.example.org/?page-no=1&type=5", "page_no=1&type_of=5"},
		{"https://a.example.org/?q={word}", map[string]string{"word": "x"}, "https://a.example.org/?q=x", "q=x"},
	} {
		a, err := ReadAddress("test", row.url, row.values)
		if err != nil {
			t.Errorf("%s: %v", row.url, err)
			continue
		}
		if a.sent() != row.sent || a.Query() != row.query {
			t.Errorf("%s: %s %s, want %s %s", row.url, a.sent(), a.Query(), row.sent, row.query)
		}
	}
}

func TestTypesOfParameters(t *testing.T) {
	for value, want := range map[string]string{"7": "int", "123456": "int", "12345678901": "digits", "007": "string", "203.0.113.7": "ip", "x": "string", "-3": "string"} {
		if got := (&param{name: "p", value: value}).Declaration(); !strings.Contains(got, "type: "+want+",") {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
}

func TestSecretsOfAddresses(t *testing.T) {
	for name, want := range map[string]bool{"key": true, "apiKey": true, "api_key": true, "access_token": true, "appid": true, "sign": true, "accessToken": true, "accesskey": true, "userKey": true, "X-Amz-Credential": true, "monkey": false, "design": false, "keyword": false, "q": false, "id": false, "page": false} {
		a, err := ReadAddress("t", "https://a.example.org/?"+name+"=geheim", nil)
		if err != nil || len(a.secret) == 1 != want {
			t.Errorf("%s: %v %v", name, a.secret, err)
		}
	}
}

func TestSnakeNames(t *testing.T) {
	for name, want := range map[string]string{"createdAt": "created_at", "Hot-Value": "hot_value", "数": "field", "3d": "n3d", "_id": "id", "URL": "url", "and": "and_of", "": "field"} {
		if got := snake(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

func TestPromisingPlaces(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}`:                              ".",
		`{"data":{"a":1}}`:                     ".data",
		`{"code":0,"data":{"list":[{"a":1}]}}`: ".data.list",
		`{"code":0,"data":{"list":[{"a":1}],"total":1}}`: ".data",
		`{"code":0,"data":"text"}`:                       ".data",
		`{"title":"x","content":"y"}`:                    ".",
		`{"id":1,"name":"x","results":[1],"more":2}`:     ".",
		`{"success":true,"data":[]}`:                     ".",
		`[1,2]`:                                          ".",
	} {
		v, err := decodeOrdered([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := promising(v); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A reply is in the charset that its header or its beginning names, by any of its labels.
func TestChineseReplies(t *testing.T) {
	a, err := ReadCall("t", "https://a.example.org/x", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]struct{ header, body string }{
		"header": {"text/html; charset=gb_2312-80", "<title>\x81\x39\xee\x39</title>"},
		"meta":   {"text/html", "<meta charset=x-gbk><title>\x81\x39\xee\x39</title>"},
		"feed":   {"text/xml", `<?xml version="1.0" encoding="gb2312"?><rss version="2.0"><channel><title>` + "\x81\x39\xee\x39" + `</title><item><title>b</title></item></channel></rss>`},
	} {
		got, err := readReply(&Call{Address: a, Header: http.Header{"Content-Type": {r.header}}, Body: []byte(r.body)})
		if err != nil || got.Charset != "gb18030" || !strings.Contains(string(got.body), "㐀") {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

// FuzzReadCall: any body of a POST ends in an address or an error, and sends what it says.
func FuzzReadCall(f *testing.F) {
	f.Add(`{"query": "{ a }", "variables": {"id": "{id}", "token": "geheim-1"}}`)
	f.Add(`[{"key": "{id}"}, null, 1.50, "{nope}"]`)
	f.Fuzz(func(t *testing.T, body string) {
		a, err := ReadCall("fuzz", "https://a.example.org/x", body, map[string]string{"id": "7"})
		if err != nil || body == "" {
			return
		}
		if !json.Valid(a.Sent()) || !json.Valid(a.sentInReplay()) || a.sends.program("", a.sends.value, "") == "" {
			t.Errorf("%s: %s", body, a.Sent())
		}
	})
}

// TestBodies: what stands for what.
func TestBodies(t *testing.T) {
	a, err := ReadCall("t", "https://a.example.org/{page}", `{"n": "{n}", "word": "a {n}", "apiKey": "geheim-1", "at": ["{page}"]}`, map[string]string{"n": "7", "page": "2"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(a.Sent()), `{"apiKey":"geheim-1","at":[2],"n":7,"word":"a {n}"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := string(a.sentInReplay()), `{"apiKey":"replay","at":[2],"n":7,"word":"a {n}"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := a.URL(); got != "https://a.example.org/2" {
		t.Error(got)
	}
}

// FuzzNew: any reply ends in a draft or an error.
func FuzzNew(f *testing.F) {
	for _, body := range []string{`{"code":0,"data":[{"a":[[]]}]}`, `[]`, `{"":{"":{}}}`, "f({})", "<html>", "\xff", `"x"`, "null", `{"a":"{{","'":"\n"}`,
		`<?xml version="1.0"?><rss><channel><item><title>a</title></item></channel></rss>`, `[{"a":null},{"a":"2026年1月2日","b":{}}]`, "{}"} {
		f.Add(body, "q=1")
	}
	f.Fuzz(func(t *testing.T, body, query string) {
		a, err := ReadAddress("fuzz", "https://a.example.org/x?"+query, nil)
		if err != nil {
			return
		}
		d, err := New(&Call{Name: "fuzz", Address: a, Status: http.StatusOK, Header: http.Header{}, Body: []byte(body), Now: time.Unix(1_795_219_200, 0)})
		if err == nil && (len(d.Files) != 3 || d.Source != "example") {
			t.Errorf("%v", d)
		}
	})
}

// A key that the reply repeats, as it is or encoded, is taken out of what is recorded.
func TestSecretsOfReplies(t *testing.T) {
	a, err := ReadAddress("t", "https://a.example.org/?key=a%2Fb%26c1234567", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"a/b&c1234567", "a%2Fb%26c1234567", `a/b\u0026c1234567`} {
		d, err := New(&Call{Name: "t", Address: a, Status: http.StatusOK, Header: http.Header{}, Body: []byte(`{"next": "` + text + `"}`)})
		if err != nil {
			t.Fatal(err)
		}
		for name, file := range d.Files {
			if strings.Contains(string(file), "c1234567") {
				t.Errorf("%s: %s", name, file)
			}
		}
	}
}

// A key that stands where a program names it (as a name, as a code, as a number) is not
// in the program either, and the draft of such a reply can still be made.
func TestSecretsInPrograms(t *testing.T) {
	a, err := ReadAddress("t", "https://a.example.org/?appid=12345678", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, reply := range []string{
		`{"12345678": {"name": "x"}}`, `{"status": 12345678, "data": {"name": "x"}}`, `{"ok": "12345678", "data": [1]}`, `{"appid": 12345678, "of": [112345678, 1.12345678e3]}`,
	} {
		d, err := New(&Call{Name: "t", Address: a, Status: http.StatusOK, Header: http.Header{}, Body: []byte(reply)})
		if err != nil {
			if strings.Contains(err.Error(), "12345678") {
				t.Errorf("%s: %v", reply, err)
			}
			continue
		}
		for name, file := range d.Files {
			if strings.Contains(string(file), "12345678") {
				t.Errorf("%s: %s: %s", reply, name, file)
			}
			if strings.HasSuffix(name, ".json") && !json.Valid(file) {
				t.Errorf("%s: %s: %s", reply, name, file)
			}
		}
	}
}
