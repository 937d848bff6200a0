package sharelink

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNoLink means that a text holds nothing that looks like a link.
	ErrNoLink = errors.New("no share link found; expected one of " + supported())
	// ErrMalformed refuses a link that no app shares.
	ErrMalformed = errors.New("link must be http or https to a host by its name, without credentials, on port 80 or 443")
	// ErrElsewhere means that a link does not lead to a work of its platform:
	// to a profile, a live room, a front page, another site.
	ErrElsewhere = errors.New("link does not lead to a video or post")
	// ErrChallenge means that a short link led to a captcha, a log-in or the
	// like. The platform distrusts us; the link may be fine.
	ErrChallenge = errors.New("platform asks for proof of a human")
)

// UnsupportedError refuses a host that is not in the table.
type UnsupportedError struct {
	Host string // in lower case; a stranger chose it
}

// Error quotes the host and cuts it at 100 characters.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("links to %.100q are not supported; expected one of %s", e.Host, supported())
}

func supported() string { return strings.Join(Platforms(), ", ") }
