package words

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestSayf(t *testing.T) {
	got := Sayf("%s of %d days, %s", "%[2]d 天的%[1]s，%[3]s", Say("a list", "列表"), 3, "abc")
	if want := Say("a list of 3 days, abc", "3 天的列表，abc"); got != want {
		t.Errorf("%q, %q", got.EN(), got.ZH())
	}
	got = Sayf("no %.3q of %q", "%[2]q没有%.3[1]q", "ab\"cd", Say("a list", "列表"))
	if want := Say(`no "ab\"" of "a list"`, `“列表”没有“ab\"”`); got != want {
		t.Errorf("%q, %q", got.EN(), got.ZH())
	}
}

func TestJoin(t *testing.T) {
	for want, parts := range map[string][]string{
		"应为 1 到 5":  {"应为", "1 到 5"},
		"应为日期":      {"应为", "日期"},
		"“x”不是数字":   {"“x”", "不是数字"},
		"参数 url 的值": {"参数", "url", "的值"},
		"abc":       {"a", "", "bc"},
		"":          {},
	} {
		if got := Join(parts...); got != want {
			t.Errorf("%q: %q", parts, got)
		}
	}
}

func TestPack(t *testing.T) {
	for _, text := range []Text{Say("not found", "没有找到"), Name("abc"), {}, Say("", "空"), Say("a", "")} {
		if got := Unpack(text.Pack()); got != text {
			t.Errorf("%q, %q: %q", text.EN(), text.ZH(), text.Pack())
		}
	}
	if got := Unpack(Say("a\nb", "甲\n乙").Pack()); got != Say("a b", "甲 乙") {
		t.Errorf("%q, %q", got.EN(), got.ZH())
	}
	if got := Unpack("what an older version has stored"); got.ZH() != got.EN() {
		t.Errorf("%q", got.ZH())
	}
}

func TestErrors(t *testing.T) {
	err := fmt.Errorf("read it: %w", Because(io.EOF, "too short", "太短"))
	if !errors.Is(err, io.EOF) {
		t.Error("the cause is lost")
	}
	if got := err.Error(); got != "read it: EOF" {
		t.Error(got)
	}
	if got := NewError("too long", "太长").Error(); got != "too long" {
		t.Error(got)
	}
	if got := Of(err, Text{}); got != Say("too short", "太短") {
		t.Errorf("%q", got.ZH())
	}
	if got := Of(io.EOF, Name("x")); got != Name("x") {
		t.Errorf("%q", got)
	}
}
