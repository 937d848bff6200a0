package proxy

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"sundry/upstreams/lib/peertest"
)

// TestOneBotClient: the example sends the news to the group, as text and as a picture, and
// says when they were refused.
func TestOneBotClient(t *testing.T) {
	python := peertest.Program(t, "python3", "python3", "python3")
	f := newFront(t, nil, replayed, withExchanges)
	type message struct {
		GroupID int `json:"group_id"`
		Message []struct {
			Type string
			Data struct{ Text, File string }
		}
	}
	received, reply := make(chan message, 1), make(chan string, 1)
	robot := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sent message
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil || r.Method != http.MethodPost || r.URL.Path != "/send_group_msg" || r.Header.Get("Authorization") != "Bearer abc" {
			t.Errorf("%s %s %v: %v", r.Method, r.URL, r.Header, err)
		}
		received <- sent
		_, _ = w.Write([]byte(<-reply))
	}))
	defer robot.Close()
	const ok = `{"status":"ok","retcode":0,"data":{"message_id":1}}`
	run := func(answer string, args ...string) (sent message, out string, err error) {
		reply <- answer
		cmd := exec.CommandContext(t.Context(), python, append([]string{"../deploy/clients/onebot/news.py"}, args...)...)
		cmd.Env = append(os.Environ(), "SUNDRY="+f.URL, "ONEBOT="+robot.URL, "ONEBOT_TOKEN=abc", "PYTHONIOENCODING=utf-8", "no_proxy=127.0.0.1")
		b, err := cmd.CombinedOutput()
		select {
		case sent = <-received:
		default:
			t.Fatalf("nothing was sent: %v %s", err, b)
		}
		return sent, string(b), err
	}
	sent, out, err := run(ok, "12345")
	if err != nil || sent.GroupID != 12345 || sent.Message[0].Type != "text" || !strings.HasPrefix(sent.Message[0].Data.Text, "每天60秒读懂世界 ") {
		t.Errorf("%v %s: %+v", err, out, sent)
	}
	sent, out, err = run(ok, "12345", "image")
	picture, isBase64 := strings.CutPrefix(sent.Message[0].Data.File, "base64://")
	bytes, err2 := base64.StdEncoding.DecodeString(picture)
	if typ := http.DetectContentType(bytes); err != nil || err2 != nil || !isBase64 || sent.Message[0].Type != "image" || !strings.HasPrefix(typ, "image/") {
		t.Errorf("%v %v %s: %s %.80s", err, err2, out, typ, picture)
	}
	if _, out, err := run(`{"status":"failed","retcode":100,"data":null}`, "12345"); err == nil || !strings.Contains(out, "没有发出") {
		t.Errorf("%v %s", err, out)
	}
}
