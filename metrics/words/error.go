package words

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"
)

// Teller is an error that has words for callers.
type Teller interface {
	error
	// Words hold nothing that callers may not see.
	Words() Text
}

// Error is an error with words for callers.
type Error struct {
	words Text
	cause error
}

// NewError is an error in both languages.
func NewError(en, zh string) *Error { return &Error{words: Say(en, zh)} }

// Errorf is NewError with the verbs of package fmt, as Sayf has them.
func Errorf(en, zh string, args ...any) *Error { return &Error{words: Sayf(en, zh, args...)} }

// Because is the cause, to logs and to errors.Is, with other words for callers.
func Because(cause error, en, zh string) *Error { return &Error{Say(en, zh), cause} }

// Translated is the cause, with its text in Chinese.
func Translated(cause error, zh string) *Error { return Because(cause, cause.Error(), zh) }

// Error is the cause's text, or else the words in English.
func (e *Error) Error() string {
	if e.cause != nil {
		return e.cause.Error()
	}
	return e.words.en
}

// Words implements Teller.
func (e *Error) Words() Text { return e.words }

// Unwrap gives the cause; nil for none.
func (e *Error) Unwrap() error { return e.cause }

// Explained is a text and why: in English the cause as logs have it, in Chinese its words. One
// that has none is Detailed.
func Explained(what Text, cause error) Text {
	if why := Of(cause, Text{}); !why.IsZero() {
		return Text{what.en + ": " + cause.Error(), what.zh + "：" + why.zh}
	}
	return Detailed(what, cause)
}

// Detailed is a text and the cause as it is: that of a library, or mistakes in a file with
// their lines. It is in English, and the Chinese says so.
func Detailed(what Text, cause error) Text {
	return Text{what.en + ": " + cause.Error(), what.zh + "（详情为英文）：" + cause.Error()}
}

// Failure is what a system says, with Chinese for what it says most often.
func Failure(err error) Text {
	path := ""
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		path = file.Path + "："
	}
	if zh := failureInChinese(err); zh != "" {
		return Say(err.Error(), path+zh)
	}
	return Say(err.Error(), Of(err, Name(err.Error())).zh)
}

// failureInChinese is "" for what is not frequent.
func failureInChinese(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "没有这个文件或目录"
	case errors.Is(err, syscall.EISDIR):
		return "是目录，应为文件"
	case errors.Is(err, fs.ErrPermission):
		return "没有权限"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "连接被拒绝"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "本机没有这个地址"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "连接中断"
	case is[*net.DNSError](err):
		return "域名解析失败"
	case is[*tls.CertificateVerificationError](err), is[tls.RecordHeaderError](err), is[tls.AlertError](err):
		return "TLS 握手或证书有误"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "超时"
	}
	return ""
}

// is reports whether an error is, or wraps, one of the type.
func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// Of are the words of an error; those of otherwise for one that has none.
func Of(err error, otherwise Text) Text {
	if e, ok := errors.AsType[Teller](err); ok {
		return e.Words()
	}
	return otherwise
}
