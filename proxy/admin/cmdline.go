package admin

import (
	"net/http"
	"path/filepath"
	"strings"
)

// cmdline answers /debug/pprof/cmdline with the program's name and the names of its
// flags, without their values: one may be a Redis URL with its password.
func cmdline(args []string) http.HandlerFunc {
	text := strings.Join(redactArgs(args), "\x00")
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte(text))
	}
}

// redactArgs keeps the names of the program and of its flags, and redacts all else.
func redactArgs(args []string) []string {
	out := make([]string, len(args))
	flags := true
	for i, arg := range args {
		switch {
		case i == 0:
			out[i] = filepath.Base(arg)
		case flags && arg == "--":
			flags = false
			out[i] = arg
		case flags && strings.HasPrefix(arg, "-"):
			out[i] = redactFlag(arg)
		default:
			out[i] = "***"
		}
	}
	return out
}

// redactFlag keeps --name of --name=value, and -n of -nvalue.
func redactFlag(arg string) string {
	name, _, valued := strings.Cut(arg, "=")
	if !strings.HasPrefix(arg, "--") && len(name) > 2 {
		name, valued = name[:2], true
	}
	if valued {
		return name + "=***"
	}
	return name
}
