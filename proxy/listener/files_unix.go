//go:build unix

package listener

import "syscall"

// filesLimit is how many files this process may have open; 0: it is not known.
func filesLimit() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(min(limit.Cur, 1<<30)) //nolint:unconvert // on some systems it is an int64
}
