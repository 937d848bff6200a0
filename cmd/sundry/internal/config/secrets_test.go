package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSecretFiles(t *testing.T) {
	dir := t.TempDir()
	token := write(t, dir, "token", "a b\r\n")
	getenv, err := Secrets([]string{
		"SUNDRY_ADMIN_TOKEN_FILE=" + token, "SUNDRY_LISTEN=:1", "SUNDRY_GEO_FILE=/not/a/secret", "OTHER_FILE=/x",
		"SUNDRY_REDIS_URL=", "SUNDRY_REDIS_URL_FILE=" + write(t, dir, "redis", "redis://a"), "SUNDRY_KDNIAO_KEY_FILE=",
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"SUNDRY_ADMIN_TOKEN": "a b", "SUNDRY_LISTEN": ":1", "SUNDRY_GEO_FILE": "/not/a/secret", "SUNDRY_REDIS_URL": "redis://a",
	} {
		if got, ok := getenv(name); !ok || got != want {
			t.Errorf("%s: %q %v, want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"SUNDRY_GEO", "OTHER", "SUNDRY_KDNIAO_KEY", "SUNDRY_CONFIG"} {
		if got, ok := getenv(name); ok {
			t.Errorf("%s: %q", name, got)
		}
	}
	write(t, dir, "token", "new\n")
	if got, _ := getenv("SUNDRY_ADMIN_TOKEN"); got != "new" {
		t.Errorf("after a change: %q", got)
	}
	if err := os.Remove(token); err != nil {
		t.Fatal(err)
	}
	if got, ok := getenv("SUNDRY_ADMIN_TOKEN"); ok {
		t.Errorf("of a file that is gone: %q", got)
	}
}

func TestSecretFilesMistakes(t *testing.T) {
	dir := t.TempDir()
	none := filepath.Join(dir, "none")
	_, err := Secrets([]string{
		"SUNDRY_ADMIN_TOKEN_FILE=" + none, "SUNDRY_KDNIAO_KEY_FILE=" + write(t, dir, "empty", "\n"),
		"SUNDRY_REDIS_URL=redis://a", "SUNDRY_REDIS_URL_FILE=" + write(t, dir, "redis", "redis://b"),
	})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"SUNDRY_ADMIN_TOKEN_FILE: open " + none, "SUNDRY_KDNIAO_KEY_FILE: ", "empty", "SUNDRY_REDIS_URL and SUNDRY_REDIS_URL_FILE are both set"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

// TestWhiteSpaceAroundValues is none of theirs, wherever they come from.
func TestWhiteSpaceAroundValues(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"token\n": "token", "token\r\n\r\n": "token", " \ttoken \n": "token", "\ntoken": "token", "\ufefftoken\r\n": "token", "to ken\n": "to ken",
		"  a: {ttl: 1h}\n  b: {ttl: 1h}\n": "  a: {ttl: 1h}\n  b: {ttl: 1h}",
	} {
		for _, pair := range []string{"SUNDRY_ADMIN_TOKEN=" + text, "SUNDRY_ADMIN_TOKEN_FILE=" + write(t, dir, "token", text), "SUNDRY_ADMIN_TOKEN_FILE=" + write(t, dir, "token", text) + "\n"} {
			getenv, err := Secrets([]string{pair})
			if err != nil {
				t.Errorf("%q: %v", pair, err)
				continue
			}
			if got, _ := getenv("SUNDRY_ADMIN_TOKEN"); got != want {
				t.Errorf("%q: %q, want %q", pair, got, want)
			}
		}
	}
	for _, pair := range []string{"SUNDRY_ADMIN_TOKEN=\n", "SUNDRY_KDNIAO_KEY= ", "SUNDRY_ADMIN_TOKEN_FILE=\t", "SUNDRY_ADMIN_TOKEN_FILE=" + write(t, dir, "blank", " \n ")} {
		if _, err := Secrets([]string{pair}); err == nil {
			t.Errorf("%q is accepted", pair)
		}
	}
	if getenv, err := Secrets([]string{"SUNDRY_ADMIN_TOKEN=", "HOME= "}); err != nil {
		t.Error(err)
	} else if home, _ := getenv("HOME"); home != " " {
		t.Errorf("another program's variable: %q", home)
	}
}
