package main

import (
	"embed"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// completeCommand is what the scripts call, with the words of the line so far. It is
// not a command for people, and in no help.
const completeCommand = "__complete"

// completionScripts hand the words of the line to the program and show what it
// prints, in the ways of each shell.
//
//go:embed completion
var completionScripts embed.FS

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish." zh:"bash、zsh 或 fish。"`
}

// Help is shown below the usage.
func (*completionCmd) Help() string {
	return `Commands, flags and their values are completed. For good:

  bash:  echo 'source <(sundry completion bash)' >> ~/.bashrc

  zsh:   echo 'source <(sundry completion zsh)' >> ~/.zshrc   (after compinit)

  fish:  sundry completion fish > ~/.config/fish/completions/sundry.fish`
}

// HelpInChinese is Help in Chinese.
func (*completionCmd) HelpInChinese() string {
	return `可以补全命令、选项和选项的值。要长期使用：

  bash:  echo 'source <(sundry completion bash)' >> ~/.bashrc

  zsh:   echo 'source <(sundry completion zsh)' >> ~/.zshrc   （放在 compinit 之后）

  fish:  sundry completion fish > ~/.config/fish/completions/sundry.fish`
}

// Run prints the script.
func (c *completionCmd) Run(w *process) error {
	script, err := completionScripts.ReadFile("completion/sundry." + c.Shell)
	if err != nil {
		return err
	}
	_, err = w.stdout.Write(script)
	return err
}

// candidate is a word that may stand at a place of the command line.
type candidate struct {
	word, help string
}

// complete prints what the last of the words may become, one candidate a line, each
// with a tab and its help where there is any. Nothing: any file.
func complete(w *process, parser *kong.Kong, words []string) error {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	line, err := newCommandLine(parser, words[:len(words)-1])
	if err != nil {
		return err
	}
	for _, c := range line.candidates(last) {
		if !strings.HasPrefix(c.word, last) {
			continue
		}
		help, _, _ := strings.Cut(c.help, "\n")
		if _, err := fmt.Fprintln(w.stdout, strings.TrimSuffix(c.word+"\t"+help, "\t")); err != nil {
			return err
		}
	}
	return nil
}
