package config

import (
	"errors"
	"os"
	"strings"
	"unicode"

	"sundry/metrics/words"
)

// plainFile ends in _FILE but does not name a file with a secret.
const plainFile = "SUNDRY_GEO_FILE"

// Secrets returns a lookup of environment variables, in which SUNDRY_X_FILE may
// name a file with the value of SUNDRY_X: the token, the address of Redis with its password,
// the keys of sources. Each file must be readable and not empty, and the variable
// itself must not be set as well. A variable of white space alone is a mistake: it would count as not set. Files are read when the value is needed, so a
// changed key takes effect with the next reload.
func Secrets(environ []string) (func(string) (string, bool), error) {
	values := make(map[string]string, len(environ))
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	files := map[string]string{}
	var failed []error
	for variable, file := range values {
		if strings.HasPrefix(variable, Prefix) && file != "" && trimmed(file) == "" {
			failed = append(failed, words.Errorf("%s has only white space", "%s 只有空白", variable))
			continue
		}
		name, ok := strings.CutSuffix(variable, "_FILE")
		if !ok || !strings.HasPrefix(name, Prefix) || variable == plainFile || file == "" {
			continue
		}
		if values[name] != "" {
			failed = append(failed, words.Errorf("%s and %s are both set: expected only one of them", "%s 和 %s 都设置了：应只设置一个", name, variable))
		} else if _, err := readSecret(trimmed(file)); err != nil {
			failed = append(failed, words.Errorf("%s: %s", "%s：%s", variable, words.Failure(err)))
		}
		files[name] = trimmed(file)
	}
	return Trimmed(func(name string) (string, bool) {
		if file, ok := files[name]; ok {
			v, err := readSecret(file)
			return v, err == nil
		}
		v, ok := values[name]
		return v, ok
	}), errors.Join(failed...)
}

// Secrets returns the values that are never shown.
func (c *Config) Secrets() []string { return append([]string{c.Redis, c.Proxy}, c.Proxies...) }

// readSecret returns the content of the file without white space around it, such as the final newline that editors and echo
// leave.
func readSecret(file string) (string, error) {
	b, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return "", err
	}
	value := trimmed(string(b))
	if value == "" {
		return "", words.Errorf("%s is empty", "%s 是空的", file)
	}
	return value, nil
}

// Trimmed returns a lookup of this program's variables without white space around their values. Secrets of Kubernetes, and of
// other stores, often end in a newline.
func Trimmed(getenv func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := getenv(name)
		if strings.HasPrefix(name, Prefix) {
			value = trimmed(value)
		}
		return value, ok
	}
}

// trimmed returns a value without white space around it, and without a byte order mark. The first line of YAML keeps its
// indentation, which has a meaning.
func trimmed(value string) string {
	value = strings.TrimRightFunc(strings.TrimPrefix(value, "\ufeff"), unicode.IsSpace)
	if strings.Contains(value, "\n") {
		return strings.TrimLeft(value, "\r\n")
	}
	return strings.TrimLeftFunc(value, unicode.IsSpace)
}
