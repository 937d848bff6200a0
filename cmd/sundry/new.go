package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sundry/metrics/words"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/plainjson"
	"sundry/upstreams/scaffold"
)

// Bounds of the call that an endpoint is drafted from.
const (
	draftTimeout = 20 * time.Second
	draftMost    = 2 << 20
)

type newCmd struct {
	Name  string   `arg:"" help:"Name of the endpoint." zh:"接口的名称。"`
	URL   string   `required:"" help:"Address to call, such as https://api.example.org/v1/{id}?lang=en. Parameters of its query become those of the endpoint." zh:"要调用的地址，例如 https://api.example.org/v1/{id}?lang=en。查询串中的参数就成为接口的参数。" placeholder:"URL"`
	Param []string `help:"Value of a {placeholder} of the address, or a further parameter of its query. May be given several times." zh:"地址中某个{占位符}的值，或查询串中再加的参数。可以给出多次。" placeholder:"NAME=VALUE" sep:"none"`
	JSON  string   `name:"json" help:"Body of a POST, such as a query of GraphQL. A text in it that is a {placeholder} as a whole is the value of that --param." zh:"用 POST 提交的正文，例如 GraphQL 查询。其中整个是{占位符}的文本，取同名 --param 的值。" placeholder:"BODY"`
	Reply string   `help:"Read the reply from a file, in place of calling the address." zh:"从文件读取回复，不调用地址。" type:"path" placeholder:"FILE"`
	Out   string   `help:"Directory of catalog files (default: the working directory)." zh:"接口文件放在哪个目录（默认：工作目录）。" type:"path" placeholder:"DIR" default:"."`
}

// Run drafts an endpoint: it writes a catalog file and a recorded exchange, after it
// has tried that they work together.
func (n *newCmd) Run(w *process) error {
	if err := n.free(); err != nil {
		return misused(err)
	}
	call, err := n.call(w)
	if err != nil {
		return err
	}
	d, err := scaffold.New(call)
	if err != nil {
		return err
	}
	if err := n.try(w, d, call.Address); err != nil {
		return words.Translated(fmt.Errorf("the draft does not work, and nothing was written: %w", err), "草稿不可用，什么都没有写入："+inChinese(err))
	}
	if err := n.write(d); err != nil {
		return err
	}
	_, err = io.WriteString(w.stdout, w.say("wrote %s and its recorded exchange in %s\nnext: %s try %s --replay --catalog %s, then read the file and mend what was guessed\n",
		"已写入 %s，录制的往来在 %s\n下一步：%s try %s --replay --catalog %s，再通读这个文件，改正猜得不对的地方\n", filepath.Join(n.Out, n.Name+".yaml"), filepath.Join(n.Out, d.Exchange), w.called(), n.Name, n.Out))
	if len(d.Variables) > 0 && err == nil {
		_, err = io.WriteString(w.stdout, w.say("the address holds a key: it was left out of the files; set it in the environment\n%s", "地址中有密钥：没有写进文件，请在环境变量中设置\n%s", d.Variables))
	}
	return err
}

// free refuses names that are taken.
func (n *newCmd) free() error {
	if st, err := os.Stat(n.Out); err == nil && !st.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return words.Errorf("--out %s: expected a directory, or a name for one that is made", "--out %s：应为目录，或要新建的目录的名称", n.Out)
	}
	for _, name := range []string{n.Name + ".yaml", "testdata/" + n.Name} {
		if _, err := os.Stat(filepath.Join(n.Out, name)); !errors.Is(err, fs.ErrNotExist) {
			return words.Errorf("%s exists already; expected a new name, or remove it first", "%s 已经存在；请换一个名称，或先删除它", filepath.Join(n.Out, name))
		}
	}
	if slices.Contains(catalog.BuiltinNames(), n.Name) {
		return words.Errorf("%s is a built-in endpoint, which a file of this name would replace; expected another name", "%s 是内置接口，同名的文件会取代它；请换一个名称", n.Name)
	}
	return nil
}

// call asks the address, or reads the reply from a file.
func (n *newCmd) call(w *process) (*scaffold.Call, error) {
	values := map[string]string{}
	for _, p := range n.Param {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, misused(words.Errorf("--param %q: expected name=value, for example id=7", "--param %q：应为 名称=值，例如 id=7", p))
		}
		values[name] = value
	}
	address, err := scaffold.ReadCall(n.Name, n.URL, n.JSON, values)
	if err != nil {
		return nil, misused(err)
	}
	c := &scaffold.Call{Name: n.Name, Address: address, Status: http.StatusOK, Header: http.Header{}, Now: time.Now().Truncate(time.Second)}
	if n.Reply == "" {
		return c, askAddress(w, c)
	}
	if c.Body, err = os.ReadFile(n.Reply); err != nil {
		return nil, misused(words.Errorf("--reply: %s", "--reply：%s", words.Failure(err)))
	}
	c.Header.Set("Content-Type", http.DetectContentType(c.Body))
	return c, nil
}

// askAddress calls the address, which is the operator's own choice.
func askAddress(w *process, c *scaffold.Call) error {
	method, sent := http.MethodGet, c.Address.Sent()
	if sent != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(w.ctx, method, c.Address.URL(), bytes.NewReader(sent))
	if err != nil {
		return fmt.Errorf("--url: %w", err)
	}
	if sent != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("User-Agent", "Mozilla/5.0 (compatible; Sundry/1.0)")
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport, Timeout: draftTimeout}).Do(req)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // without the address, which may hold a key
		}
		return words.Errorf("calling the address: %s", "未能调用地址：%s", words.Failure(err))
	}
	defer func() { _ = resp.Body.Close() }()
	c.Status, c.Header, c.Host = resp.StatusCode, resp.Header, resp.Request.URL.Host
	if c.Body, err = io.ReadAll(io.LimitReader(resp.Body, draftMost+1)); err != nil {
		return words.Errorf("reading the reply: %s", "未能读完回复：%s", words.Failure(err))
	}
	if len(c.Body) > draftMost {
		return words.Errorf("the reply has more than %d KiB; expected less, for example with fewer items", "回复超过 %d KiB；应小一些，例如少取几项", draftMost>>10)
	}
	return nil
}

// try puts the draft into a directory of its own, and calls it in replay. It adds the
// data that the exchange is mapped to.
func (n *newCmd) try(w *process, d *scaffold.Draft, address *scaffold.Address) error {
	dir, err := os.MkdirTemp("", "sundry-new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	want := d.Exchange + "/want.json"
	d.Files[want] = []byte("null\n")
	if err := writeFiles(dir, d.Files); err != nil {
		return err
	}
	f := &flags{Catalog: dir, Replay: true}
	l, err := f.load(w, nil)
	defer l.close()
	if err != nil {
		return err
	}
	data, err := n.answer(w, l.set, address)
	if err == nil {
		d.Files[want], err = plainjson.MarshalIndent(data)
	}
	return err
}

// answer calls the endpoint as the address was called.
func (n *newCmd) answer(w *process, set *catalog.Catalog, address *scaffold.Address) (data any, err error) {
	e, _ := set.Get(n.Name)
	in, bad := e.Parse(address.Query(), catalog.Caller{Addr: netip.AddrFrom4([4]byte{127, 0, 0, 1})})
	if bad != nil {
		return nil, bad
	}
	load := &catalog.Loader{Input: in, Watch: func(a upstreams.AttemptReport) {
		for _, s := range a.Stages {
			if s.Name == upstreams.StageData {
				data = s.Detail
			}
		}
	}}
	_, err = load.Load(w.ctx, false)
	return data, err
}

// write writes what works. Descriptions of keys are added to those that there are.
func (n *newCmd) write(d *scaffold.Draft) error {
	d.Files["sundry.schema.json"] = catalog.Schema()
	if len(d.Variables) > 0 {
		const file = "data/variables.yaml"
		known, err := os.ReadFile(filepath.Join(n.Out, file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		d.Files[file] = append(known, d.Variables...)
	}
	return writeFiles(n.Out, d.Files)
}

func writeFiles(dir string, files map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.MkdirAll(filepath.Join(dir, path.Dir(name)), 0o755); err != nil { //nolint:gosec // as any folder of catalog files
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), files[name], 0o644); err != nil { //nolint:gosec // as any catalog file
			return err
		}
	}
	return nil
}
