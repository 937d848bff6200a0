package advisor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"sundry/cache/durable"
)

// ErrForeign is returned for a file that is something other than a state, and is left as
// it is.
var ErrForeign = errors.New("the file is not a state of the advisor, and is left as it is")

// ReadFile takes over the state in a file. Where there is none, nothing happens. An error
// means that the advisor knows no more than before.
func (a *Advisor) ReadFile(name string, now time.Time) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular() || info.Size() > MaxState:
		return fmt.Errorf("%s: %w", name, ErrForeign)
	}
	state, err := os.ReadFile(name) //nolint:gosec // the operator names the file
	if err != nil {
		return err
	}
	if err := a.Restore(state, now); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// WriteFile puts the state into a file, in the place of the one before: whoever reads it
// finds the one or the other. Only this user can read it. After an error the one before is
// there; ErrForeign is among them.
func (a *Advisor) WriteFile(name string, now time.Time) error {
	if err := checkOwn(name); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return durable.WriteFile(name, a.State(now))
}

// checkOwn returns nil for a file that is a state, of whatever version, or empty, or not
// there.
func checkOwn(name string) error {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return ErrForeign
	}
	f, err := os.Open(name) //nolint:gosec // the operator names the file
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	begin := make([]byte, len(stateKind))
	n, err := io.ReadFull(f, begin)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if !bytes.HasPrefix([]byte(stateKind), begin[:n]) {
		return ErrForeign
	}
	return nil
}
