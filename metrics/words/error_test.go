package words

import (
	"errors"
	"fmt"
	"testing"
)

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
