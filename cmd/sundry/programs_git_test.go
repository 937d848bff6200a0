package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sundry/upstreams/lib/peertest"
)

// TestGitOnApache clones, pushes and fetches through Sundry by git's own server behind Apache. A clone has each commit that was pushed
// before: what git asks for by GET is never answered by what it was before a push.
func TestGitOnApache(t *testing.T) {
	t.Parallel()
	git := peertest.Program(t, "apache", "git", "git")
	server := func(t *testing.T, prefix string) string {
		url, dir := apache(t, []string{"cgid", "alias", "env"}, "ScriptAlias \""+prefix+"/\" /usr/lib/git-core/git-http-backend/\nScriptSock $dir/cgid\n"+
			"SetEnv GIT_PROJECT_ROOT $dir/www\nSetEnv GIT_HTTP_EXPORT_ALL 1\nSetEnv GIT_CONFIG_COUNT 1\nSetEnv GIT_CONFIG_KEY_0 safe.directory\nSetEnv GIT_CONFIG_VALUE_0 *\n"+
			"<Directory /usr/lib/git-core>\n  Require all granted\n</Directory>")
		runClient(t, dir, nil, git, "init", "--quiet", "--bare", "www/a.git")
		runClient(t, dir, nil, git, "-C", "www/a.git", "config", "http.receivepack", "true")
		if os.Getuid() == 0 {
			open(t, dir)
		}
		return url + prefix
	}
	behind(t, server, func(t *testing.T, _, base string) {
		dir := t.TempDir()
		run := func(args ...string) string {
			t.Helper()
			return strings.TrimSpace(runClient(t, dir, []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"}, git, append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...))
		}
		url := base + "/a.git"
		run("clone", "--quiet", url, "one")
		large := make([]byte, 3<<20) // is sent in chunks
		for i := range large {
			large[i] = byte(rand.Uint32())
		}
		for i, content := range []string{"first", "second", string(large)} {
			write(t, filepath.Join(dir, "one"), "file", content)
			run("-C", "one", "add", "file")
			run("-C", "one", "commit", "--quiet", "-m", "change")
			run("-C", "one", "push", "--quiet", "origin", "HEAD:refs/heads/main")
			head := run("-C", "one", "rev-parse", "HEAD")
			if got := run("ls-remote", url, "refs/heads/main"); !strings.HasPrefix(got, head) {
				t.Errorf("after push %d, the branch is at %s, not %s", i, got, head)
			}
			if i == 0 {
				run("clone", "--quiet", "--branch", "main", url, "two")
			}
			run("-C", "two", "pull", "--quiet", "--ff-only", "origin", "main")
			if got := readFile(t, filepath.Join(dir, "two", "file")); got != content || run("-C", "two", "rev-parse", "HEAD") != head {
				t.Errorf("after push %d, %d bytes are pulled, not %d", i, len(got), len(content))
			}
		}
		run("clone", "--quiet", "--branch", "main", url, "three")
		run("-C", "three", "fsck", "--strict")
	})
}
