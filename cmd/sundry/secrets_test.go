package main

import (
	"fmt"
	"strings"
	"sundry/cmd/sundry/internal/config"
	"testing"
)

// TestTokenFromAFileOpensTheAdminListener goes the way of main.
func TestTokenFromAFileOpensTheAdminListener(t *testing.T) {
	t.Parallel()
	getenv, err := config.Secrets([]string{"SUNDRY_ADMIN_TOKEN_FILE=" + write(t, t.TempDir(), "token", "a-token-of-the-tests\n"), "SUNDRY_ADMIN=:9090"})
	if err != nil {
		t.Fatal(err)
	}
	var out, errs output
	if err := run(t.Context(), []string{"check"}, getenv, &out, &errs); err != nil {
		t.Errorf("%v %s", err, &errs)
	}
}

// TestAGuessableTokenKeepsTheAdminListenerHome, for check and for serve, which
// say how to make a better one.
func TestAGuessableTokenKeepsTheAdminListenerHome(t *testing.T) {
	t.Parallel()
	few := onlyIn(t)["SUNDRY_CONFIG"]
	for token, good := range map[string]bool{"123456789012345": false, "1234567890123456": true} {
		for _, command := range []string{"check", "serve"} {
			if command == "serve" && good {
				continue // it would serve
			}
			_, errs, err := call(t, map[string]string{"SUNDRY_ADMIN": ":9090", "SUNDRY_ADMIN_TOKEN": token, "SUNDRY_CONFIG": few}, command)
			said := fmt.Sprint(errs, err)
			if (err == nil) != good || !good && (!strings.Contains(said, "openssl rand -hex 24") || strings.Contains(said, token)) {
				t.Errorf("%s, %d characters: %s", command, len(token), said)
			}
		}
	}
	if _, errs, err := call(t, map[string]string{"SUNDRY_ADMIN_TOKEN": "short", "SUNDRY_CONFIG": few}, "check"); err != nil {
		t.Errorf("on loopback: %v %s", err, errs)
	}
}
