package config

import (
	"bytes"
	"errors"
	"os"
	"strings"

	"sundry/metrics/words"
)

// plainFile ends in _FILE but does not name a file with a secret.
const plainFile = "SUNDRY_GEO_FILE"

// Secrets returns a lookup of environment variables, in which SUNDRY_X_FILE may
// name a file with the value of SUNDRY_X: the token, the address of Redis with its password,
// the keys of sources. Each file must be readable and not empty, and the variable
// itself must not be set as well. Files are read when the value is needed, so a
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
		name, ok := strings.CutSuffix(variable, "_FILE")
		if !ok || !strings.HasPrefix(name, Prefix) || variable == plainFile || file == "" {
			continue
		}
		if values[name] != "" {
			failed = append(failed, words.Errorf("%s and %s are both set: expected only one of them", "%s 和 %s 都设置了：应只设置一个", name, variable))
		} else if _, err := readSecret(file); err != nil {
			failed = append(failed, words.Errorf("%s: %s", "%s：%s", variable, words.Failure(err)))
		}
		files[name] = file
	}
	return func(name string) (string, bool) {
		if file, ok := files[name]; ok {
			v, err := readSecret(file)
			return v, err == nil
		}
		v, ok := values[name]
		return v, ok
	}, errors.Join(failed...)
}

// Secrets returns the values that are never shown.
func (c *Config) Secrets() []string { return append([]string{c.Redis, c.Proxy}, c.Proxies...) }

// readSecret returns the content of the file without the final newline that editors
// and echo leave.
func readSecret(file string) (string, error) {
	b, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return "", err
	}
	if b = bytes.TrimRight(b, "\r\n"); len(b) == 0 {
		return "", words.Errorf("%s is empty", "%s 是空的", file)
	}
	return string(b), nil
}
