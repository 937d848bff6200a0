package upstreams

import (
	"context"
	"errors"

	"sundry/metrics/words"
)

// Shown returns the error of a call as operators see it. If the source has secrets, its replies, and errors of its programs,
// may contain values that were computed from a secret, such as a signature. The text then quotes neither.
func (a *Attempt) Shown(err error) error {
	if typed, ok := errors.AsType[*Error](err); ok && a.Hidden {
		err = typed.WithCause(func(cause error) error { return withoutValues(typed.Kind, cause) })
	} else if err != nil && a.Hidden {
		err = withoutValues(KindOf(err), err)
	}
	return a.secrets.Redactor().Err(err)
}

// withoutValues returns an error of the kind whose text quotes neither a reply nor the error of a program. Errors of
// connections and of this service quote neither, and are returned unchanged.
func withoutValues(kind ErrorKind, err error) error {
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		quiet := *refusal
		quiet.Quiet = true
		return &quiet
	}
	switch kind {
	case Unavailable, Timeout, Rejected, Throttled, Busy:
		return err
	}
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	return words.NewError("the cause is not shown, because the source has secrets", "数据源有密钥，不显示原因")
}
