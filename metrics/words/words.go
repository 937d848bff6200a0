// Package words holds what callers are told, in English and in Chinese. It promises
// that neither language is left out: a Text is made of both at once.
package words

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text says the same in both languages. The zero value says nothing.
type Text struct{ en, zh string }

// Both is anything that is said in both languages: a Text, or what makes its words only when they
// are needed.
type Both interface {
	EN() string
	ZH() string
}

// Say is a text in both languages.
func Say(en, zh string) Text { return Text{en, zh} }

// Sayf is Say with the verbs of package fmt. Both formats get the same arguments, of which
// a Text stands for its words in that language; one that needs another order says
// so, as in %[2]s. In Chinese, %q has the quotation marks of Chinese.
func Sayf(en, zh string, args ...any) Text {
	english, chinese := make([]any, len(args)), make([]any, len(args))
	for i, arg := range args {
		english[i], chinese[i] = arg, arg
		switch v := arg.(type) {
		case Text:
			english[i], chinese[i] = v.en, quotable(v.zh)
		case string:
			chinese[i] = quotable(v)
		}
	}
	return Text{fmt.Sprintf(en, english...), fmt.Sprintf(zh, chinese...)}
}

// quotable is a string between “ and ” where it is quoted.
type quotable string

// Format implements fmt.Formatter.
func (s quotable) Format(f fmt.State, verb rune) {
	text := fmt.Sprintf(fmt.FormatString(f, verb), string(s))
	if verb == 'q' {
		text = "“" + text[1:len(text)-1] + "”"
	}
	_, _ = io.WriteString(f, text)
}

// Name is a text that is the same in both languages: a name, a value.
func Name(s string) Text { return Text{s, s} }

// List names several, with the punctuation of each language between them.
func List(items ...Text) Text {
	en, zh := make([]string, len(items)), make([]string, len(items))
	for i, t := range items {
		en[i], zh[i] = t.en, t.zh
	}
	return Text{strings.Join(en, ", "), strings.Join(zh, "、")}
}

// Names is a list of names or values.
func Names(names ...string) Text {
	return Text{strings.Join(names, ", "), strings.Join(names, "、")}
}

// EN is the English text.
func (t Text) EN() string { return t.en }

// ZH is the Chinese text.
func (t Text) ZH() string { return t.zh }

// String is the English text: that of logs and commands.
func (t Text) String() string { return t.en }

// Map is the text with a change made in both languages.
func (t Text) Map(change func(string) string) Text { return Text{change(t.en), change(t.zh)} }

// IsZero reports whether it says nothing.
func (t Text) IsZero() bool { return t == Text{} }

// Join puts Chinese texts together, with the space that belongs between Chinese
// characters and Latin letters or digits.
func Join(parts ...string) string {
	var b strings.Builder
	size := len(parts)
	for _, part := range parts {
		size += len(part)
	}
	b.Grow(size)
	last := utf8.RuneError
	for _, part := range parts {
		first, _ := utf8.DecodeRuneInString(part)
		if unicode.Is(unicode.Han, last) && isLatin(first) || isLatin(last) && unicode.Is(unicode.Han, first) {
			b.WriteByte(' ')
		}
		b.WriteString(part)
		if part != "" {
			last, _ = utf8.DecodeLastRuneInString(part)
		}
	}
	return b.String()
}

func isLatin(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// separator stands between the languages of a text in one string.
const separator = "\n"

// Pack writes the text into one string, for what keeps only one: English, and the
// Chinese text on a line of its own. Line ends within a text become spaces.
func (t Text) Pack() string {
	en, zh := oneLine(t.en), oneLine(t.zh)
	if en == zh {
		return en
	}
	return en + separator + zh
}

func oneLine(s string) string { return strings.ReplaceAll(s, separator, " ") }

// Unpack reads what Pack has written. A string of one line is the same in both languages.
func Unpack(s string) Text {
	en, zh, both := strings.Cut(s, separator)
	if !both {
		return Name(s)
	}
	return Text{en, zh}
}
