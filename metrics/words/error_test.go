package words

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"
)

// TestFailuresOfTheSystem: a file is named in Chinese as well.
func TestFailuresOfTheSystem(t *testing.T) {
	missing := &fs.PathError{Op: "open", Path: "/a", Err: fs.ErrNotExist}
	for err, want := range map[error]Text{
		missing:        Say("open /a: file does not exist", "/a：没有这个文件或目录"),
		syscall.EISDIR: Say("is a directory", "是目录，应为文件"),
		fmt.Errorf("dial: %w", syscall.ECONNREFUSED):                                            Say("dial: connection refused", "连接被拒绝"),
		fmt.Errorf("dial: %w", &net.DNSError{Err: "no such host", Name: "a", IsNotFound: true}): Say("dial: lookup a: no such host", "域名解析失败"),
		fmt.Errorf("read: %w", syscall.ECONNRESET):                                              Say("read: connection reset by peer", "连接中断"),
		fmt.Errorf("read: %w", os.ErrDeadlineExceeded):                                          Say("read: i/o timeout", "超时"),
		tls.RecordHeaderError{Msg: "no TLS"}:                                                    Say("tls: no TLS", "TLS 握手或证书有误"),
		&tls.CertificateVerificationError{Err: errors.New("expired")}:                           Say("tls: failed to verify certificate: expired", "TLS 握手或证书有误"),
		NewError("too long", "太长"):                                                              Say("too long", "太长"),
		errors.New("other"):                                                                     Name("other"),
	} {
		if got := Failure(err); got != want {
			t.Errorf("%q %q, want %q", got.EN(), got.ZH(), want.ZH())
		}
	}
}

// TestWhyIsInTheLanguageOfTheCause: a cause without words is English, and Chinese readers are
// told so.
func TestWhyIsInTheLanguageOfTheCause(t *testing.T) {
	what, dial := Say("not stored", "未能存储"), errors.New("dial tcp: refused")
	away := fmt.Errorf("read: %w", Errorf("the store %s is away", "连不上存储 %s", "a"))
	for got, want := range map[Text]Text{
		Explained(what, away): Say("not stored: read: the store a is away", "未能存储：连不上存储 a"),
		Explained(what, dial): Say("not stored: dial tcp: refused", "未能存储（详情为英文）：dial tcp: refused"),
		Detailed(what, away):  Say("not stored: read: the store a is away", "未能存储（详情为英文）：read: the store a is away"),
	} {
		if got != want {
			t.Errorf("%q %q, want %q %q", got.EN(), got.ZH(), want.EN(), want.ZH())
		}
	}
}
