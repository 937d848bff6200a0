package main

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"sundry/cmd/sundry/internal/config"
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

// authorized returns the status of a request with this field, or with none where it is "".
func authorized(t *testing.T, url, authorization string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestATokenThatEndsInANewline is the token without it, for clients that write the scheme in any case.
func TestATokenThatEndsInANewline(t *testing.T) {
	t.Parallel()
	p := serveWith(t, map[string]string{"SUNDRY_ADMIN_TOKEN": "a-token-of-the-tests\n", "SUNDRY_CONFIG": onlyIn(t)["SUNDRY_CONFIG"]}, "--replay")
	for authorization, want := range map[string]int{"Bearer a-token-of-the-tests": http.StatusOK, "bearer a-token-of-the-tests": http.StatusOK, "bearer another-token": http.StatusUnauthorized} {
		if status := authorized(t, p.admin+"/metrics", authorization); status != want {
			t.Errorf("%s: %d, want %d", authorization, status, want)
		}
	}
}

// TestATokenThatNoRequestCanHave is a mistake, which is told without the token.
func TestATokenThatNoRequestCanHave(t *testing.T) {
	t.Parallel()
	const token = "a-token-of-the-tests"
	_, errs, err := call(t, map[string]string{"SUNDRY_ADMIN_TOKEN": token + "\n" + token, "SUNDRY_CONFIG": onlyIn(t)["SUNDRY_CONFIG"]}, "check")
	if said := fmt.Sprint(errs, err); err == nil || !strings.Contains(said, "SUNDRY_ADMIN_TOKEN: expected a token without line breaks") || strings.Contains(said, token) {
		t.Error(said)
	}
}

// TestTheReadTokenOfAnInstance reads, and is refused where it is of no use.
func TestTheReadTokenOfAnInstance(t *testing.T) {
	t.Parallel()
	env := onlyIn(t)
	env["SUNDRY_ADMIN_TOKEN"], env["SUNDRY_ADMIN_READ_TOKEN"] = "a-token-of-the-tests", "a-token-that-reads\n"
	p := serveWith(t, env, "--replay")
	for path, want := range map[string]int{"/metrics": http.StatusOK, "/admin/api/overview": http.StatusOK, "/debug/pprof/heap": http.StatusForbidden} {
		if status := authorized(t, p.admin+path, "Bearer a-token-that-reads"); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
	if status := authorized(t, p.admin+"/healthz", ""); status != http.StatusOK {
		t.Errorf("a probe: %d", status)
	}
	same := maps.Clone(env)
	same["SUNDRY_ADMIN_READ_TOKEN"] = env["SUNDRY_ADMIN_TOKEN"]
	if _, errs, err := call(t, same, "check"); err == nil || !strings.Contains(fmt.Sprint(errs, err), "SUNDRY_ADMIN_READ_TOKEN: expected another token") {
		t.Errorf("the same token: %v %s", err, errs)
	}
}
