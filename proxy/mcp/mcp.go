// Package mcp offers the endpoints to agents as tools, by the Model Context
// Protocol over streamable HTTP. It promises that a tool call is the same request as
// GET /api/<name>, with the same limits, cache and errors, that any instance can
// answer any message, because nothing is kept between two of them, and that pages of
// other sites cannot send any, unless their origin is allowed.
package mcp

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sundry/cache/clients"
	"sundry/metrics/panics"
	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
)

// Path of the messages, below the base path.
const Path = "/mcp"

// Config of a Set.
type Config struct {
	API *apidoc.API
	// BasePath is the prefix of the endpoints' paths, such as /tools; "" for none.
	BasePath string
	// Endpoints answers GET requests for /api/<name>, as it does those that come from the
	// network.
	Endpoints http.Handler
	// Admit counts a message that is no call of an endpoint against the rate limit of its
	// client. It reports whether the client is within it, else for how long to wait.
	Admit func(r *http.Request) (wait time.Duration, ok bool)
	// Languages chooses the language of descriptions and messages.
	Languages i18n.Rule
	// Version of the program; "" where it is not known.
	Version string
	// Origins are those of the pages whose scripts may send messages, such as
	// https://agent.example.org; nil: no page may.
	Origins []string
	// Client returns the client that a message comes from.
	Client func(r *http.Request) clients.ID
	// Places bounds the messages that are read and answered at once, by all Sets that share
	// it.
	Places *Places
	// Panics catches those of what answers a message, which the protocol's library calls in a
	// goroutine of its own.
	Panics *panics.Catcher
	Log    *slog.Logger
}

// Set has the tools of one catalog. It serves Path.
type Set struct {
	cfg   Config
	texts map[i18n.Language]func() (*texts, error)
}

// texts are the tools in one language.
type texts struct {
	tools  map[string]*tool
	server *sdk.StreamableHTTPHandler
}

// New returns the tools of the endpoints. They are made when the first message comes that
// is to be answered in their language.
func New(cfg Config) *Set {
	s := &Set{cfg: cfg, texts: map[i18n.Language]func() (*texts, error){}}
	for _, l := range i18n.All() {
		s.texts[l] = sync.OnceValues(func() (*texts, error) { return s.makeTexts(l) })
	}
	return s
}

// makeTexts makes a tool of each endpoint, and their server.
func (s *Set) makeTexts(l i18n.Language) (*texts, error) {
	t := &texts{tools: map[string]*tool{}}
	for _, e := range s.cfg.API.Endpoints {
		made, err := newTool(e, s.cfg.API.SampleOf(e), l)
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", e.Name, err)
		}
		if made != nil {
			t.tools[e.Name] = made
		}
	}
	server := s.newServer(t.tools, l)
	t.server = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxMessage,
		// This one would refuse what a proxy on the same machine passes on. Pages are
		// refused by their origin.
		DisableLocalhostProtection: true,
	})
	return t, nil
}

// listFor is for how long clients may keep the list of tools.
const listFor = 5 * time.Minute

// newServer makes the server of the tools. It sends nothing unasked.
func (s *Set) newServer(tools map[string]*tool, l i18n.Language) *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "sundry", Title: "Sundry", Version: cmp.Or(s.cfg.Version, "unknown")}, &sdk.ServerOptions{
		Instructions: instructions(l),
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) {
			c.TTLMs, c.CacheScope = int(listFor/time.Millisecond), "public"
		},
	})
	for _, t := range tools {
		server.AddTool(t.declared, func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return s.call(ctx, t, call.Params.Arguments), nil
		})
	}
	server.AddReceivingMiddleware(s.catchPanics(l), refuseUnknown(tools, l))
	return server
}

// catchPanics makes an error of a panic, which would end the process.
func (s *Set) catchPanics(l i18n.Language) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (result sdk.Result, err error) {
			defer func() {
				if value := recover(); value != nil {
					_ = s.cfg.Panics.Caught(panics.Request, value)
					result, err = nil, &jsonrpc.Error{Code: codeInternal, Message: l.Of(internalError())}
				}
			}()
			return next(ctx, method, r)
		}
	}
}

// refuseUnknown refuses calls of tools that there are not, in the caller's language.
func refuseUnknown(tools map[string]*tool, l i18n.Language) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if call, ok := r.(*sdk.CallToolRequest); ok && tools[call.Params.Name] == nil {
				return nil, &jsonrpc.Error{Code: codeInvalidParams, Message: l.Of(unknownTool(call.Params.Name))}
			}
			return next(ctx, method, r)
		}
	}
}

// instructions are what agents are told about all tools.
func instructions(l i18n.Language) string {
	return l.Say("Public, read-only utilities. Answers are mostly in Chinese. An error has a type and a message; with retry_after, the call may be repeated after so many seconds.",
		"公共只读小工具。出错时返回错误类型（type）和说明（message）；含 retry_after 时，可在相应秒数后重试。")
}
