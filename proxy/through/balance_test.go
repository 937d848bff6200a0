package through

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"sundry/upstreams/host"
)

// TestOrder: the order of addresses depends on their state.
func TestOrder(t *testing.T) {
	up, down := load{}, load{out: true}
	busy := func(n int64) load { return load{outstanding: n} }
	for name, row := range map[string]struct {
		b         Balance
		turns     []uint64
		addresses []load
		want      [][]int
	}{
		"first":                     {First, []uint64{0, 1, 7}, []load{up, up, up}, [][]int{{0, 1, 2}, {0, 1, 2}, {0, 1, 2}}},
		"nothing is said":           {"", []uint64{0, 1}, []load{busy(9), up}, [][]int{{0, 1}, {0, 1}}},
		"first, which is out":       {First, []uint64{0, 1}, []load{down, up, up}, [][]int{{1, 2, 0}, {1, 2, 0}}},
		"in turn":                   {RoundRobin, []uint64{0, 1, 2, 3}, []load{up, up, up}, [][]int{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 1, 2}}},
		"in turn, one is out":       {RoundRobin, []uint64{0, 1, 2}, []load{up, down, up}, [][]int{{0, 2, 1}, {2, 0, 1}, {0, 2, 1}}},
		"in turn, all are out":      {RoundRobin, []uint64{0, 1, 2}, []load{down, down}, [][]int{{0, 1}, {1, 0}, {0, 1}}},
		"least":                     {Least, []uint64{0, 1}, []load{busy(3), busy(1), busy(2)}, [][]int{{1, 2, 0}, {1, 2, 0}}},
		"least, equal ones in turn": {Least, []uint64{0, 1, 2}, []load{busy(1), busy(5), busy(1)}, [][]int{{0, 2, 1}, {2, 0, 1}, {2, 0, 1}}},
		"least, one is out":         {Least, []uint64{0}, []load{down, busy(9), busy(8)}, [][]int{{2, 1, 0}}},
		"one":                       {Least, []uint64{0, 5}, []load{up}, [][]int{{0}, {0}}},
	} {
		for i, turn := range row.turns {
			if got := row.b.order(turn, row.addresses); !slices.Equal(got, row.want[i]) {
				t.Errorf("%s, turn %d: %v, want %v", name, turn, got, row.want[i])
			}
		}
	}
}

// replicas are addresses of one origin, by their names.
type replicas struct {
	*world
	answers map[string]http.HandlerFunc
	asked   map[string]*atomic.Int64
}

// newReplicas serves three addresses, a, b and c, by answers, or with their names.
func newReplicas(t *testing.T, b Balance, health Health, hosts *host.Hosts, answers map[string]http.HandlerFunc) *replicas {
	t.Helper()
	s := &replicas{answers: answers, asked: map[string]*atomic.Int64{}}
	listeners := map[string]*memory{}
	var targets []Target
	for _, name := range []string{"a", "b", "c"} {
		back := newMemory()
		s.asked[name], listeners[name] = &atomic.Int64{}, back
		serveOrigin(t, back, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.asked[name].Add(1)
			if h := s.answers[name]; h != nil {
				h(w, r)
				return
			}
			w.Header().Set("Cache-Control", "no-store")
			fmt.Fprint(w, name)
		})})
		target := Target{URL: &url.URL{Scheme: "http", Host: name}, Sent: name}
		if hosts != nil {
			target.Check = hosts.Check("test", name)
		}
		targets = append(targets, target)
	}
	s.world = serveWorld(t, nil)
	s.h.origin = NewOrigin(targets, b, health, Connections{Connect: connectTime, Head: time.Minute, KeepAlive: true}, func(ctx context.Context, network, address string) (net.Conn, error) {
		name, _, _ := net.SplitHostPort(address)
		if s.answers[name] == nil && s.answers["refuse "+name] != nil {
			return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
		}
		return listeners[name].dial(ctx, network, address)
	})
	t.Cleanup(s.h.origin.Close)
	return s
}

// TestBalanced counts the requests that three addresses get.
func TestBalanced(t *testing.T) {
	for b, want := range map[Balance]string{First: "30 0 0", RoundRobin: "10 10 10", Least: "10 10 10"} {
		synctest.Test(t, func(t *testing.T) {
			s := newReplicas(t, b, Health{}, nil, nil)
			for i := range 30 {
				if a := s.get(fmt.Sprint("/", i)); a.status != http.StatusOK {
					t.Fatal(a)
				}
			}
			if got := fmt.Sprint(s.asked["a"].Load(), s.asked["b"].Load(), s.asked["c"].Load()); got != want {
				t.Errorf("%s: %s, want %s", b, got, want)
			}
		})
	}
}

// TestLeast: an address with slow responses gets fewer requests until they end.
func TestLeast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slowly := func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
			time.Sleep(50 * time.Second)
		}
		s := newReplicas(t, Least, Health{}, nil, map[string]http.HandlerFunc{"a": slowly})
		for i := range 30 {
			go s.get(fmt.Sprint("/", i))
			synctest.Wait()
		}
		if n := s.asked["a"].Load(); n > 5 {
			t.Errorf("the slow address got %d of 30 requests", n)
		}
		time.Sleep(time.Minute)
		if n := s.h.origin.targets[0].outstanding.Load(); n != 0 {
			t.Errorf("%d requests still count", n)
		}
	})
}

// TestBalancedAddressesStandInForEachOther: where one cannot be connected to, or closes the connection before it responds, the next one is
// asked, also for a WebSocket. A POST, which the one that has closed may have carried out, is not sent again.
func TestBalancedAddressesStandInForEachOther(t *testing.T) {
	hangUp := func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }
	upgrade := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Upgrade") == "" {
				fmt.Fprint(w, name)
				return
			}
			w.Header().Set("Upgrade", "websocket")
			w.Header().Set("Connection", "Upgrade")
			w.WriteHeader(http.StatusSwitchingProtocols)
		}
	}
	for name, row := range map[string]struct {
		answers map[string]http.HandlerFunc
		posts   int // of six, that get an answer
	}{
		"refused": {map[string]http.HandlerFunc{"refuse a": hangUp, "b": upgrade("b"), "c": upgrade("c")}, 6},
		"closed":  {map[string]http.HandlerFunc{"a": hangUp, "b": upgrade("b"), "c": upgrade("c")}, 4},
	} {
		for _, b := range []Balance{RoundRobin, Least} {
			t.Run(name+", "+string(b), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newReplicas(t, b, Health{}, nil, row.answers)
					posts := 0
					for i := range 6 {
						if a := s.get(fmt.Sprint("/", i)); a.status != http.StatusOK {
							t.Errorf("GET: %d %s", a.status, a.body)
						}
					}
					for range 6 {
						if a := s.ask(http.MethodPost, "/a", "body"); a.status == http.StatusOK {
							posts++
						}
					}
					if posts != row.posts {
						t.Errorf("%d of 6 POSTs are answered, not %d", posts, row.posts)
					}
					for range 6 {
						c, err := s.front.dial(t.Context(), "", "")
						if err != nil {
							t.Fatal(err)
						}
						fmt.Fprint(c, "GET /socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
						line, _ := bufio.NewReader(c).ReadString('\n')
						if !strings.Contains(line, " 101 ") {
							t.Errorf("WebSocket: %q", line)
						}
						_ = c.Close()
					}
				})
			})
		}
	}
}
