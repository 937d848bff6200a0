package words

import (
	"context"
	"errors"
	"io/fs"
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
	path, zh := "", ""
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		path = file.Path + "："
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		zh = "没有这个文件或目录"
	case errors.Is(err, fs.ErrPermission):
		zh = "没有权限"
	case errors.Is(err, syscall.ECONNREFUSED):
		zh = "连接被拒绝"
	case errors.Is(err, context.DeadlineExceeded):
		zh = "超时"
	default:
		return Say(err.Error(), Of(err, Name(err.Error())).zh)
	}
	return Say(err.Error(), path+zh)
}

// Of are the words of an error; those of otherwise for one that has none.
func Of(err error, otherwise Text) Text {
	if e, ok := errors.AsType[Teller](err); ok {
		return e.Words()
	}
	return otherwise
}
