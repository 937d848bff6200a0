package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"sundry/cmd/sundry/internal/config"
	"sundry/metrics/words"
	"sundry/proxy/site/i18n"
	"sundry/upstreams"
	"sundry/upstreams/lib/redact"
)

// process is what a command uses of the process it runs in, apart from its
// arguments. Tests pass their own.
type process struct {
	// program is how it was called, as in bin/sundry; "" for sundry.
	program string
	ctx     context.Context // ends when the command is asked to stop
	urgent  context.Context // ends when it must stop at once
	getenv  func(string) (string, bool)
	// variables are the names of environment variables that begin with SUNDRY_.
	variables []string
	stdin     io.Reader // nil: empty
	stdout    io.Writer
	stderr    io.Writer
	// hidden are the secrets that are never printed or logged. execute makes the set.
	hidden *redact.Set
	// terminal reports whether somebody sees what is written; nil: by the kind of file.
	terminal func(io.Writer) bool
	// onEnvironment, unless nil, is called with the environment of the sources
	// before serve compiles them.
	onEnvironment func(*upstreams.Environment)
	// network is the network of the process; nil means that of the machine.
	network *network
	// unwatched means that changes of files are not noticed.
	unwatched bool
	// adviseEvery is how often serve makes reports, and keeps what was seen; 0: every few minutes.
	adviseEvery time.Duration
	// light: the process has a ballast of its own, as that of many servers in a test.
	light bool
}

// cli is the command line. The tag example is shown beside a mistake.
type cli struct {
	Version kong.VersionFlag `help:"Print the version and what it was built of." zh:"输出版本和构建信息。"`

	Serve      serveCmd      `cmd:"" help:"Serve the endpoints." zh:"提供服务。" example:"sundry serve --replay"`
	Check      checkCmd      `cmd:"" help:"Load and compile configuration and catalog; print every mistake with its file and line." zh:"加载并编译设置和接口目录，列出每个错误及其文件和行号。" example:"sundry check --catalog ./catalog"`
	Try        tryCmd        `cmd:"" help:"Call one endpoint once and show each stage." zh:"不经缓存调用一个接口一次，逐步显示过程。" example:"sundry try ip ip=8.8.8.8"`
	Explain    explainCmd    `cmd:"" help:"Say what would become of a request: parameters, key, policy, entry, sources. No upstream is called." zh:"说明一个请求会怎样处理：参数、缓存键、缓存规则、条目、数据源。不调用上游。" example:"sundry explain '/api/ip?ip=8.8.8.8'"`
	Doctor     doctorCmd     `cmd:"" help:"Call every source once and compare its answer with the recorded one; exit 4 if an endpoint has no working source." zh:"把每个数据源各调用一次，与录制的比较；有接口没有可用的数据源时以 4 退出。" example:"sundry doctor kd id=YT0000000000001"`
	Health     healthCmd     `cmd:"" help:"Check that the server on this machine is alive; exit 1 if it is not. For container health checks." zh:"检查本机的服务是否正常，不正常时以 1 退出。供容器的健康检查使用。" example:"sundry health --ready"`
	Advise     adviseCmd     `cmd:"" help:"Advise on TTLs from a log: which one meets the target, the share of old answers and the upstream calls now and then." zh:"根据日志建议 TTL：哪个符合目标，旧响应和上游调用现在各有多少，改后又有多少。" example:"sundry advise /var/log/sundry.log"`
	New        newCmd        `cmd:"" help:"Draft an endpoint: call an address, and write a catalog file with a recorded exchange." zh:"起草一个接口：调用一个地址，写出接口文件和录制的数据。" example:"sundry new joke --url 'https://api.example.org/v1/{id}' --param id=7"`
	Schema     schemaCmd     `cmd:"" help:"Print the JSON Schema of catalog files, or of sundry.yaml, for editors." zh:"输出接口文件或 sundry.yaml 的 JSON Schema，供编辑器使用。" example:"sundry schema config"`
	Completion completionCmd `cmd:"" help:"Print the completion script of a shell." zh:"输出一种 shell 的补全脚本。" example:"source <(sundry completion bash)"`
	Help       helpCmd       `cmd:"" help:"Show what a command does and what it takes." zh:"说明一个命令的作用和参数。" example:"sundry help serve"`
	About      versionCmd    `cmd:"" name:"version" help:"Print the version and what it was built of." zh:"输出版本和构建信息。" example:"sundry version"`
}

const description = `A caching reverse proxy that aggregates public, read-only utility endpoints from many upstreams. Begin with: sundry serve --replay`

// detail is shown below the description.
const detail = `Exit status: 0 done; 1 failed; 2 a mistake in the command line; 3 a mistake in a setting or a catalog file; 4 an endpoint has no working source (doctor).`

// newParser also returns what is set once help or the version has been printed.
func newParser(w *process, c *cli) (parser *kong.Kong, printed *bool, err error) {
	printed = new(bool)
	parser, err = kong.New(c, kong.Name("sundry"), kong.Description(description), kong.Writers(w.stdout, w.stderr), kong.Vars{"version": "sundry " + thisBuild().String()},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}), kong.Exit(func(int) { *printed = true }), kong.Help(helpIn(w.language())))
	if err != nil {
		return nil, nil, err
	}
	parser.Model.Detail = detail
	if w.language() == i18n.Chinese {
		translate(parser)
	}
	return parser, printed, nil
}

// execute carries out a command line. It returns when the command is done or,
// for serve, when ctx of the process ends and everything is drained.
func execute(w *process, args []string) error {
	w = w.onScreens()
	w.getenv = config.Trimmed(w.getenv)
	parser, printed, err := newParser(w, &cli{})
	if err != nil {
		return err
	}
	if len(args) > 0 && args[0] == completeCommand {
		return complete(w, parser, args[1:])
	}
	k, err := parser.Parse(args)
	if *printed {
		return nil
	}
	if err != nil {
		command := commandOf(parser, err)
		return misused(misuse{worded(err, command, args), command})
	}
	err = k.Run(w, parser)
	if statusOf(err) == statusMisused {
		return misuse{err, k.Selected()}
	}
	return err
}

// worded is an error of the parser in the words of a command line.
func worded(err error, command *kong.Node, args []string) error {
	text := cmp.Or(dashes(args, command), strings.Replace(err.Error(), ", did you mean", "; did you mean", 1))
	if flag, ok := strings.CutSuffix(text, `: expected string value but got "EOL" (<EOL>)`); ok {
		text = flag + ": expected a value after it"
	}
	if rest, ok := strings.CutPrefix(text, "expected \"<"); ok {
		text = "missing <" + strings.TrimSuffix(rest, "\"")
	}
	if command.Parent == nil {
		if strings.HasPrefix(text, "expected one of") {
			text = "missing command"
		}
		text = strings.Replace(text, "unexpected argument", "unknown command", 1)
	}
	return words.NewError(text, mistakeInChinese(text))
}

// dashes is the mistake of a flag with other than two dashes, such as -replay or one of an input method; "" for none.
func dashes(args []string, command *kong.Node) string {
	for _, arg := range args {
		long := "--" + strings.TrimLeft(arg, "-–—－")
		name, _, _ := strings.Cut(long, "=")
		has := func(f *kong.Flag) bool { return "--"+f.Name == name }
		if long != arg && len(arg) > len("-h") && slices.ContainsFunc(slices.Concat(command.AllFlags(true)...), has) {
			return fmt.Sprintf("unknown flag %s; did you mean %q?", arg, name)
		}
	}
	return ""
}

// commandOf is the command of the line in which the parser found a mistake; the
// program itself if there is none.
func commandOf(parser *kong.Kong, err error) *kong.Node {
	if failed, ok := errors.AsType[*kong.ParseError](err); ok && failed.Context != nil {
		if n := failed.Context.Selected(); n != nil {
			return n
		}
	}
	return parser.Model.Node
}

type helpCmd struct {
	Command string `arg:"" optional:"" help:"Command to explain (default: the list of all)." zh:"要说明的命令（默认：列出全部）。" complete:"commands"`
}

// Run prints what a command does.
func (h *helpCmd) Run(w *process, parser *kong.Kong) error {
	if h.Command == "" {
		return execute(w, []string{"--help"})
	}
	var names []string
	for _, command := range parser.Model.Children {
		if names = append(names, command.Name); command.Name == h.Command {
			return execute(w, []string{command.Name, "--help"})
		}
	}
	return misused(words.Errorf("unknown command %q%s", "没有命令 %s%s", h.Command, expected(h.Command, names)))
}
